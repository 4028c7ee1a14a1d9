"""The plan of a study in its folder: values along all dimensions, so that results can be read without the model."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path

from pendula.errors import UsageError
from pendula.studies.plan import Plan
from pendula.tables.formats import read_table, write_table
from pendula.tables.table import Block, Table

PLAN = "plan.npz"


@dataclass(frozen=True, eq=False)
class SavedPlan:
    """What is known of a plan from its file: dimensions and the values along them."""

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


def write_plan(folder: Path, plan: Plan) -> None:
    """Writes the dimensions of a plan; again if they have grown."""
    table = Table("StudyPlan", tuple(plan.blocks()), plan.dims, {"shape": list(plan.shape)})
    path = folder / PLAN
    if path.exists() and read_table(path).attributes["shape"] == list(plan.shape):
        return
    write_table(table, path)


def read_plan(folder: Path) -> SavedPlan:
    """The dimensions of the study in a folder.

    Raises:
        UsageError: there are none.
    """
    path = folder / PLAN
    if not path.exists():
        raise UsageError(f'the study in "{folder}" has not begun: there is no {PLAN}')
    table = read_table(path)
    return SavedPlan(table.main, tuple(map(int, table.attributes["shape"])), table.blocks)
