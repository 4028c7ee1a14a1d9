"""Pictures of equilibria: on the potential that belongs to them, with what a proof left undecided."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import Rectangle

import pendula
from pendula import library
from pendula.analysis.equilibria.landscape import landscape


def _patches(figure):
    return [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]


def test_the_potential_is_that_of_the_parameters_of_the_equilibria():
    """The bead's effective potential at Omega = 3 has one minimum, at the bottom; at the model's Omega it has two."""
    hoop = pendula.compile_system(library.hoop_bead())
    slow = pendula.find_equilibria(hoop, parameters={"Omega": 3.0})
    drawn = landscape(hoop, slow)
    theta = drawn.axes[0]
    expected = -9.81 * np.cos(theta) - 9.0 / 2 * np.sin(theta) ** 2  # m = r = 1
    np.testing.assert_allclose(drawn.values - drawn.values.min(), expected - expected.min(), atol=1e-3)


def test_what_a_proof_left_undecided_is_hatched():
    hoop = pendula.compile_system(library.hoop_bead())
    at_the_bifurcation = pendula.find_equilibria(hoop, parameters={"Omega": float(np.sqrt(9.81))}, prove=5.0)
    assert at_the_bifurcation.undecided
    (box,) = _patches(pendula.plot(at_the_bifurcation))
    assert box.get_x() < 0 < box.get_x() + box.get_width()
    decided = pendula.find_equilibria(hoop, prove=5.0)
    assert _patches(pendula.plot(decided)) == []


def test_undecided_boxes_of_many_coordinates_are_drawn_over_two_of_them():
    chain = pendula.compile_system(library.chain(links=3, stiffness=2.0))
    found = pendula.find_equilibria(chain, prove=1e-3, starts=8)
    assert found.undecided
    figure = pendula.plot(found)
    assert len(_patches(figure)) == len(found.undecided)
    assert "undecided" in figure.get_suptitle()
    assert figure.axes[0].get_xlabel() == "theta1 [deg]"
