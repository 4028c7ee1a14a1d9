"""Exports solve for the multipliers of independent rows of G: never of rows that no free motion changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.exchange.blocks import blocks_of
from pendula.model import Model

AXIS = (0.0, 0.6, 0.8)
"""of all hinges; the links are along x"""


def parallelogram(motion: str | None) -> Model:
    """Two cranks of length 1 and a coupler of length 2 in a plane that is not one of the axes, closed by a hinge.

    With a motion all its hinges are driven, so no free speed is left in its loop; a rod swings beside it.
    """
    hinges: dict[str, tuple[Any, str, str | None]] = {
        "left": ("ground", "left", motion),
        "right": ({"body": "ground", "position": [2, 0, 0]}, "right", motion),
        "top": ({"body": "left", "position": [1, 0, 0]}, "coupler", None if motion is None else f"-({motion})"),
    }
    joints: list[dict[str, Any]] = [
        {"name": name, "type": "revolute", "axis": AXIS, "parent": parent, "child": child}
        | ({} if how is None else {"motion": how})
        for name, (parent, child, how) in hinges.items()
    ]
    pin = {"body": "coupler", "position": [2, 0, 0]}, {"body": "right", "position": [1, 0, 0]}
    joints.append({"name": "pin", "type": "loop", "kind": "revolute", "axis": AXIS, "parent": pin[0], "child": pin[1]})
    joints.append({"name": "swing", "type": "revolute", "axis": [0, 0, 1], "parent": "ground", "child": "rod"})
    lengths = {"left": 1.0, "right": 1.0, "coupler": 2.0}
    bodies = [{"name": n, "rod": {"mass": 1.0, "length": x, "axis": [1, 0, 0]}} for n, x in lengths.items()]
    bodies.append({"name": "rod", "rod": {"mass": 1.0, "length": 1.5, "axis": [0, -1, 0]}})
    initial = {"swing": 0.3} | ({"left": 0.5, "right": 0.5, "top": -0.5} if motion is None else {})
    return Model(name="parallelogram", gravity=[0, -9.81, 0], bodies=bodies, joints=joints, initial=initial)


@pytest.mark.parametrize("formulation", ["kane", "lagrange", "projection", "newton-euler"])
def test_a_loop_of_driven_hinges_alone_keeps_no_rows(formulation: str, tmp_path: Path) -> None:
    model = parallelogram("0.5 + 0.2*sin(t)")
    assert blocks_of(model, formulation, "test").rows == ()
    assert pendula.exchange.export(model, tmp_path / "loop.fmu", formulation=formulation).path.exists()


@pytest.mark.parametrize("formulation", ["kane", "lagrange", "projection", "newton-euler"])
def test_of_a_hinge_that_closes_a_plane_loop_two_independent_rows_are_kept(formulation: str) -> None:
    """The other three of its five rows are rounding, as everything moves in one plane."""
    found = blocks_of(parallelogram(None), formulation, "test")
    system = pendula.compile_system(found.equations)
    G = system.constraint_jacobian(found.start[: len(system.layout.coordinates)])[list(found.rows)]
    sizes = np.linalg.svd(G, compute_uv=False)
    assert G.shape[0] == 2
    assert sizes[-1] > 0.05 * sizes[0]
