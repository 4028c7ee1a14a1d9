"""Rules of the source: classes are abstract or final, and objects are changed by nobody but themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
BASES_OF_ERRORS = {"Exception", "ValueError", "ArithmeticError", "PendulaError"}


@cache
def modules() -> dict[str, ast.Module]:
    """Syntax trees of all modules by their names."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def names_in(module: str, tree: ast.Module) -> dict[str, str]:
    """What a name means in a module: ``module.Class`` of classes that it defines or imports from the package."""
    meant = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            meant[node.name] = f"{module}.{node.name}"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pendula"):
            for alias in node.names:
                meant[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return meant


def full_name(node: ast.expr, meant: dict[str, str]) -> str:
    """The class that an expression names: ``Class``, ``Class[T]`` or ``module.Class``."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return meant.get(node.id, node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{meant.get(node.value.id, node.value.id)}.{node.attr}"
    return ""


def bases(trees: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Every class with the classes that it is made from."""
    found = {}
    for module, tree in trees.items():
        meant = names_in(module, tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[f"{module}.{node.name}"] = [full_name(base, meant) for base in node.bases]
    return found


def is_error(name: str, made_from: dict[str, list[str]]) -> bool:
    """Whether a class is an exception: those form a tree, and each of them may be raised."""
    return name in BASES_OF_ERRORS or any(is_error(base, made_from) for base in made_from.get(name, ()))


def concrete_and_subclassed(trees: dict[str, ast.Module]) -> set[str]:
    """Classes that are made by name somewhere, although other classes are made from them."""
    made_from = bases(trees)
    parents = {base for some in made_from.values() for base in some if base in made_from}
    parents = {name for name in parents if not is_error(name, made_from)}
    found = set()
    for module, tree in trees.items():
        meant = names_in(module, tree)
        calls = {full_name(node.func, meant) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        found |= parents & calls
    return found


def test_classes_are_abstract_or_final() -> None:
    assert concrete_and_subclassed(modules()) == set()


def test_a_concrete_class_that_is_subclassed_is_found() -> None:
    first = ast.parse("class Base: pass\nclass Open: pass\nclass Oops(ValueError): pass\nclass More(Oops): pass")
    made = "from pendula.a import Base, Open, Oops\nclass One(Base): pass\nclass Two(Open): pass\nBase()\nOops()"
    second = ast.parse(made)
    assert concrete_and_subclassed({"pendula.a": first, "pendula.b": second}) == {"pendula.a.Base"}


def is_itself(node: ast.expr) -> bool:
    """``self`` or ``cls``: an object may change itself."""
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def is_namespace_of_another(node: ast.expr) -> bool:
    """``vars(x)`` or ``x.__dict__``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars":
        return bool(node.args) and not is_itself(node.args[0])
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and not is_itself(node.value)


def intrusions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Lines that change an object, or make one, past its class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Subscript) and is_namespace_of_another(t.value) for t in targets):
                yield node.lineno, "writes into the namespace of an object"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, name = node.func.value, node.func.attr
            if name in ("update", "setdefault", "pop") and is_namespace_of_another(owner):
                yield node.lineno, "writes into the namespace of an object"
            by_object = isinstance(owner, ast.Name) and owner.id == "object"
            itself = name == "__setattr__" and bool(node.args) and is_itself(node.args[0])
            if by_object and name in ("__new__", "__setattr__") and not itself:
                yield node.lineno, f"calls object.{name} for another object"


ALLOWED = {("pendula.errors", "writes into the namespace of an object")}
"""errors are pickled with all that they carry"""


ROOMS = sorted({path.stem for path in (SOURCE / "pendula").iterdir() if path.suffix == ".py" or path.is_dir()})


@pytest.mark.parametrize("room", [room for room in ROOMS if not room.startswith("__")])
def test_no_object_is_changed_past_its_class(room: str) -> None:
    found = [
        f"{name}:{line} {what}"
        for name, tree in modules().items()
        if name.split(".")[1:2] == [room]
        for line, what in intrusions(tree)
        if (name, what) not in ALLOWED
    ]
    assert not found


def test_intrusions_are_found() -> None:
    lines = (
        "vars(a)['b'] = 1",
        "a.__dict__['b'] = 1",
        "a.__dict__.update(b=1)",
        "object.__new__(A)",
        "object.__setattr__(a, 'b', 1)",
    )
    assert [line for line, _ in intrusions(ast.parse("\n".join(lines)))] == [1, 2, 3, 4, 5]
    assert not list(intrusions(ast.parse("object.__setattr__(self, 'b', 1)\nvars(a)['b']\na.b = 1")))
