"""Extensions: code outside the package that adds joints, forces, steppers, formulations, mechanisms, formats, commands.

An extension is a module, or a single Python file, that calls the ``register_...`` functions of :mod:`pendula.extend`
when it is imported. Whoever runs the program can load it in three ways:

- ``import`` it before Pendula is used;
- :func:`load_extension` with the name of a module or the path of a file; the environment variable
  ``PENDULA_EXTENSIONS`` holds a list of such names, separated as in ``PATH``;
- install a package with an entry point in the group ``pendula``; :func:`load_installed` imports it.

A model file is data and never loads code, so the loaded extensions do not depend on any model. Worker processes load
the same extensions as their parent (:func:`loaded`), and the keys of caches cover their files (:func:`sources`).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from pendula.errors import PendulaError, UsageError

GROUP = "pendula"
VARIABLE = "PENDULA_EXTENSIONS"


@dataclass(frozen=True)
class Extension:
    """A loaded extension: the name of its module, and its file if it was given by path."""

    module: str
    path: str = ""


_loaded: dict[str, Extension] = {}
_contents: dict[str, bytes] = {}
"""of the files that were loaded, by the name of their module"""
_looked_for_installed = False


def load_extension(name: str | os.PathLike[str]) -> ModuleType:
    """Imports an extension, given by the name of a module or by the path of a Python file.

    Loading it twice imports it once.

    Raises:
        UsageError: there is no such module or file, importing it failed, or it was edited after it was loaded.

    Example:
        >>> load_extension("no_such_extension")
        Traceback (most recent call last):
        pendula.errors.UsageError: extension "no_such_extension": No module named 'no_such_extension'
    """
    if not isinstance(name, (str, os.PathLike)):
        raise UsageError(f"load_extension takes the name of a module or the path of a Python file, found {name!r}")
    text = os.fspath(name)
    by_path = text.endswith(".py") or os.sep in text
    try:
        module = _load_file(Path(text)) if by_path else importlib.import_module(text)
    except Exception as error:
        if isinstance(error, UsageError) and str(error).startswith("extension "):
            raise
        named = isinstance(error, (PendulaError, ImportError, SyntaxError))
        line = _line_in(error, {Path(text).resolve()} if by_path else set())
        where = f", line {line.lineno}" if line is not None else ""
        cause = str(error) if named else f"{type(error).__name__}: {error}"
        raise UsageError(f'extension "{text}"{where}: {cause}') from error
    path = str(Path(text).resolve()) if by_path else ""
    _loaded[module.__name__] = Extension(module.__name__, path)
    return module


def _load_file(path: Path) -> ModuleType:
    """The module in a file; its name is that of the file."""
    if not path.is_file():
        raise UsageError(f'extension "{path}": there is no such file')
    path = path.resolve()
    name = path.stem
    known = sys.modules.get(name)
    if known is not None:
        if Path(getattr(known, "__file__", None) or "").resolve() == path:
            if _contents.get(name, content := path.read_bytes()) != content:
                raise UsageError(f'extension "{path}": the file has changed since it was loaded; start Python anew')
            return known
        raise UsageError(f'extension "{path}": a module called "{name}" is already loaded; rename the file')
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f'extension "{path}": not a Python file')
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _contents[name] = path.read_bytes()
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def blamed(error: BaseException) -> str:
    """The place in an extension from which an error came: file, line and function; empty if it was in none."""
    found = _line_in(error, {path.resolve() for path in sources()})
    return f'extension "{Path(found.filename).name}", line {found.lineno}, in {found.name}' if found is not None else ""


def _line_in(error: BaseException, files: set[Path]) -> traceback.FrameSummary | None:
    """The last line in some files that an error passed through."""
    lines = [line for line in traceback.extract_tb(error.__traceback__) if Path(line.filename).resolve() in files]
    return lines[-1] if lines else None


def load_installed() -> None:
    """Imports the extensions of installed packages and those in ``PENDULA_EXTENSIONS``, once.

    A package announces an extension in its ``pyproject.toml``:

    .. code-block:: toml

        [project.entry-points.pendula]
        screw = "my_package.screw"

    Example:
        >>> load_installed()
    """
    global _looked_for_installed
    if _looked_for_installed:
        return
    _looked_for_installed = True
    if _some_package_announces():
        from importlib.metadata import entry_points  # takes longer to import than the rest of ``pendula --help``

        for point in entry_points(group=GROUP):
            load_extension(point.module)
    for name in os.environ.get(VARIABLE, "").split(os.pathsep):
        if name:
            load_extension(name)


def _some_package_announces() -> bool:
    """Whether an installed package may have an entry point in our group, from the files ``entry_points.txt``."""
    for folder in map(Path, sys.path):
        if folder.is_file():
            return True  # an archive: importlib.metadata knows how to look into it
        for file in folder.glob("*-info/entry_points.txt"):
            try:
                if f"[{GROUP}]" in file.read_text(encoding="utf-8", errors="replace"):
                    return True
            except OSError:
                continue
    return False


def loaded() -> tuple[Extension, ...]:
    """The extensions loaded so far, in order; a worker process must load the same ones."""
    return tuple(_loaded.values())


def load_again(extensions: tuple[Extension, ...]) -> None:
    """Loads the extensions that :func:`loaded` returned in another process."""
    for extension in extensions:
        load_extension(extension.path or extension.module)


def sources() -> tuple[Path, ...]:
    """Files of the loaded extensions; the keys of caches cover their content."""
    files = (getattr(sys.modules.get(e.module), "__file__", None) for e in _loaded.values())
    return tuple(Path(file) for file in files if file)
