"""What parts of papers show: motions for the player, equations as formulas."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import sympy as sp

import pendula
from pendula.equations.printing.mathml import MATHML, expression, formula
from pendula.papers.types import Animation, Text
from pendula.present.pictures.scenery.scenes import scene_of
from pendula.present.player.page import scene_json
from pendula.present.words.models import formula_groups
from pendula.results import Equations, Trajectory

FRAMES = 240
"""largest number of frames of a motion in the report, which must stay small"""


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


def symbolic_formula(name: str, matrix: sp.Matrix) -> str:
    """A matrix of SymPy expressions as a formula; ``name`` is that of a variable."""
    rows = [[expression(x) for x in matrix.row(k)] for k in range(matrix.rows)]
    return formula(MATHML.relation(expression(sp.Symbol(name)), "=", MATHML.matrix(rows)))


def formulas(model: Any, title: str, formulation: str = "lagrange") -> tuple[Text, ...]:
    """Equations of motion as formulas, with named intermediates unless they are small."""
    equations: Equations = pendula.derive(model, formulation)
    groups = formula_groups(equations).items()
    return tuple(Text(f"{title}: {words}", "".join(listed)) for words, listed in groups)
