"""What Pendula refuses is stated once, in the words of one vocabulary, and every statement is in use."""

from __future__ import annotations

import ast
import importlib
import re
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pendula import refusals
from pendula.errors import NotSupported
from pendula.refusals import FEATURES, QUESTIONS, Refusal, Why

SOURCE = Path(refusals.__file__).parent.parent


@cache
def trees() -> dict[str, ast.Module]:
    """Syntax trees of all modules that may refuse, by name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        if "efusal" in text or "NotSupported" in text:
            found[name] = ast.parse(text)
    return found


def last(node: ast.expr) -> str:
    """The last part of a name: ``f`` of ``a.b.f``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def fields(refusal: Refusal) -> set[str]:
    """The names in braces in a sentence."""
    return {name for _, name, _, _ in string.Formatter().parse(refusal.sentence) if name}


@dataclass(frozen=True)
class Refuser:
    """A function that raises a refusal which it was given, or the one of a table that belongs to a key it was given."""

    table: str
    keywords: frozenset[str]
    passes_on: bool


class Module:
    """The calls of one module, with what names mean there."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name, self.tree = name, tree
        self.homes = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
            if alias.name == "refusals"
        }

    def refusals(self, node: ast.expr) -> list[tuple[str, str]]:
        """Home and name of the refusals that an expression may be."""
        if isinstance(node, ast.IfExp):
            return [*self.refusals(node.body), *self.refusals(node.orelse)]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.homes:
            return [(self.homes[node.value.id], node.attr)]
        return []

    def functions(self) -> Iterator[ast.FunctionDef]:
        """All functions."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                yield node

    def raised(self, function: ast.AST) -> Iterator[ast.Call]:
        """Calls of NotSupported."""
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and last(node.func) == "NotSupported":
                yield node

    def refusers(self) -> dict[str, Refuser]:
        """Functions that raise what they are given."""
        found = {}
        for function in self.functions():
            own = {a.arg: ast.unparse(a.annotation or ast.Constant("")) for a in function.args.args}
            for call in self.raised(function):
                first = call.args[0]
                keywords = frozenset(k.arg for k in call.keywords if k.arg)
                passes_on = any(k.arg is None for k in call.keywords)
                if isinstance(first, ast.Name) and own.get(first.id) == "Refusal":
                    found[function.name] = Refuser("", keywords, passes_on)
                elif isinstance(first, ast.Subscript) and last(first.slice) in own:
                    ((home, table),) = self.refusals(first.value)
                    found[function.name] = Refuser(f"{home}:{table}", keywords, passes_on)
        return found


@cache
def modules() -> tuple[Module, ...]:
    """All modules."""
    return tuple(Module(name, tree) for name, tree in trees().items())


@cache
def refusers() -> dict[str, Refuser]:
    """Functions that raise what they are given, by name."""
    return {name: refuser for module in modules() for name, refuser in module.refusers().items()}


def local_value(function: ast.FunctionDef, name: str) -> ast.expr | None:
    """What a function assigns to a name."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and [last(t) for t in node.targets] == [name]:
            return node.value
    return None


def stated() -> dict[tuple[str, str], Refusal]:
    """Every refusal by module and name; those of a table with their key."""
    found = {}
    for place in refusals.places():
        for name, value in vars(importlib.import_module(place)).items():
            table = value.items() if isinstance(value, dict) else [("", value)]
            found |= {(place, f"{name}:{key}" if key else name): x for key, x in table if isinstance(x, Refusal)}
    return found


def raises() -> Iterator[tuple[str, tuple[str, str], set[str]]]:
    """Where each refusal is raised, which one it is, and the names that are given to its sentence."""
    for module in modules():
        for function in module.functions():
            for call in module.raised(function):
                first = call.args[0]
                if isinstance(first, ast.Name):
                    first = local_value(function, first.id) or first
                for refusal in module.refusals(first):
                    yield f"{module.name}:{call.lineno}", refusal, {k.arg or "**" for k in call.keywords}
        for call in ast.walk(module.tree):
            refuser = refusers().get(last(call.func)) if isinstance(call, ast.Call) else None
            if not isinstance(call, ast.Call) or refuser is None:
                continue
            given = set(refuser.keywords) | ({k.arg for k in call.keywords if k.arg} if refuser.passes_on else set())
            for argument in call.args:
                if refuser.table and isinstance(argument, ast.Constant):
                    home, table = refuser.table.split(":")
                    yield f"{module.name}:{call.lineno}", (home, f"{table}:{argument.value}"), given
                for refusal in module.refusals(argument):
                    yield f"{module.name}:{call.lineno}", refusal, given


def test_whoever_refuses_states_a_registered_refusal() -> None:
    left = []
    for module in modules():
        for function in module.functions():
            arguments = {a.arg: ast.unparse(a.annotation or ast.Constant("")) for a in function.args.args}
            for call in module.raised(function):
                first = call.args[0] if call.args else ast.Constant(None)
                if isinstance(first, ast.Subscript):
                    first = first.value
                if isinstance(first, ast.Name):
                    if arguments.get(first.id) == "Refusal":
                        continue
                    first = local_value(function, first.id) or first
                if not module.refusals(first):
                    left.append(f"{module.name}:{call.lineno} {ast.unparse(call)[:60]}")
    assert left == []


def test_every_refusal_is_raised_with_what_its_sentence_needs() -> None:
    registered, seen = stated(), set()
    for where, which, given in raises():
        assert which in registered, f"{where}: there is no refusal {which}"
        assert given == fields(registered[which]), f"{where}: {which[1]} needs {sorted(fields(registered[which]))}"
        seen.add(which)
    assert registered.keys() - seen == set(), "refused by nobody"


def test_ids_are_unique_and_of_one_form() -> None:
    ids = Counter(refusal.id for refusal in stated().values())
    assert [id for id, count in ids.items() if count > 1] == []
    assert [id for id in ids if not re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", id)] == []
    assert {refusal.id for refusal in refusals.registered()} == {*ids}


def test_refusals_are_stated_in_words_of_the_vocabulary() -> None:
    for refusal in refusals.registered():
        assert refusal.question in QUESTIONS, refusal.id
        assert refusal.features, refusal.id
        assert set(refusal.features) <= FEATURES.keys(), refusal.id
        assert len(set(refusal.features)) == len(refusal.features), refusal.id
        assert isinstance(refusal.why, Why), refusal.id


def test_an_error_carries_its_refusal_also_with_more_advice() -> None:
    refusal = Refusal("a/b", "run", ("taylor",), "no {what:.1f} {{yet}}", Why.NOT_DONE)
    error = NotSupported(refusal, what=2)
    assert str(error) == "no 2.0 {yet}"
    assert error.refusal is refusal
    more = error.with_advice("Try: less.")
    assert (str(more), str(error)) == ("no 2.0 {yet}\n  Try: less.", "no 2.0 {yet}")
    assert more.refusal is refusal


def test_refusals_cost_nothing_at_the_start() -> None:
    code = (
        "import sys, pendula, pendula.__main__\nfrom pendula.app.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit: pass\n"
        "print('loaded', [m for m in sys.modules if 'refusals' in m])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded []"
