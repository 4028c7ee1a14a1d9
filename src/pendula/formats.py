"""Output formats: how a result becomes the content of a file, by the kind of result and the ending of the file's name.

A format is a function that takes a result and returns text or bytes. Kinds are the names of result types:
``Model`` (``pendula export``), ``Equations`` (``pendula export``, ``pendula derive --format``, ``print_equations``),
``Trajectory``, ``Ensemble``, ``Reactions``, ``LinearModel`` (``-o FILE``), ``Figure`` (``--plot FILE``) and ``Scene``
(``--animate FILE``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pendula.arguments import read_path
from pendula.errors import UsageError
from pendula.registry import Registry
from pendula.storage.files import write_bytes
from pendula.tables.formats import FORMATS, write_table
from pendula.tables.kinds import MAKERS, has_table, table_of


@dataclass(frozen=True)
class Content:
    """What a format wrote, with notes: what the file does not hold, and what its reader must know.

    Example:
        >>> Content("<robot/>", ("the spring of joint elbow has no place in URDF",)).notes
        ('the spring of joint elbow has no place in URDF',)
    """

    data: str | bytes
    notes: tuple[str, ...] = ()


Writer = Callable[..., str | bytes | Content]
"""Takes a result, and options of the format as keywords."""

_KINDS = ("Model", "Equations", "Trajectory", "Ensemble", "Reactions", "LinearModel", "Figure", "Scene", "Explanation")
"""Results that have formats, besides those that have tables."""

_BY_KIND: dict[str, Registry[Writer]] = {}
_ENDINGS: dict[tuple[str, str], str] = {}


def formats(kind: str) -> Registry[Writer]:
    """The formats of one kind of result, by name.

    Example:
        >>> list(formats("Equations"))
        ['text', 'latex', 'python', 'c', 'json', 'javascript', 'cpp', 'julia', 'matlab', 'modelica']
    """
    return _BY_KIND.setdefault(kind, Registry("format", returns=("str", "bytes", "Content")))


def register_format(name: str, write: Writer | str, *, of: type | str, ending: str = "", summary: str = "") -> None:
    """Adds an output format.

    Args:
        name: what users call it, as in ``pendula derive --format NAME``.
        write: takes the result, returns the content of the file as text or bytes.
        of: the kind of result: its class, or its name if it is one of the package, such as ``"Trajectory"``.
        ending: of files in this format, such as ``".csv"``: a file with this ending is written by it.
        summary: one line for lists and help.

    Raises:
        UsageError: there is no such kind of result, ``write`` is no function, the ending has no dot, or this name or
            ending is registered already.

    Example:
        >>> register_format("names", lambda run: " ".join(run.layout.coordinates), of="Trajectory", ending=".names")
        >>> endings("Trajectory")
        ('.names',)
        >>> remove_format("names", of="Trajectory")
    """
    known_kinds = dict.fromkeys([*_KINDS, *MAKERS])
    if not isinstance(of, type) and of not in known_kinds:
        kinds = ", ".join(known_kinds)
        raise UsageError(f'format "{name}": of="{of}" is none of {kinds}; for a type of your own, pass the class')
    of = of.__name__ if isinstance(of, type) else of
    if not callable(write) and not (isinstance(write, str) and ":" in write):
        raise UsageError(f'format "{name}": give a function of the result that returns text or bytes, found {write!r}')
    if ending and not (isinstance(ending, str) and ending.startswith(".") and len(ending) > 1):
        raise UsageError(f'format "{name}": the ending of a file starts with a dot, such as ".csv", found {ending!r}')
    known = formats(of)
    ending = ending.lower()
    other = next((end for (kind, end), one in _ENDINGS.items() if (kind, one) == (of, name)), ending)
    if ending and other != ending:
        raise UsageError(f'format "{name}" of {of} is already registered for files that end in {other}')
    taken = _ENDINGS.get((of, ending), name)
    if taken != name:
        raise UsageError(f'files of {of} that end in {ending} already use the format "{taken}"')
    known.register(name, write, summary=summary)
    if ending:
        _ENDINGS[of, ending] = name


def remove_format(name: str, *, of: str) -> None:
    """Takes a format out again, for tests and for interactive work."""
    formats(of).remove(name)
    for key in [key for key, known in _ENDINGS.items() if key[0] == of and known == name]:
        del _ENDINGS[key]


def endings(kind: str) -> tuple[str, ...]:
    """Endings of files that a registered format of this kind of result writes."""
    return tuple(ending for known, ending in _ENDINGS if known == kind)


def format_for(kind: str, path: Path) -> str | None:
    """The format that the ending of a file's name asks for; None if there is none."""
    return _ENDINGS.get((kind, path.suffix.lower()))


def write_content(content: str | bytes | Content, path: Path) -> Path:
    """Writes what a format gave, and returns the path."""
    content = content.data if isinstance(content, Content) else content
    write_bytes(path, content if isinstance(content, bytes) else content.encode())
    return path


def write(result: Any, path: str | Path, **options: Any) -> Path:
    """Writes a result in the format that the ending of the file's name asks for, and returns the path.

    Results that have a table (runs, ensembles, reactions, equilibria, modes, ...) can be written as ``.csv``, ``.npz``,
    ``.nc``, ``.parquet`` and ``.json``; ``pendula.extend.register_format`` adds formats of one kind of result,
    ``register_table_format`` those of all tables.

    Args:
        result: the result.
        path: the file.
        options: of its table, such as ``quantities`` of a run.

    Raises:
        UsageError: there is no such format of this result, or the file cannot be written.

    Example:
        >>> import tempfile, pendula
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write(pendula.derive("pendulum"), f"{folder}/pendulum.c").read_text().count("theta_dot") > 0
        True
    """
    file = read_path(path, "path")
    kinds = [kind.__name__ for kind in type(result).__mro__]
    for kind in kinds:
        name = format_for(kind, file)
        if name is not None:
            return write_content(formats(kind).checked(name, formats(kind)[name](result)), file)
    tables = [*FORMATS] if has_table(result) else []
    if file.suffix.lower() in tables:
        write_table(table_of(result, **options), file)
        return file
    known = dict.fromkeys([*tables, *(ending for kind in kinds for ending in endings(kind))])
    can = f"can end in {', '.join(known)}" if known else "has no format"
    raise UsageError(f'write: the file of a {kinds[0]} {can}, found "{file.name}"')


for _name, _ending, _write, _summary in (
    ("html", ".html", "page:as_html", "one page with formulas and drawings"),
    ("latex", ".tex", "document:as_tex", "a document for LaTeX"),
):
    register_format(_name, f"pendula.present.explain.{_write}", of="Explanation", ending=_ending, summary=_summary)

for _name, _ending, _write, _summary in (
    ("text", ".txt", "equations.printing.text:write_text", "for people, in 80 columns"),
    ("latex", ".tex", "equations.printing.latex:write_latex", "for papers"),
    ("python", ".py", "equations.printing.programs.python:write_python", "functions of NumPy"),
    ("c", ".c", "equations.printing.programs.c:write_c", "functions in C99"),
    ("json", ".json", "equations.printing.formats:as_json", "for other programs"),
    ("javascript", ".js", "system.live.program:write_rhs", "a module of JavaScript"),
    ("cpp", ".hpp", "equations.printing.programs.cpp:write_cpp", "one header of C++17, for any type of numbers"),
    ("julia", ".jl", "equations.printing.programs.julia:write_julia", "a module of Julia"),
    ("matlab", ".m", "equations.printing.programs.matlab:write_matlab", "a function file for MATLAB and Octave"),
    ("modelica", ".mo", "exchange.modelica:write_modelica", "a model in Modelica"),
):
    register_format(_name, f"pendula.{_write}", of="Equations", ending=_ending, summary=_summary)

for _name, _ending, _write, _summary in (
    ("fmu", ".fmu", "fmu.write:write_fmu", "FMI 2.0 or 3.0: co-simulation, model exchange"),
    ("mjcf", ".xml", "robots.write_mjcf:write_mjcf", "a model for MuJoCo"),
    ("urdf", ".urdf", "robots.write_urdf:write_urdf", "a tree of joints, for robots"),
):
    register_format(_name, f"pendula.exchange.{_write}", of="Model", ending=_ending, summary=_summary)
