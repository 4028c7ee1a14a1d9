"""What the folder of a study holds, as it is read: everything in it belongs to the study that it describes.

Files get lost, are damaged, or are copied from one folder to another. So the description has a checksum of what
distinguishes the study, every other file repeats it, and what varies is compared: the axes of the plan with those of
the description, the values of each part with those of the plan. What does not agree is refused by its name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite, prod
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pendula.errors import UsageError
from pendula.storage.pipes import read_limited
from pendula.studies.designs import DESIGNS
from pendula.studies.plan import CASE, DRAW, MOST_CASES, REPLICATE, Draws, digest_of_values
from pendula.studies.recipe import Part
from pendula.system.layout import Array
from pendula.tables.formats import read_table
from pendula.tables.table import Block, Table

REVISION = 1
MARK, DIGEST = "pendula_study", "digest"
STUDY, PLAN, PARTS, ENDING = "study.json", "plan.npz", "parts", ".npz"
PLAN_KIND, PART_KIND = "StudyPlan", "StudyPart"
OWNER = "study"
"""the attribute of a file that holds the checksum of its study; files of earlier versions have none"""
VALUE = "value."
"""how the names of blocks begin that hold what varied"""
OWN = ("case", "failure.case", "failure.reason")
WRITE, COMPUTE = "run the study again, which writes it", "run the study again, which computes its cases"
"""what helps against a file of another study"""
LONGEST = 256 * 2**20
"""bytes of a description"""
SAME = 1e-9
"""values that were drawn by another version of the random distributions may differ in their last digits"""


class Cases(Protocol):
    """What is known of the cases of a study: a plan, or its file."""

    @property
    def size(self) -> int:
        """Number of cases."""

    def values(self, cases: Array) -> dict[str, Array]:
        """Values of everything that varies, for some cases."""


def digest_of(study: Mapping[str, Any]) -> str:
    """A checksum of what distinguishes a study from others."""
    return hashlib.sha256(json.dumps(study["identity"], sort_keys=True).encode()).hexdigest()[:32]


def belongs(attributes: Mapping[str, Any], study: Mapping[str, Any]) -> bool:
    """Whether a file is one of a study, by its attributes."""
    owner = attributes.get(OWNER)
    earlier = owner is None and DIGEST not in study  # an earlier version wrote both
    return earlier or owner == digest_of(study)


def read_study(folder: str | PathLike[str]) -> dict[str, Any]:
    """The description of the study in a folder.

    Raises:
        UsageError: there is none, or it is damaged.
    """
    path = Path(folder) / STUDY
    try:
        return _described(read_limited(path, LONGEST + 1))
    except FileNotFoundError:
        raise UsageError(f'"{folder}" is not the folder of a study: it has no {STUDY}') from None
    except OSError as error:
        raise UsageError(f'"{path}" cannot be read: {error.strerror or error}') from None
    except RecursionError:
        raise UsageError(f'"{path}" cannot be read: its lists are nested too deeply') from None
    except ValueError as error:
        raise UsageError(f'"{path}" cannot be read: {error}') from None


def _described(content: bytes) -> dict[str, Any]:
    """The description in a file.

    Raises:
        ValueError: it is none; the message says why.
    """
    if len(content) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST} bytes")
    data = json.loads(content)
    if not isinstance(data, dict) or data.get(MARK) != REVISION:
        raise ValueError("it is not a description of a study that this version reads")
    if not _is_description(data):
        raise ValueError("it is damaged: it does not have the form of a description of a study")
    if DIGEST in data and data[DIGEST] != digest_of(data):
        raise ValueError("it has been changed since it was written, so that its results belong to another study")
    return data


def _is_description(data: Mapping[str, Any]) -> bool:
    """Whether the fields that are used are there, and of their types."""
    known = data.get("identity")
    if not isinstance(known, dict) or not isinstance(known.get("over"), dict):
        return False
    over = known["over"]
    axes = [over.get("axes"), [] if over.get("listed") is None else over["listed"]]
    random, draws = over.get("random"), over.get("draws")
    return (
        all(isinstance(known.get(name), str) for name in ("model", "formulation", "engine"))
        and all(isinstance(some, list) and all(map(_is_axis, some)) for some in axes)
        and isinstance(random, list)
        and all(isinstance(one, list) and one and isinstance(one[0], str) for one in random)
        and (draws is None or (isinstance(draws, dict) and draws.get("design") in DESIGNS))
        and (known.get("until") is not None or draws is None or type(draws.get("count")) is int)
    )


def _is_axis(axis: Any) -> bool:
    wanted = (("name", str), ("count", int), ("digest", str))
    return isinstance(axis, dict) and all(type(axis.get(name)) is kind for name, kind in wanted)


@dataclass(frozen=True, eq=False)
class SavedPlan:
    """A plan as its file describes it: dimensions and the values along them, so that results need no model."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    labels: tuple[Block, ...]

    @property
    def size(self) -> int:
        """Number of cases."""
        return prod(self.shape)

    def blocks(self) -> list[Block]:
        """Values along the dimensions."""
        return list(self.labels)

    def values(self, cases: Array) -> dict[str, Array]:
        """Values of everything that varies, for some cases."""
        places = dict(zip(self.dims, np.unravel_index(cases, self.shape), strict=True))
        varying = (block for block in self.labels if block.name not in (CASE, DRAW, REPLICATE))
        return {block.name: block.values[places[block.dims[0]]] for block in varying}


def read_plan(folder: Path, study: Mapping[str, Any]) -> SavedPlan:
    """The dimensions of the study in a folder.

    Args:
        folder: its path.
        study: its description.

    Raises:
        UsageError: there are none, or they are those of another study.
    """
    path = folder / PLAN
    if not path.exists():
        raise UsageError(f'the study in "{folder}" has not begun: there is no {PLAN}')
    table = read_table(path)
    _refuse_other(study, table, path, PLAN_KIND, WRITE)
    over, labels = study["identity"]["over"], {block.name: block for block in table.blocks}
    along, lengths = _dimensions(study)
    sizes = {**table.sizes, **lengths}
    axes = over["axes"] if over["listed"] is None else over["listed"]
    varying = [*(one["name"] for one in axes), *(one[0] for one in over["random"])]
    numbers = {dim for dim in (CASE, DRAW) if dim in along}
    if (
        table.main != along
        or {*labels} - {REPLICATE} != {*varying, *numbers}
        or any(sizes.get(dim) != table.sizes.get(dim) for dim in along)
        or any(block.dims != (_dimension(name, along),) for name, block in labels.items())
        or any(block.columns is not None for block in labels.values())
        or any(digest_of_values(labels[one["name"]].values) != one["digest"] for one in axes)
        or any(labels[one[0]].values.dtype.kind != "f" for one in over["random"])
        or (DRAW in along) != (REPLICATE in labels)
        or any(not _counted(labels[dim].values) for dim in numbers & {*labels})
        or (REPLICATE in labels and not _takes_turns(labels[REPLICATE].values, over["draws"]["design"]))
    ):
        raise _other(path, WRITE)
    shape = tuple(table.sizes[dim] for dim in along)
    if not 0 < prod(shape) <= MOST_CASES:
        raise UsageError(f'"{path}" is damaged: a study has 1 to {MOST_CASES} cases, found {prod(shape)}')
    return SavedPlan(along, shape, table.blocks)


def _dimensions(study: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, int]]:
    """The dimensions of a study by its description, and the lengths that are known; draws may grow."""
    over, until = study["identity"]["over"], study["identity"].get("until")
    if over["listed"] is not None:
        return (CASE,), {CASE: over["listed"][0]["count"]} if over["listed"] else {}
    lengths = {axis["name"]: axis["count"] for axis in over["axes"]}
    if over["draws"] is None:
        return tuple(lengths), lengths
    return (DRAW, *lengths), lengths if until is not None else {DRAW: over["draws"]["count"], **lengths}


def _dimension(name: str, dims: tuple[str, ...]) -> str:
    """The dimension along which a quantity varies."""
    return name if name in dims else dims[0]


def _counted(values: Array) -> bool:
    """Whether these are numbers from 0, in order."""
    return np.array_equal(values, np.arange(values.size))


def _takes_turns(values: Array, design: str) -> bool:
    """Whether draws belong to replicates as in :attr:`~pendula.studies.plan.Draws.replicate`."""
    if values.dtype.kind != "i" or not values.size:
        return False
    replicates = int(values.max()) + 1
    if design == "random" or not 0 < replicates <= values.size or values.size % replicates:
        return not values.any()
    return np.array_equal(values, Draws(values.size, design, replicates=replicates).replicate)


def part_files(folder: str | PathLike[str]) -> list[Path]:
    """Files of the parts that are finished, in the order in which they were written."""
    return sorted(path for path in (Path(folder) / PARTS).glob(f"*{ENDING}") if path.stem.isdecimal())


def read_parts(folder: str | PathLike[str], study: Mapping[str, Any], plan: Cases) -> Iterator[Part]:
    """All finished parts, without cases that were interrupted, which earlier versions may have kept.

    Args:
        folder: of the study.
        study: its description.
        plan: its cases; those of a larger plan that parts may hold are not compared.

    Raises:
        UsageError: one is damaged, or belongs to another study; the message names the file.
    """
    forms: dict[str, Any] = {}
    for path in part_files(folder):
        table = read_table(path)
        _refuse_other(study, table, path, PART_KIND, COMPUTE)
        part = part_of(table, path)
        inside = part.cases < plan.size
        wanted = plan.values(part.cases[inside])
        same = {*wanted} == {*part.values} and all(_agree(part.values[n][inside], x) for n, x in wanted.items())
        mine = {b.name: (b.dims, b.columns, b.values.dtype.kind) for b in part.blocks}
        if not same or any(forms.setdefault(name, form) != form for name, form in mine.items()):
            raise _other(path, COMPUTE)
        yield part.finished()


def part_of(table: Table, path: Path) -> Part:
    """The part behind a table.

    Raises:
        UsageError: its content does not agree with its checksum.
    """
    known = table.attributes
    if known.get("checksum") != table.digest() or not _is_part(table):
        raise UsageError(
            f'"{path}" is damaged: its content does not agree with its checksum.\n'
            f"  Try: remove this file and {COMPUTE}."
        )
    values = {b.name.removeprefix(VALUE): b.values for b in table.blocks if b.name.startswith(VALUE)}
    blocks = tuple(b for b in table.blocks if b.name not in OWN and not b.name.startswith(VALUE))
    cases, failed, reasons = (table[name].values for name in OWN)
    failures = dict(zip(map(int, failed), map(str, reasons), strict=True))
    return Part(cases, values, blocks, failures, float(known["seconds"]), dict(known["machine"]))


def _is_part(table: Table) -> bool:
    """Whether a table has the form of a part."""
    if not {*OWN} <= {block.name for block in table.blocks}:
        return False
    cases, failed, reasons = (table[name] for name in OWN)
    seconds, machine = table.attributes.get("seconds"), table.attributes.get("machine")
    return (
        (cases.dims, failed.dims, reasons.dims) == (("case",), ("failure",), ("failure",))
        and cases.values.dtype.kind == failed.values.dtype.kind == "i"
        and cases.values.min(initial=0) >= 0
        and len(np.unique(cases.values)) == len(cases.values)
        and bool(np.isin(failed.values, cases.values).all())
        and all(b.dims == ("case",) for b in table.blocks if b.name.startswith(VALUE))
        and all(b.dims[:1] == ("case",) or b.dims == (b.name,) for b in table.blocks if b.name not in OWN)
        and isinstance(seconds, int | float)
        and isfinite(seconds)
        and isinstance(machine, dict)
        and all(isinstance(text, str) for text in machine.values())
    )


def _agree(one: Array, other: Array) -> bool:
    """Whether values are the same, apart from the last digits of those that were drawn."""
    if one.dtype.kind != other.dtype.kind or one.dtype.kind not in "fi":
        return np.array_equal(one, other)
    return bool(np.allclose(one, other, rtol=SAME, atol=SAME * float(np.abs(other).max(initial=0.0))))


def _refuse_other(study: Mapping[str, Any], table: Table, path: Path, kind: str, then: str) -> None:
    """Refuses a file of another kind, or one that another study wrote."""
    if table.kind != kind or not belongs(table.attributes, study):
        raise _other(path, then)


def _other(path: Path, then: str) -> UsageError:
    return UsageError(f'"{path}" does not belong to the study in its folder.\n  Try: remove this file and {then}.')
