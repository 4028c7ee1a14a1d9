"""What parts of papers show: motions for the player, equations as formulas."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

import pendula
from pendula.equations.printing.mathml import MATHML, expression, formula
from pendula.papers.types import Animation, Text
from pendula.present.pictures.scenery.scenes import scene_of
from pendula.present.player.page import scene_json
from pendula.present.words.models import formula_groups
from pendula.results import Equations, Trajectory

FRAMES = 240
"""most frames of a motion in the report, which has to stay small"""


SHORTEST = 3.0
"""seconds that a motion takes on the screen: shorter ones are played in slow motion"""
SPEEDS = (1.0, 0.5, 0.25, 0.1, 0.05)


def animation(
    run: Trajectory, name: str, title: str, *, note: str = "", frames: int = FRAMES, signals: Sequence[str] = ()
) -> Animation:
    """A run as a motion for the player; ``signals`` are shown first below it, in place of the energies."""
    lasts = float(run.t[-1] - run.t[0])
    speed = next((x for x in SPEEDS if lasts / x >= SHORTEST), SPEEDS[-1])
    scene = dataclasses.replace(scene_of(run, signals=signals, speed=speed), title=title)
    return Animation(name, title, scene_json(scene, compact="run", max_frames=frames), note)


def matrix_formula(name: str, matrix: npt.NDArray[np.float64]) -> str:
    """A matrix of numbers as a formula; entries that are rounding errors are shown as zero. ``name`` is MathML."""
    floor = 1e-14 * float(np.abs(matrix).max(initial=0.0))
    rows = "".join(
        "<mtr>" + "".join(f"<mtd><mn>{_entry(x, floor)}</mn></mtd>" for x in row) + "</mtr>" for row in matrix.tolist()
    )
    return f'<math displaystyle="true">{name}<mo>=</mo><mtable class="matrix">{rows}</mtable></math>'


def _entry(x: float, floor: float) -> str:
    return "0" if abs(x) <= floor else f"{x:.5g}".replace("-", "−")


def symbolic_formula(name: str, matrix: sp.Matrix) -> str:
    """A matrix of SymPy expressions as a formula; ``name`` is that of a variable."""
    rows = [[expression(x) for x in matrix.row(k)] for k in range(matrix.rows)]
    return formula(MATHML.relation(expression(sp.Symbol(name)), "=", MATHML.matrix(rows)))


def formulas(model: Any, title: str, formulation: str = "lagrange") -> tuple[Text, ...]:
    """Equations of motion as formulas, with named intermediates unless they are small."""
    equations: Equations = pendula.derive(model, formulation)
    groups = formula_groups(equations).items()
    return tuple(Text(f"{title}: {words}", "".join(listed)) for words, listed in groups)
