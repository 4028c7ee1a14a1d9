"""Writes a model as an FMU."""

from __future__ import annotations

import io
import zipfile
from typing import Literal

from pendula.equations.printing.programs.listing import identifier
from pendula.exchange.fmu.compiler import compile_library, find_compiler, library_ending, platform_folder
from pendula.exchange.fmu.description import SOURCE_FILE, Kind, describe, describe_build
from pendula.exchange.fmu.program import write_source
from pendula.formats import Content
from pendula.model.model import Model


def write_fmu(
    model: Model, *, fmi: Literal[2, 3] = 2, kind: Kind = "both", formulation: str | None = None, name: str = ""
) -> Content:
    """A model as a functional mock-up unit: C inside, with a binary for this machine if a compiler is found.

    Args:
        model: the mechanism.
        fmi: version of the standard.
        kind: "cs" (co-simulation, with a stepper inside), "me" (model exchange) or "both".
        formulation: that derives the equations; default: Newton-Euler, which also gives reactions, for small models.
        name: of the library inside; default: the name of the model.
    """
    from pendula import __version__

    title = identifier(name or model.name)
    source = write_source(model, fmi, formulation)
    notes = list(source.notes)
    files: dict[str, bytes] = {
        "modelDescription.xml": describe(source, fmi, title, kind, __version__),
        f"sources/{SOURCE_FILE}": source.text.encode(),
    }
    if fmi == 3:
        files["sources/buildDescription.xml"] = describe_build(title)
    command = find_compiler()
    if command is None:
        notes.append(
            "a source FMU: no C compiler was found (cc, gcc, clang, or the package ziglang), so tools must compile it"
        )
    else:
        folder = platform_folder(fmi)
        files[f"binaries/{folder}/{title}{library_ending()}"] = compile_library(source.text, command)
        notes.append(f"binary for {folder}; other machines compile the source inside")
    return Content(_zipped(files), tuple(notes))


def _zipped(files: dict[str, bytes]) -> bytes:
    """An archive whose bytes depend on the content alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, content)
    return buffer.getvalue()
