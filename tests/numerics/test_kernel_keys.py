"""The key of a kernel on disk: it changes with everything that decides the machine code, and with nothing else."""

from __future__ import annotations

import importlib
import itertools
import os
import pkgutil
import sys
from collections import namedtuple

import numba
import pytest

import pendula.numerics
import pendula.system
from pendula import extensions
from pendula.numerics.compiled import kernel_files, kernel_keys
from pendula.numerics.compiled.jit import CompiledCallback
from pendula.numerics.compiled.kernel_files import KernelFiles
from pendula.numerics.compiled.kernel_keys import code_digest, module_digest, reached, signature_text

KERNEL = """
'''About kernels.'''
from pendula.numerics.compiled.jit import compiled, compiled_callback, compiled_part
import {parts} as parts
from {parts} import SCALE, helped

OFFSET = 1.0
TABLE = (1, 2, (3.0, 4.0))

@compiled
def kernel(x):
    "What it does."
    return SCALE * helped(x) + OFFSET + TABLE[0] + parts.LIMIT

def not_a_kernel(x):
    return x + 1

@compiled_callback
def callback(out, inp, context):
    kernel(1.0)
"""

PARTS = """
from pendula.numerics.compiled.jit import compiled_part
from {deep} import deeper, get

SCALE = 2.0
LIMIT = 5
UNUSED = 7

@compiled_part
def helped(x):
    return deeper(x) + get(x)
"""

DEEP = """
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from pendula.numerics.compiled.jit import compiled_part

WEIGHTS = np.array([1.0, 2.0])

def made(factor):
    @compiled_part
    def inner(x):
        return factor * x
    return inner

turned = made(3.0)

@compiled_part(fastmath={{"contract"}})
def deeper(x):
    return turned(x) + WEIGHTS[0]

def _helper(builder, value):
    return builder.fadd(value, value)

@intrinsic
def get(typingctx, x):
    "Twice a number."
    def generate(target, builder, sig, arguments):
        return _helper(builder, arguments[0])
    return types.float64(types.float64), generate
"""

names = itertools.count()


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A function that writes and imports the three modules, each time as new ones in place of the old."""
    monkeypatch.syspath_prepend(str(tmp_path))
    number = next(names)
    called = {name: f"kernel_key_{name}_{number}" for name in ("kernel", "parts", "deep")}
    sources = {"kernel": KERNEL, "parts": PARTS, "deep": DEEP}
    times = itertools.count(1)

    def made(edited="", old="", new=""):
        stamp = next(times)
        for name, source in sources.items():
            assert name != edited or old in source, "the edit changes nothing"
            path = tmp_path / f"{called[name]}.py"
            path.write_text((source.replace(old, new) if name == edited else source).format(**called))
            os.utime(path, (stamp, stamp))
            sys.modules.pop(called[name], None)
        importlib.invalidate_caches()
        return importlib.import_module(called["kernel"])

    yield made
    for name in called.values():
        sys.modules.pop(name, None)


def digests(module):
    return code_digest(module.kernel.py_func, {}), code_digest(module.callback.__wrapped__, {})


HARMLESS = {
    "nothing": ("kernel", "", ""),
    "module docstring": ("kernel", "About kernels.", "About kernels, at length."),
    "docstring": ("kernel", "What it does.", "What it does now."),
    "docstring of an intrinsic": ("deep", "Twice a number.", "Two times a number."),
    "comment and lines": ("kernel", "@compiled\ndef kernel", "# why\n\n\n@compiled\ndef kernel"),
    "comment in a callee": ("parts", "    return deeper(x)", "    # deeper\n    return deeper(x)"),
    "a function it does not call": ("kernel", "return x + 1", "return x + 2"),
    "a constant it does not use": ("parts", "UNUSED = 7", "UNUSED = 8"),
}
EDITS = {
    "its code": ("kernel", "+ OFFSET", "- OFFSET"),
    "its literal": ("kernel", "TABLE[0]", "TABLE[1]"),
    "its constant": ("kernel", "OFFSET = 1.0", "OFFSET = 1.5"),
    "type of a constant": ("kernel", "OFFSET = 1.0", "OFFSET = 1"),
    "inside a tuple": ("kernel", "(3.0, 4.0)", "(3.0, 4.5)"),
    "imported constant": ("parts", "SCALE = 2.0", "SCALE = 2.5"),
    "constant of a module": ("parts", "LIMIT = 5", "LIMIT = 6"),
    "callee": ("parts", "deeper(x) + get(x)", "deeper(x) - get(x)"),
    "callee of a callee": ("deep", "turned(x) + WEIGHTS[0]", "turned(x) + WEIGHTS[1]"),
    "array of a callee": ("deep", "[1.0, 2.0]", "[1.0, 2.5]"),
    "closure": ("deep", "made(3.0)", "made(3.5)"),
    "intrinsic": ("deep", "_helper(builder, arguments[0])", "_helper(builder, _helper(builder, arguments[0]))"),
    "helper of an intrinsic": ("deep", "fadd", "fmul"),
    "options of a callee": ("deep", '"contract"', '"reassoc"'),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_edits_that_cannot_change_the_machine_code_keep_the_key(write, name):
    assert digests(write()) == digests(write(*HARMLESS[name]))


@pytest.mark.parametrize("name", EDITS)
def test_edits_that_can_change_the_machine_code_change_the_key(write, name):
    before, after = digests(write()), digests(write(*EDITS[name]))
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_options_of_the_kernel_count():
    def kernel(x):
        return x

    assert code_digest(kernel, {"nogil": True}) != code_digest(kernel, {"nogil": False})
    assert code_digest(kernel, {"fastmath": {"nnan", "contract"}}) == code_digest(
        kernel, {"fastmath": {"contract", "nnan"}}
    )


def test_number_types_and_overloads_count_for_every_kernel(monkeypatch, tmp_path):
    """They act without being named in the code that uses them."""
    scalars = tmp_path / "numerics" / "scalars"
    scalars.mkdir(parents=True)
    (scalars / "eight.py").write_text("A = 1\n")
    (tmp_path / "numerics" / "compiled").mkdir()
    native = tmp_path / "numerics" / "compiled" / "native.py"
    native.write_text("B = 1\n")
    (native.parent / "parts.py").write_text("C = 1\n")
    monkeypatch.setattr(kernel_keys, "PACKAGE", tmp_path)

    def kernel(x):
        return x

    first = code_digest(kernel, {})
    (scalars / "eight.py").write_text("A = 1  # the same\n")
    assert code_digest(kernel, {}) == first
    (scalars / "eight.py").write_text("A = 20\n")
    second = code_digest(kernel, {})
    native.write_text("B = 20\n")
    assert len({first, second, code_digest(kernel, {})}) == 3


def test_extensions_that_mention_numba_count_for_every_kernel(monkeypatch, tmp_path):
    source = tmp_path / "mine.py"
    monkeypatch.setattr(extensions, "sources", lambda: (source,))

    def digest(text):
        source.write_text(text)
        return kernel_keys.everywhere_digest()

    plain = digest("a = 1\n")
    assert digest("a = 200\n") == plain
    first = digest("import numba\na = 1\n")
    assert first != plain
    assert digest("import numba\na = 1  # why\n") == first
    assert digest("import numba\na = 200\n") != first


def test_an_object_of_unknown_kind_makes_all_kernel_sources_count(monkeypatch):
    class Odd:
        pass

    Odd.__module__ = "somewhere.else"
    odd = Odd()
    kernel = eval("lambda x: x + odd", {"odd": odd})
    assert reached(kernel)[1]
    monkeypatch.setattr(kernel_keys, "_rooms_digest", lambda: "one state")
    first = code_digest(kernel, {})
    monkeypatch.setattr(kernel_keys, "_rooms_digest", lambda: "another")
    assert code_digest(kernel, {}) != first


def kernels():
    """All kernels of the package."""
    for room in (pendula.numerics, pendula.system):
        for found in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
            yield from vars(importlib.import_module(found.name)).values()


def test_everything_that_kernels_of_the_package_use_is_known():
    """Otherwise every edit anywhere would compile them again."""
    made = [x for x in kernels() if isinstance(x, CompiledCallback) or hasattr(x, "py_func")]
    assert len(made) > 100
    assert {kind for kernel in made for kind in reached(kernel)[1]} == set()


def test_fields_of_named_tuples_count():
    """Numba's text of the type leaves them out."""
    first, second = namedtuple("Run", "a b"), namedtuple("Run", "b a")
    texts = [signature_text((numba.typeof((kind(1.0, 2.0), 3)),)) for kind in (first, second)]
    assert str(numba.typeof(first(1.0, 2.0))) == str(numba.typeof(second(1.0, 2.0)))
    assert texts[0] != texts[1]


def test_a_module_counts_by_what_it_does(tmp_path):
    path = tmp_path / "part.py"

    def digest(text):
        path.write_text(text)
        return module_digest(path)

    plain = digest('"""One."""\nclass A:\n    """Two."""\n    x = 1\n')
    assert digest('"""One, and more."""\n# why\nclass A:\n    """Two, and more."""\n    x = 1\n') == plain
    assert digest('"""One."""\nclass A:\n    """Two."""\n    x = 20\n') != plain


ALIKE = {
    "a class further down": (
        "class A:\n    def f(self):\n        self.a = 1\n", "\n\nclass A:\n    def f(self):\n        self.a = 1\n"
    ),
    "a comment": ("def f():\n    return 1\n", "# why\ndef f():\n    return 1\n"),
    "a docstring beside a text": ('def f():\n    "d"\n    return "a"\n', 'def f():\n    "e"\n    return "a"\n'),
}  # fmt: skip
DIFFERENT = {
    "what a method assigns": (
        "class A:\n    def f(self):\n        self.a = 1\n", "class A:\n    def f(self):\n        self.b = 1\n"
    ),
    "a number like its line": ("class A:\n    x = 1\n", "\nclass A:\n    x = 2\n"),
    "a text that is returned": ('def f():\n    return "a"\n', 'def f():\n    return "b"\n'),
    "a text like the docstring": ('class A:\n    "a"\n    x = "a"\n', 'class A:\n    "b"\n    x = "b"\n'),
}  # fmt: skip


@pytest.mark.parametrize("edit", [*ALIKE, *DIFFERENT])
def test_the_place_of_a_class_does_not_count_and_what_is_loaded_does(tmp_path, edit):
    found = set()
    for k, text in enumerate((ALIKE | DIFFERENT)[edit]):
        path = tmp_path / str(k) / "part.py"
        path.parent.mkdir()
        path.write_text(text)
        found.add(module_digest(path))
    assert len(found) == (1 if edit in ALIKE else 2)


def test_a_callee_that_changed_is_compiled_anew(write, tmp_path):
    """End to end: the file on disk of the first state is not used for the second."""

    def value(module):
        dispatcher = numba.njit(module.kernel.py_func)
        dispatcher._cache = KernelFiles(module.kernel.py_func, tmp_path / "kept", {}, pytest.fail)
        return dispatcher(1.0), sum(dispatcher.stats.cache_hits.values())

    assert value(write()) == (2.0 * 6.0 + 7.0, 0)
    assert value(write(*HARMLESS["comment in a callee"])) == (19.0, 1)
    assert value(write(*EDITS["callee of a callee"])) == (21.0, 0)


def test_kernels_out_of_use_are_removed(tmp_path):
    old, new = tmp_path / "a-1.kernel", tmp_path / "b-1.kernel"
    for path in (old, new):
        path.write_bytes(b"x")
    os.utime(old, (1.0, 1.0))
    kernel_files._remove_unused(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [new.name]
