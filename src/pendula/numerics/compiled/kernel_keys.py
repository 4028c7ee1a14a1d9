"""Cache keys of kernels, from all that determines their machine code: their code, the code they call, the constants.

Numba's disk cache checks only the file that contains a function: after an edit of a helper in another file it still
uses the old machine code. A hash of all source files is safe, but then every edit of a docstring recompiles
everything. :func:`code_digest` follows the names in a function's bytecode to the objects they refer to: it enters
functions in turn and includes the values of constants. Docstrings, comments, line numbers and code that the kernel
cannot reach do not count.

Types and overloads act without being named in the code that uses them. So the modules in :data:`ALWAYS` count for every
kernel, as does every loaded extension that mentions numba. If there is an object of an unknown kind, all modules of the
kernel rooms count: too many recompilations are a nuisance, one too few is a wrong result.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import importlib.util
import inspect
import sys
import types
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pendula import extensions

PACKAGE = Path(__file__).resolve().parents[2]
KERNEL_ROOMS = ("numerics", "system", "simulation")
ALWAYS = ("numerics/scalars", "numerics/compiled/native.py", "numerics/compiled/parts.py")
SETTLED = ("numpy", "numba", "llvmlite", "math", "cmath", "operator", "builtins", "typing", "collections")
"""Packages whose content depends only on their version, which is part of the name of the cache directory."""

_LOAD_CONST, _STORE_NAME = dis.opmap["LOAD_CONST"], dis.opmap["STORE_NAME"]
_SMALL_LOADS = {dis.opmap[name] for name in ("LOAD_SMALL_INT",) if name in dis.opmap}
_EXTENDED_ARG = dis.opmap["EXTENDED_ARG"]
_HAS_DOCSTRING = getattr(inspect, "CO_HAS_DOCSTRING", 0)  # a flag of functions since Python 3.13
_ABOUT_THE_TEXT = ("__doc__", "__firstlineno__")  # names that a module or the body of a class stores about its text
_CODE_DEPTH = 50  # of functions inside functions


def _used(steps: bytes, constant: int) -> int:
    """Number of instructions that load a constant, at least."""
    return sum(op in dis.hasconst and k == constant for op, k in zip(steps[::2], steps[1::2], strict=True))


def _counted(code: types.CodeType) -> tuple[bytes, set[int]]:
    """Instructions of a code object, and the indices of its constants that say something only about its text.

    These are docstrings, and where a class begins. A constant that is also used otherwise is none of them.
    """
    steps = code.co_code
    if code.co_flags & inspect.CO_NEWLOCALS:  # a function: the docstring is the first, and no instruction loads it
        documented = code.co_flags & _HAS_DOCSTRING or not _HAS_DOCSTRING
        first = code.co_consts[0] if code.co_consts and documented else None
        return steps, {0} if isinstance(first, str) and not _used(steps, 0) else set()
    found, aside = bytearray(steps), set[int]()
    for name in _ABOUT_THE_TEXT:
        if name not in code.co_names[:256]:
            continue
        stores = bytes([_STORE_NAME, code.co_names.index(name)])
        for k in range(2, len(steps), 2):
            if not steps.startswith(stores, k) or (k >= 4 and steps[k - 4] == _EXTENDED_ARG):
                continue
            if steps[k - 2] in _SMALL_LOADS:
                found[k - 1] = 0
            elif steps[k - 2] == _LOAD_CONST and _used(steps, steps[k - 1]) == 1:
                aside.add(steps[k - 1])
    return bytes(found), aside


@lru_cache(maxsize=4096)
def _code_text(code: types.CodeType, depth: int = 0) -> str:
    """Digest of a code object, without docstrings and line numbers."""
    if depth > _CODE_DEPTH:
        raise RecursionError("functions are nested too deeply")
    steps, uncounted = _counted(code)
    kept: list[str] = []
    for k, value in enumerate(code.co_consts):
        if isinstance(value, types.CodeType):
            kept.append(_code_text(value, depth + 1))
        elif isinstance(value, frozenset):
            kept.append(repr(sorted(map(repr, value))))
        else:
            kept.append("" if k in uncounted else repr(value))
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    content = repr((code.co_name, steps.hex(), code.co_exceptiontable.hex(), kept, names, counts))
    return hashlib.sha256(content.encode()).hexdigest()


def _names(code: types.CodeType) -> Iterable[str]:
    """Names that a code object and those inside it look up, as variables or as attributes."""
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            yield from _names(value)


@lru_cache(maxsize=256)
def _module_text(path: str, changed: int, size: int) -> str:
    """Digest of the code in a source file; its time and size identify its version."""
    name = f"_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    loader: Any = spec and spec.loader
    code = loader.get_code(name) if loader is not None else None
    if code is None:
        raise OSError(f"{path} cannot be read as Python source")
    return _code_text(code)


def module_digest(path: Path) -> str:
    """Digest of the code in a source file; edits of docstrings and comments do not change it.

    Raises:
        OSError: there is no such file.
    """
    found = path.stat()
    return _module_text(str(path), found.st_mtime_ns, found.st_size)


def _rooms_digest() -> str:
    """Digest of all modules that may contain kernels."""
    sources = sorted(path for room in KERNEL_ROOMS for path in (PACKAGE / room).rglob("*.py"))
    return repr([(path.relative_to(PACKAGE).as_posix(), module_digest(path)) for path in sources])


def everywhere_digest() -> str:
    """Digest of the modules that count for every kernel: scalar types, overloads, and extensions that may add to them.

    Raises:
        OSError: the sources cannot be read as files (the package is in an archive).
    """
    paths = [path for name in ALWAYS for path in _files(PACKAGE / name)]
    outside = [path for path in extensions.sources() if b"numba" in path.read_bytes()]
    return repr([(path.name, module_digest(path)) for path in (*paths, *outside)])


def _files(path: Path) -> list[Path]:
    found = [path] if path.suffix == ".py" else sorted(path.glob("*.py"))
    if not found or not found[0].is_file():
        raise OSError("the kernel sources cannot be read as files (packed in an archive?)")
    return found


class _Walk:
    """Collects everything that can be reached from a function, in a fixed order."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.unknown: list[str] = []
        self._seen: dict[int, int] = {}
        self._alive: list[object] = []  # so that no id is reused

    def visit(self, thing: Any) -> None:
        """Records a value; enters each function once."""
        if thing is None or (isinstance(thing, bool | int | float | complex | str | bytes) and not _is_member(thing)):
            self.found.append(repr(thing))
            return
        if isinstance(thing, tuple):  # equal ones may be the same object or not
            self._value(thing)
            return
        number = self._seen.get(id(thing))
        if number is not None:
            self.found.append(f"#{number}")
            return
        self._seen[id(thing)] = len(self._seen)
        self._alive.append(thing)
        if isinstance(thing, types.FunctionType):
            self._function(thing)
        elif isinstance(inner := getattr(thing, "py_func", None), types.FunctionType):  # compiled by numba
            self.found.append(settings_text(getattr(thing, "targetoptions", {})))
            self._function(inner)
        elif isinstance(inner := getattr(thing, "__wrapped__", None), types.FunctionType):  # an intrinsic, a callback
            self.found.append(settings_text(getattr(thing, "_settings", {})))
            self._function(inner)
        else:
            self._value(thing)

    def _function(self, function: types.FunctionType) -> None:
        code = function.__code__
        self.found.append(f"{function.__module__}.{function.__qualname__} {_code_text(code)}")
        self.visit(function.__defaults__)
        self.visit(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # not filled yet
                self.found.append("empty")
                continue
            self.visit(content)
        if _settled(function.__module__):
            return
        names = list(dict.fromkeys(_names(code)))
        for name in names:
            if name not in function.__globals__:
                continue
            self.found.append(name)
            value = function.__globals__[name]
            if isinstance(value, types.ModuleType):
                self._module(value, names)
            else:
                self.visit(value)

    def _module(self, module: types.ModuleType, names: list[str]) -> None:
        """Visits what a function may use of a module: all its attributes whose names the function looks up."""
        self.found.append(module.__name__)
        if _settled(module.__name__):
            return
        for name in names:
            value = module.__dict__.get(name, self)
            if value is self:
                continue
            self.found.append(f".{name}")
            if not isinstance(value, types.ModuleType):
                self.visit(value)
            elif id(value) not in self._seen:
                self._seen[id(value)] = len(self._seen)
                self._alive.append(value)
                self._module(value, names)

    def _value(self, thing: Any) -> None:
        kind = type(thing)
        if isinstance(thing, tuple | list):
            self.found.append(f"{kind.__name__} {len(thing)}")
            for item in thing:
                self.visit(item)
        elif isinstance(thing, dict):
            self.found.append(f"dict {len(thing)}")
            for key, item in thing.items():
                self.visit(key)
                self.visit(item)
        elif isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
            self.found.append(f"{thing.dtype.descr} {thing.shape} {hashlib.sha256(thing.tobytes()).hexdigest()}")
        elif isinstance(thing, np.generic | np.dtype | enum.Enum | range | slice):
            self.found.append(f"{kind.__qualname__} {thing!r}")
        elif isinstance(thing, type):
            self._class(thing)
        elif isinstance(thing, types.BuiltinFunctionType | np.ufunc):
            self.found.append(f"{getattr(thing, '__module__', '')}.{thing.__name__}")
        elif isinstance(thing, types.ModuleType):
            self.found.append(thing.__name__)
        elif _is_compiler_type(kind):
            self.found.append(f"{kind.__module__}.{kind.__qualname__} {thing}")
            self._class(kind)
        elif _settled(getattr(thing, "__module__", None) or kind.__module__):
            self.found.append(f"{kind.__module__}.{kind.__qualname__} {getattr(thing, '__name__', '')}")
        else:
            self.unknown.append(f"{kind.__module__}.{kind.__qualname__}")

    def _class(self, kind: type) -> None:
        """Records a class with its fields; a class outside the package and its foundations with its whole module."""
        self.found.append(f"{kind.__module__}.{kind.__qualname__} {getattr(kind, '_fields', '')}")
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        if not _settled(kind.__module__) and file is not None and file.endswith(".py"):
            self.found.append(module_digest(Path(file)))


def _is_member(thing: object) -> bool:
    return isinstance(thing, enum.Enum)


def _is_compiler_type(kind: type) -> bool:
    """Whether a class is one of the compiler's types, or derived from one."""
    return any(base.__module__.partition(".")[0] in ("numba", "llvmlite") for base in kind.__mro__)


def _settled(module: str | None) -> bool:
    name = (module or "").partition(".")[0]
    return name in SETTLED or name in sys.stdlib_module_names


def settings_text(settings: dict[str, Any]) -> str:
    """Options of a compilation as text, in a fixed order."""
    return repr([(k, sorted(v) if isinstance(v, set | frozenset) else v) for k, v in sorted(settings.items())])


def reached(function: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """Everything a kernel consists of, as texts that change with it, and the unknown kinds of objects."""
    walk = _Walk()
    walk.visit(function)
    return walk.found, walk.unknown


def code_digest(function: Callable[..., Any], settings: dict[str, Any]) -> str:
    """Digest of everything in the sources that determines the machine code of a kernel.

    Raises:
        OSError: a required source file cannot be read.
    """
    found, unknown = reached(function)
    whole = (sorted(set(unknown)), _rooms_digest()) if unknown else ()
    content = repr((settings_text(settings), found, whole, everywhere_digest()))
    return hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()


def signature_text(signature: Any) -> str:
    """A signature as text, with the field names of its named tuples, which numba omits."""
    kinds = getattr(signature, "args", signature)
    fields: list[object] = []

    def collect(kind: Any) -> None:
        if (made := getattr(kind, "instance_class", None)) is not None:
            fields.append((made.__module__, made.__qualname__, getattr(made, "_fields", ())))
        for inner in getattr(kind, "types", ()):
            collect(inner)

    for kind in kinds if isinstance(kinds, tuple | list) else ():
        collect(kind)
    return repr((signature, fields))
