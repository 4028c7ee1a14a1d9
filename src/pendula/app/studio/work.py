"""The work of jobs: every kind of job by name, what it computes, and how its result is stored.

A kind is a function of the model's text, the options and a receiver of its progress; it returns plain data. Results go
into a file before they are reported. Its first line is the head: what was asked, when, and how it ended.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from pendula.app.options import in_fields
from pendula.app.studio.asking import Options, Tell
from pendula.app.studio.folder import Folder
from pendula.app.studio.kinds import KINDS
from pendula.app.studio.limits import RESULT_BYTES
from pendula.errors import PendulaError, UsageError
from pendula.storage.files import write_text
from pendula.storage.inside import open_inside


@dataclass
class Job:
    """What a kind of job works with.

    Attributes:
        text: of the model.
        options: of this kind.
        tell: receives the progress.
        folder: of the studio, for results of other jobs and for files.
        files: names of files that were written.
    """

    text: str
    options: Options
    tell: Tell
    folder: Folder
    files: list[str] = field(default_factory=list)

    def write(self, stem: str, ending: str, write: Callable[[Path], Any]) -> str:
        """Writes a file that no other has the name of, and returns its name."""
        name = self.folder.add(stem, ending, write)
        self.files.append(name)
        return name


Kind = Callable[[Job], dict[str, Any]]


def kind_of(name: str) -> Kind:
    """The function that does jobs of a kind."""
    module, function = KINDS[name].split(":")
    found: Kind = getattr(import_module(f"pendula.app.studio.{module}"), function)
    return found


def perform(request: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Does a job, stores its result, and returns its head.

    Args:
        request: ``id``, ``kind``, ``text``, ``options``, ``title``, the ``folder`` of the studio and the ``file`` for
            the result.
        tell: receives the progress.
    """
    began = time.time()
    job = Job(request["text"], Options(request["options"]), tell, Folder(Path(request["folder"])))
    try:
        result = kind_of(request["kind"])(job)
        job.options.finish()
    except PendulaError as error:
        raise UsageError(in_fields(str(error))) from None
    head = {
        "id": request["id"],
        "kind": request["kind"],
        "title": request["title"],
        "state": "done",
        "created": request["created"],
        "seconds": round(time.time() - began, 3),
        "files": job.files,
        "ok": bool(result.get("ok", True)),
    }
    asked = {"text": request["text"], "options": request["options"]}
    lines = ",\n".join(f"{json.dumps(k)}:{_json(v)}" for k, v in {"asked": asked, "result": result}.items())
    content = f"{_json(head)[:-1]},\n{lines}}}\n"
    if len(content) > RESULT_BYTES:
        raise UsageError(
            f"the result has {len(content) / 1e6:.0f} MB, more than the {RESULT_BYTES / 1e6:.0f} MB that are allowed: "
            "ask for fewer samples"
        )
    write_text(request["file"], content, follow=False)
    return head


def read_result(folder: Folder, name: str) -> dict[str, Any]:
    """A stored result with what was asked.

    Raises:
        UsageError: there is none of this name.
    """
    if not name.replace("-", "").isalnum() or not name.isascii():
        raise UsageError("a result is named by letters, digits and hyphens")
    try:
        with open(open_inside(folder.results, f"{name}.json"), "rb") as file:
            found: dict[str, Any] = json.load(file)
        return found
    except (OSError, ValueError):
        raise UsageError(f'there is no result "{name}" in this folder') from None


def _json(value: Any) -> str:
    return json.dumps(plain(value), allow_nan=False, separators=(",", ":"))


def plain(value: Any) -> Any:
    """Data that JSON can hold: arrays as lists, numbers that are not finite as null."""
    if isinstance(value, (bool, str, int)) or value is None:
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, complex):
        return {"re": plain(value.real), "im": plain(value.imag)}
    return str(value)


def warm() -> None:
    """Loads what most jobs need."""
    for module in ("views", "motions", "analyses"):
        import_module(f"pendula.app.studio.{module}")
    import_module("pendula.present.live.content")
