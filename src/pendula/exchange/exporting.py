"""Writes a model as a file for another tool, in the format that the ending of the file's name asks for.

Formats are registered with :func:`pendula.extend.register_format`: those of ``Model`` take the model, those of
``Equations`` the equations that a formulation derives. Keyword-only arguments of the writer are the options of the
format. A writer that leaves something out returns :class:`pendula.formats.Content` with one note for each such thing.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pendula.equations.derive import HasEquations, equations_of
from pendula.equations.equations import Equations
from pendula.equations.printing.formats import IN_SYMBOLS
from pendula.errors import NotSupported, UsageError
from pendula.exchange import refusals
from pendula.formats import Content, endings, format_for, formats, write_content
from pendula.library.lookup import model_of, refuse_inputs_of_a_run
from pendula.model.model import Model
from pendula.model.names import suggestion
from pendula.words import readable

KINDS = ("Model", "Equations")
"""What exporters take: those of a model come first where both have the name."""


@readable
@dataclass(frozen=True)
class Exported:
    """A file that was written for another tool.

    Attributes:
        path: the file.
        format: name of its format.
        formulation: the formulation that derived the equations in it; empty if it holds none.
        notes: what the file does not hold, and what its reader must know.

    Example:
        >>> import tempfile, pendula
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pendula.exchange.export("pendulum", f"{folder}/pendulum.c").formulation
        'kane'
    """

    path: Path
    format: str
    formulation: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        by = f", by {self.formulation}" if self.formulation else ""
        return "\n".join([f"wrote {self.path} ({self.format}{by})", *(f"  {note}" for note in self.notes)])


def exporters() -> dict[str, str]:
    """The formats that :func:`export` writes, by name, with one line each.

    Example:
        >>> import pendula
        >>> pendula.exchange.exporters()["c"]
        'functions in C99'
    """
    return {name: formats(kind).summary(name) for kind in reversed(KINDS) for name in formats(kind)}


def export_endings() -> dict[str, str]:
    """Endings of files with the format that each asks for."""
    found: dict[str, str] = {}
    for kind in reversed(KINDS):
        found |= {ending: typing.cast(str, format_for(kind, Path(f"x{ending}"))) for ending in endings(kind)}
    return found


def exporter_for(path: Path, format: str | None = None) -> tuple[str, str]:
    """(kind, format) that a file asks for, or that was named.

    Raises:
        UsageError: there is no such format, or none for the ending of the file's name.
    """
    if format is not None:
        for kind in KINDS:
            if format in formats(kind):
                return kind, format
        raise _no_format(format)
    for kind in KINDS:
        named = format_for(kind, path)
        if named is not None:
            return kind, named
    raise UsageError(f'export: the name of the file must end in {", ".join(export_endings())}, found "{path.name}"')


def _no_format(name: str) -> UsageError:
    known = exporters()
    hint = suggestion(name, known)
    return UsageError(f'export: there is no format "{name}"; {hint}')


def export(
    model: Model | Equations | HasEquations | str,
    path: str | Path,
    *,
    format: str | None = None,
    formulation: str | None = None,
    **options: Any,
) -> Exported:
    """Writes a model as a file for another tool, and returns what was written with its notes.

    Args:
        model: a model, the name of a library mechanism, a system, or equations.
        path: the file; its ending selects the format.
        format: name of the format, if the ending does not say it; see :func:`exporters`.
        formulation: for formats that hold equations, the one that derives them; default: Kane's for a model; a system
            keeps its equations. An FMU has another default.
        options: of the format, such as ``fmi=3`` of an FMU.

    Raises:
        UsageError: there is no such format or option, or the file cannot be written.
        NotSupported: the format cannot hold this model; the message names what it cannot hold. An FMU cannot hold
            equations that others wrote (``compile_equations``).

    Example:
        >>> import tempfile, pendula
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pendula.exchange.export("double-pendulum", f"{folder}/double.c", formulation="lagrange").format
        'c'
    """
    found = model_of(model, "export", also="equations")
    file = Path(path)
    kind, name = exporter_for(file, format)
    if name not in IN_SYMBOLS:
        refuse_inputs_of_a_run(model, "export")
    write = formats(kind)[name]
    takes = inspect.signature(write).parameters
    if "name" in takes:  # of a module or function, which follows that of its file
        options.setdefault("name", file.stem)
    chosen = _checked(name, write, options)
    if kind == "Equations":
        equations = equations_of(model, "export", formulation, in_symbols=True)
        formulation = equations.formulation
        content = write(equations, **chosen)
    elif formulation is None and "formulation" in takes and getattr(model, "written", None):
        raise NotSupported(refusals.EXPORT_OF_WRITTEN, format=name, model=found.name)
    elif formulation is not None:
        content = write(found, **_checked(name, write, {**options, "formulation": formulation}))
    else:
        content = write(found, **chosen)
        formulation = ""
    content = formats(kind).checked(name, content)
    notes = content.notes if isinstance(content, Content) else ()
    return Exported(write_content(content, file), name, formulation, notes)


def _checked(name: str, write: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the writer takes them: text becomes a number or one of the choices of its annotation."""
    known = {n for n, x in inspect.signature(write).parameters.items() if x.kind is x.KEYWORD_ONLY}
    for option in options:
        if option not in known:
            have = f"its options are: {', '.join(sorted(known))}" if known else "it has none"
            raise UsageError(f'export: the format "{name}" has no option "{option}"; {have}')
    hints = typing.get_type_hints(write) if options else {}
    return {option: _value(f"{name}: {option}", value, hints.get(option)) for option, value in options.items()}


def _value(where: str, value: Any, hint: Any) -> Any:
    choices = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    if choices:
        for choice in choices:
            if value == choice or str(value) == str(choice):
                return choice
        raise UsageError(f'{where} must be one of {", ".join(map(str, choices))}, found "{value}"')
    if isinstance(value, str) and hint in (int, float):
        try:
            return hint(value)
        except ValueError:
            raise UsageError(f'{where} must be a number, found "{value}"') from None
    if isinstance(value, str) and hint is bool:
        if value not in ("true", "false"):
            raise UsageError(f'{where} must be true or false, found "{value}"')
        return value == "true"
    return value
