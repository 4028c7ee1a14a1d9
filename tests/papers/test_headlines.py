"""Headline numbers of the papers, recomputed: from the papers where they are right, else from closed forms."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from pendula.papers.registry import papers, parts_of
from pendula.papers.types import Line

EXACT = 1e-9


@lru_cache
def lines(number: str, name: str) -> dict[str, Line]:
    """The lines of one part by their place in the paper."""
    (paper,) = papers([number])
    (part,) = (part for part in parts_of(paper) if part.name == name)
    return {line.where: line for line in part.compute(**part.inputs).lines}


def corrected(number: str, name: str, where: str) -> dict[str, float]:
    """The evidence of a line that is corrected."""
    line = lines(number, name)[where]
    assert line.verdict == "corrected", line
    return dict(line.evidence)


def reproduced(number: str, name: str, where: str) -> dict[str, float]:
    """The evidence of a line that is reproduced."""
    line = lines(number, name)[where]
    assert line.verdict == "reproduced", line
    return dict(line.evidence)


# --- 000 ----------------------------------------------------------------------------------------------------


def test_equation_of_theta_is_wrong_but_for_unit_mass_and_length() -> None:
    found = corrected("000", "equations", "equation of theta")
    assert found["largest relative difference, data of the paper"] < EXACT
    assert found["largest relative difference, corrected"] < EXACT
    assert found["largest relative difference, other data"] > 0.1


def test_gravity_along_minus_y_leaves_the_bottom_unbalanced() -> None:
    found = corrected("000", "gravity", "gravity")
    for phi in (0.3, 1.0, 2.5):
        assert found[f"moment at phi = {phi:g}"] == pytest.approx(-9.81 * np.sin(phi), rel=EXACT)


def test_second_pair_in_angles_is_undetermined_and_conical_motion_has_zeros() -> None:
    found = corrected("000", "spectra", "spectrum in angles")
    assert (found["infinite roots"], found["determinant at s = 1.7"]) == (0, 0.0)
    cone = corrected("000", "spectra", "cause of the second pair")
    assert cone["zero roots of conical motion"] == 2
    rate = np.sqrt(9.81 / np.cos(0.7))
    assert cone["frequency of conical motion"] == pytest.approx(rate * np.sqrt(1 + 3 * np.cos(0.7) ** 2), rel=EXACT)
    assert reproduced("000", "spectra", "spectrum in x and y")["frequency"] == pytest.approx(
        3.132091952673165, rel=1e-15
    )


# --- 001 ----------------------------------------------------------------------------------------------------


def test_roots_and_frequencies_of_the_double_pendulum() -> None:
    slow = corrected("001", "roots", "example 5, λ₃,₄")
    assert slow["real part, computed"] == pytest.approx(-0.91783354, abs=5e-9)
    fast = reproduced("001", "roots", "example 5, λ₁,₂")
    assert fast["imaginary part, computed"] == pytest.approx(94.2296, abs=5e-5)
    assert corrected("001", "frequencies", "example 6, ω₂")["ω₂, computed"] == pytest.approx(94.9784365, abs=5e-8)
    assert reproduced("001", "frequencies", "example 6, ω₁")["ω₁, computed"] == pytest.approx(21.4405363, abs=5e-8)


def test_eigenvectors_of_example_7_to_nine_digits() -> None:
    for k in (1, 3):
        reproduced("001", "eigenvectors", f"example 7, eigenvector {k}")


def test_equation_43_as_printed_has_real_roots() -> None:
    found = corrected("001", "matrices", "eq. 43 and the line before")
    assert found["largest eigenvalue as printed"] == pytest.approx(94.9784365, abs=5e-8)
    reproduced("001", "matrices", "eq. 30")


def test_repeated_zero_roots_let_a_body_move_away() -> None:
    found = corrected("001", "theory", "stability of one degree of freedom")
    assert found["moved"] == pytest.approx(0.01, rel=1e-9)


def test_bar_on_a_disc_has_three_equilibria_and_other_digits() -> None:
    found = corrected("001", "disc", "8.4 a)")
    assert (found["equilibria"], found["angle [deg]"]) == (3, pytest.approx(58.6915, abs=5e-5))
    stiffness = corrected("001", "disc", "8.4 b), stiffness")
    assert stiffness["coefficient of Δθ, computed"] == pytest.approx(133.4796, abs=5e-5)


# --- 004 ----------------------------------------------------------------------------------------------------


def test_tataru_printed_and_corrected() -> None:
    assert corrected("004", "bodies", "eq. 3, lower left")["power of the mass"] == pytest.approx(2.0)
    rate = corrected("004", "differentiated", "eq. 41, upper left")
    assert rate["error of the rate as printed"] > 1
    assert rate["difference of accelerations [rad/s^2]"] > 1
    assert corrected("004", "differentiated", "eq. 37, first term")["left over corrected"] < 1e-12
    order = corrected("004", "differentiated", "eqs. 38, 40, 41, lower blocks")
    assert (order["in the plane"], order["in space, R omega"]) == (0.0, pytest.approx(0.0, abs=1e-9))
    assert corrected("004", "sizes", "eq. 22, lower right")["change of the constraint forces"] < 1e-12
    corrected("004", "differentiated", "eq. 42")


# --- 003 ----------------------------------------------------------------------------------------------------


def test_inertia_of_a_link_with_its_mass_centre_off_the_middle() -> None:
    m, L, d = 1.3, 0.9, 0.25
    end = corrected("003", "inertia", "eqs. 1, 4")
    assert end["eq. 4"] == pytest.approx(m * (L**2 + L * d + 2 * d**2) / 6)
    own = corrected("003", "inertia", "eqs. 2, 3, 5")
    assert own["mass centre of eq. 2"] == pytest.approx((L + 2 * d) / 4)
    assert own["consistent inertia"] == pytest.approx(m * d * (L - d) / 3)


def test_dae_method_as_printed_and_corrected() -> None:
    reproduced("003", "maximal", "eqs. 32-46, corrected")
    for equation in ("38", "40", "45"):
        assert corrected("003", "maximal", f"eq. {equation}")["largest difference [rad/s^2]"] > 1
    singular = corrected("003", "maximal", "eqs. 46, 54")
    assert singular["rank as printed"] < singular["rank corrected"] == 15
    assert corrected("003", "maximal", "eqs. 50, 54")["equations"] == 27


# --- heavier parts ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_code_of_the_spatial_pendulum_loses_energy_from_the_spatial_start_only() -> None:
    found = corrected("002", "motions", "section 3")
    assert found["spatial, as printed [J]"] == pytest.approx(0.85, abs=0.005)
    assert found["planar, as printed [J]"] < 1e-8
    assert max(found["planar, corrected [J]"], found["spatial, corrected [J]"]) < 1e-8
    assert corrected("002", "motions", "figure 5")["distance from the plane [m]"] < 1e-9


@pytest.mark.slow
def test_inertia_and_appendix_of_the_spatial_pendulum() -> None:
    found = corrected("002", "inertia", "I^c after eq. 10")
    assert found["frequency as printed [rad/s]"] == pytest.approx(
        np.sqrt(0.5 * 9.8 / (7 / 12 + 0.02**2 / 16)), rel=1e-9
    )
    assert found["frequency [rad/s]"] == pytest.approx(np.sqrt(0.5 * 9.8 / (1 / 3 + 0.02**2 / 16)), rel=1e-9)
    count = reproduced("002", "appendix", "A.1, number of terms")
    assert count["before"] > 1000
    assert count["after four stages"] == count["printed"] == 15
    assert corrected("002", "appendix", "A.1, signs")["with two minus signs"] < 1e-12
    assert corrected("002", "appendix", "A.2, after simplification")["corrected"] == pytest.approx(
        2.5 * (1 / 3 + 0.02**2 / 16)
    )
    corrected("002", "appendix", "A.2, before simplification")
    reproduced("002", "coordinates", "abstract")


@pytest.mark.slow
def test_equations_28_and_29_and_the_index_of_24() -> None:
    for where in ("eq. 15", "eq. 24", "eqs. 28, 29", "eq. 14, second line"):
        corrected("003", "minimal", where)
    for where in ("eq. 15, corrected", "eqs. 28, 29, corrected"):
        reproduced("003", "minimal", where)


@pytest.mark.slow
def test_beats_follow_the_rule_in_the_limit_only() -> None:
    found = corrected("003", "beats", "5.3, beat frequency")
    assert found["smallest drive [s]"] == pytest.approx(found["rule [s]"], rel=0.01)
    assert found["largest drive [s]"] < found["rule [s]"] / 3


@pytest.mark.slow
def test_divergence_has_no_limit_and_a_threshold_that_is_exceeded_at_once() -> None:
    assert corrected("003", "divergence", "5.5, threshold")["diverged at t = 0"] == 20
    assert corrected("003", "divergence", "5.5, limit")["seconds per decade"] > 0.4


@pytest.mark.slow
def test_without_gravity_the_motion_does_not_become_circular() -> None:
    found = corrected("003", "weightless", "5.4, no gravity, first link")
    # first of ten rods of 1 m and 1 kg turning: L and E from M, with all links straight
    arms = np.array([[1.0 if i < k else 0.5 if i == k else 0.0 for i in range(10)] for k in range(10)])
    M = arms.T @ arms + np.eye(10) / 12
    share = M[:, 0].sum() ** 2 / M.sum() / M[0, 0]
    assert found["share of a straight chain"] == pytest.approx(share, rel=1e-9)
    assert found["share at the end"] < 0.95


@pytest.mark.slow
@pytest.mark.parametrize("number", ["000", "001", "002", "003", "004"])
def test_every_part_computes(number: str) -> None:
    (paper,) = papers([number])
    for part in parts_of(paper):
        assert lines(number, part.name), part.name
