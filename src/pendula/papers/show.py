"""What parts of papers show: motions for the player, equations as formulas."""

from __future__ import annotations

import dataclasses
from typing import Any

import pendula
from pendula.equations.printing.mathml import write_mathml
from pendula.papers.types import Animation, Text
from pendula.present.pictures.scenes import scene_of
from pendula.present.player.page import scene_json
from pendula.results import Equations, Trajectory

FRAMES = 240
"""most frames of a motion in the report, which has to stay small"""


def animation(
    run: Trajectory, name: str, title: str, *, note: str = "", frames: int = FRAMES, kind: str = "run"
) -> Animation:
    """A run as a motion for the player."""
    scene = dataclasses.replace(scene_of(run), title=title)
    return Animation(name, title, scene_json(scene, compact=kind, max_frames=frames), note, kind)


def formulas(model: Any, title: str, formulation: str = "lagrange") -> tuple[Text, ...]:
    """Equations of motion as formulas, with named intermediates unless they are small."""
    equations: Equations = pendula.derive(model, formulation)
    grouped: dict[str, list[str]] = {}
    for formula in write_mathml(equations):
        grouped.setdefault(formula.words, []).append(formula.mathml)
    return tuple(Text(f"{title}: {words}", "".join(listed)) for words, listed in grouped.items())
