"""Verdicts that once were wrong: stiff springs beside soft ones, hidden energy, higher-order terms, Jordan blocks."""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula.analysis.linear.quadratic import longest_chain
from tests.helpers.choices import slow_too


def masses(*forces: str) -> pendula.Model:
    """Unit masses on rails of their own; a force on each, as an expression of x0, x1, ... and their rates."""
    count = range(len(forces))
    return pendula.Model(
        name="masses on rails",
        gravity=[0, 0, 0],
        bodies=[{"name": f"mass {k}", "mass": 1.0} for k in count],
        joints=[
            {"name": f"x{k}", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": f"mass {k}"}
            for k in count
        ],
        forces=[{"type": "generalized", "coordinate": f"x{k}", "value": f} for k, f in enumerate(forces)],
    )


def judged(*forces: str) -> pendula.results.Stability:
    return pendula.stability(masses(*forces), {})


@pytest.mark.parametrize("stiffness", [1e6, 1e10, 1e12, 1e13, 1e15])
def test_a_stiff_neighbour_does_not_hide_what_grows(stiffness: float) -> None:
    """x0'' = x0 grows like exp(t), however stiff x1 is."""
    found = judged("x0", f"-{stiffness}*x1")
    assert found.verdict == "unstable"
    assert found.spectrum.values.real.max() == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("size", [2, 12])
def test_a_stiff_neighbour_hides_nothing_in_many_cases_at_once(size: int) -> None:
    """x0'' = x0 beside springs of 1e13, by the roots of many linear models at once."""
    from pendula.analysis.linear.quadratic import undamped_of_many

    K = np.diag([-1.0, *[1e13] * (size - 1)])
    many = np.stack([K, np.eye(size)])
    values, solved = undamped_of_many(np.stack([np.eye(size)] * 2), 0.0 * many, many)
    assert solved.all()
    np.testing.assert_allclose(values[0].real.max(), 1.0, rtol=1e-9)
    np.testing.assert_allclose(np.abs(values[1]), 1.0, rtol=1e-12)


@pytest.mark.parametrize("stiffness", [1e6, 1e10, 1e13])
def test_a_stiff_neighbour_does_not_hide_what_swings(stiffness: float) -> None:
    found = judged("-4*x0", f"-{stiffness}*x1")
    assert found.verdict == "stable"
    assert np.abs(found.spectrum.values.imag).min() == pytest.approx(2.0, rel=1e-9)


def test_a_damped_neighbour_does_not_hide_energy_that_comes_in() -> None:
    """x0'' = -x0 + 0.05 x0'^3 grows; x1 loses more energy than that at most states."""
    found = judged("-x0 + 0.05*x0_dot**3", "-x1 - x1_dot")
    assert found.verdict == "undecided"
    assert "adds energy" in found.proof
    assert judged("-x0 - 0.05*x0_dot**3", "-x1 - x1_dot").verdict == "stable"


@pytest.mark.parametrize("small", [1e-1, 1e-3, 1e-4, 1e-6, 1e-8])
def test_small_terms_of_low_order_decide(small: float) -> None:
    """V = x^6 - small x^4 has no minimum at 0; V = x^6 + small x^4 has one."""
    falls, rises = judged(f"-6*x0**5 + 4*{small}*x0**3"), judged(f"-6*x0**5 - 4*{small}*x0**3")
    assert (falls.verdict, rises.verdict) == ("unstable", "stable")
    assert "order 4 falls" in falls.proof
    assert "order 4 rises" in rises.proof


@pytest.mark.parametrize(
    ("order", "verdict"),
    [(3, "unstable"), (4, "stable"), (5, "unstable"), (6, "stable"), (8, "stable"), (12, "stable")],
)
def test_the_first_term_decides(order: int, verdict: str) -> None:
    found = judged(f"-{order}*x0**{order - 1}")
    assert found.verdict == verdict
    assert f"order {order} " in found.proof


def test_beyond_the_highest_order_nothing_is_said() -> None:
    found = judged("-14*x0**13")
    assert found.verdict == "undecided"
    assert "up to order 12 vanish" in found.proof


def test_couplings_are_reduced_out() -> None:
    """V = x^4 + (y - 2 x^2)^2/2 - 2 x^2 y + ... : along x, with y where it balances, the fourth order decides.

    V = y^2/2 - a x^2 y + x^4 has, with y = a x^2, the reduced potential (1 - a^2/2) x^4.
    """
    for a, verdict in ((1.0, "stable"), (1.3, "stable"), (1.5, "unstable"), (2.0, "unstable")):
        found = judged(f"2*{a}*x0*x1 - 4*x0**3", f"{a}*x0**2 - x1")
        assert found.verdict == verdict, a
        assert "order 4" in found.proof


@pytest.mark.parametrize("forces", [("2*x1_dot", "-2*x0_dot + 4*x1"), ("-x1", "0*x0")])
def test_jordan_blocks_are_not_called_bounded(forces: tuple[str, str]) -> None:
    """Both have the characteristic polynomial s^4 and one eigenvector: motion grows like t^3."""
    found = judged(*forces)
    assert found.verdict == "undecided"
    assert "Jordan block of size 4" in found.proof
    assert "bounded" not in found.proof


def test_sizes_of_jordan_blocks() -> None:
    one, none = np.eye(1), np.zeros((1, 1))
    assert longest_chain(one, none, one) == 0
    assert longest_chain(one, none, none) == 2  # a free mass drifts
    assert longest_chain(one, one, none) == 1  # a damped one stops somewhere
    coupled = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert longest_chain(np.eye(2), np.zeros((2, 2)), coupled) == 4


@pytest.mark.parametrize("stiffness", [1e6, 1e8, 1e9, 1e10, 1e12])
def test_a_stiff_spring_on_the_cart_leaves_its_pendulum_two_equilibria(stiffness: float) -> None:
    """Whether searched or proven: hanging, with the potential least, and upright, where it falls in one direction."""
    spring = {"type": "spring", "joint": "x", "stiffness": stiffness, "length": 0.0}
    cart = pendula.library.cart_pole().with_changes(
        forces=[spring], parameters={"M": 1.0, "m": 1.0, "l": 1.0, "g": 9.81}
    )
    for found in (pendula.find_equilibria(cart), pendula.find_equilibria(cart, prove=30)):
        assert [(round(one["theta"], 6), one.unstable_directions) for one in found] == [(0.0, 0), (3.141593, 1)]
        assert not any(one.free_directions or one.flat_directions for one in found)
    assert [pendula.stability(cart, one).verdict for one in found] == ["stable", "unstable"]


@pytest.mark.parametrize("name", slow_too(["two equal pendulums"], ["spherical pendulum"]))
def test_equal_frequencies_do_not_make_a_symbolic_model_unstable(name: str) -> None:
    """Both squares of frequencies are g/l: a double root of the polynomial, and all roots on the imaginary axis."""
    from pendula.model import Model

    if name == "spherical pendulum":
        model, at = pendula.library.spherical_pendulum(chart="xy"), {"x": 0, "y": 0}
    else:
        pins = [{"name": f"a{k}", "type": "revolute", "parent": "ground", "child": f"rod{k}"} for k in (1, 2)]
        rods = [{"name": f"rod{k}", "rod": {"mass": "m", "length": "l"}} for k in (1, 2)]
        model = Model(
            name=name, gravity=[0, "-g", 0], parameters={"m": 1.0, "l": 1.0, "g": 9.81}, bodies=rods, joints=pins
        )
        at = {}
    found = pendula.linear.linearize_symbolic(model, at)
    assert found.stable_if == "always all roots on the imaginary axis"


def test_a_top_that_can_be_integrated_is_not_called_chaotic() -> None:
    """Phases of neighbouring motions drift apart in proportion to time: ln(10)/90 s = 0.0256/s between 10 s and 100 s."""
    found = pendula.chaos.lyapunov("heavy-top", 100.0)
    assert not found.grows
    assert 0.5 < found.power < 2.0
    assert "indistinguishable from zero" in " ".join(str(found).split())
    chaotic = pendula.chaos.lyapunov(pendula.library.chain(links=2), 60.0, initial_state={"theta1": 2.0, "theta2": 2.5})
    assert chaotic.grows


def test_a_small_difference_is_printed_with_enough_digits() -> None:
    wrong = {"equations": ["m*l**2/3*theta_ddot + 1.000001*m*g*l/2*sin(theta) = 0"]}
    found = pendula.derivation.check_against(pendula.library.pendulum(), wrong)
    assert "-14.715 by the model and -14.715015 by these" in found.sentence


def test_forces_that_leave_their_domain_give_an_answer() -> None:
    """-9 sqrt(theta) exists for theta >= 0 only, and has no derivative at 0, where everything balances."""
    force = {"type": "generalized", "coordinate": "theta", "value": "-9*sqrt(theta)"}
    found = pendula.find_equilibria(pendula.library.pendulum().with_changes(forces=[force]))
    assert (len(found), found.complete) == (0, "undecided")
    assert "at theta = 0" in found.reason
    shifted = {"type": "generalized", "coordinate": "theta", "value": "3 - 9*sqrt(theta)"}
    found = pendula.find_equilibria(pendula.library.pendulum().with_changes(forces=[shifted]))
    assert [round(one["theta"], 6) for one in found] == [round(balance_of_root(), 6)]
    assert found.complete == "proven"


def balance_of_root() -> float:
    """3 = 9 sqrt(theta) + 4.905 sin(theta), by bisection."""
    from scipy.optimize import brentq

    return float(brentq(lambda x: 3 - 9 * np.sqrt(x) - 4.905 * np.sin(x), 1e-9, 1.0, xtol=1e-14))


@pytest.mark.parametrize("damping", ["", " - x0_dot"])
def test_two_equilibria_that_merge_are_not_called_stable(damping: str) -> None:
    """-x^3 + 3 x - 2 = -(x - 1)^2 (x + 2): at x = 1 the force pushes to one side, though rounding may hide that."""
    model = masses(f"-x0**3 + 3*x0 - 2{damping}")
    found = {round(one["x0"]): pendula.stability(model, one) for one in pendula.find_equilibria(model, box={"x0": 3})}
    assert set(found) == {-2, 1}
    assert found[1].verdict == "unstable"
    assert found[-2].is_stable


def test_forces_that_are_small_everywhere_nearby_have_their_sign() -> None:
    """exp(-50 x^2) leaves 4e-44 of a typical force at sqrt 2, and still the force restores there."""
    model = masses("-(x0**2 - 2)*exp(-x0**2*50)")
    for one in pendula.find_equilibria(model, box={"x0": 3}):
        assert pendula.stability(model, one).verdict == ("stable" if one["x0"] > 0 else "unstable")


@pytest.mark.parametrize("power", [2, 5, 9, 10])
def test_multiple_equilibria_are_found_where_they_are(power: int) -> None:
    """Newton's method converges slowly to them, and their residual is small long before."""
    model = masses(f"-(x0 - 1)**{power}")
    (one,) = pendula.find_equilibria(model, box={"x0": 3})
    assert one["x0"] == pytest.approx(1.0, abs=1e-7)
    assert pendula.stability(model, one).verdict == ("stable" if power % 2 else "unstable")
