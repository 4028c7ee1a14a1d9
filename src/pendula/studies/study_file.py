"""Studies as files, in TOML: what varies, what is computed and how. A file is data and never loads code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pendula.model.files import read_toml
from pendula.studies.problems import Problems
from pendula.studies.recipe import read_compute, refuse_unknown

OWN = ("model", "parameters", "formulation", "engine", "over", "cases", "compute", "draws", "refine", "until", "save")
"""fields of a study; all others are settings of its computations"""
FIELDS: tuple[tuple[str, Any, str], ...] = (
    ("parameters", dict, "a table"), ("draws", (dict, int), "a number or a table"), ("refine", dict, "a table"),
    ("until", dict, "a table"), ("save", str, "the name of a folder"), ("formulation", str, "a name"),
    ("engine", str, "a name"),
)  # fmt: skip
"""types of those that may be missing"""


@dataclass(frozen=True)
class Study:
    """A study from a file.

    Attributes:
        path: of the file.
        model: name of a library mechanism, or a model file relative to the study.
        parameters: values of parameters, and arguments of a library mechanism.
        over: what varies.
        compute: names of computations.
        draws, refine, until: as for ``sweep``.
        save: the folder for its results.
        options: settings of the computations.
    """

    path: Path
    model: str
    over: Any
    compute: Any = "end"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    formulation: str | None = None
    engine: str = "auto"
    draws: Any = None
    refine: Any = None
    until: Any = None
    save: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def arguments(self) -> dict[str, Any]:
        """Arguments of ``sweep``, apart from the system."""
        own = {name: getattr(self, name) for name in ("draws", "refine", "until") if getattr(self, name) is not None}
        return {"over": self.over, "compute": self.compute, **own, **self.options}


def read_study_file(path: str | os.PathLike[str], problems: Problems | None = None) -> Study:
    """Reads a study.

    Args:
        path: the file.
        problems: collects what is wrong with fields that others do not depend on, instead of raising it.

    Raises:
        UsageError: fields are missing or wrong; the message names the file and lists all of them.
        ModelError: the file cannot be read, or is not TOML.
    """
    where = Path(path)
    data, source = read_toml(where)
    found, needed = Problems(source), Problems(source)
    model, over, cases = data.get("model"), data.get("over"), data.get("cases")
    if not isinstance(model, str):
        needed.add(f'"model" names a library mechanism or a model file, found {model!r:.60}')
    if (over is None) == (cases is None):
        needed.add("give [over], what varies by name, or [[cases]], one table for each case")
    elif over is not None and not isinstance(over, dict):
        needed.add(f"[over] is a table, found {over!r:.60}")
    elif cases is not None and not isinstance(cases, list):
        needed.add(f"[[cases]] is a list of tables, found {cases!r:.60}")
    for name, kind, word in FIELDS:
        if name in data and (not isinstance(data[name], kind) or isinstance(data[name], bool)):
            found.add(f'"{name}" is {word}, found {data.pop(name)!r:.60}')
    options = {name: value for name, value in data.items() if name not in OWN}
    compute = data.get("compute", "end")
    names = compute if isinstance(compute, list) else [compute]
    if all(isinstance(name, str) for name in names):
        with found:
            refuse_unknown(read_compute(compute), options)
    else:
        found.add(f'"compute" is the name of a computation, or a list of names, found {compute!r:.60}')
        compute, options = "end", {}
    if needed or problems is None:
        needed.take(found)
        needed.raise_any()
    else:
        problems.take(found)
    folder = where.parent / data["save"] if "save" in data else where.with_suffix(".study")
    return Study(
        path=where, model=str(model), over=cases if over is None else over, compute=compute,
        parameters=data.get("parameters", {}), formulation=data.get("formulation"), engine=data.get("engine", "auto"),
        draws=data.get("draws"), refine=data.get("refine"), until=data.get("until"), save=folder, options=options,
    )  # fmt: skip
