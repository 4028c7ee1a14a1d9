"""Floquet multipliers and Lyapunov exponents with closed loops and in maximal coordinates."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import library
from pendula.model import Model

MULTIPLIERS = 1e-8  # of a mechanism with loops against its one-coordinate model


def shaken_four_bar(damping: float = 0.0, *, along: int = 1, both: bool = True) -> Model:
    """The four-bar of the library with its ground pivots shaken along x (0) or y (1), or the rocker's alone."""
    model = library.four_bar(crank_rate=0)
    joints = []
    for joint in model.joints:
        at = {"crank": [0, 0, 0], "rocker": ["d", 0, 0]}.get(joint.name)
        if at is not None and (both or joint.name == "rocker"):
            at[along] = f"{at[along]} + shake*cos(omega*t)"
        if at is None:
            joints.append(joint)
        else:
            joints.append(
                {
                    "name": joint.name, "type": "revolute", "parent": {"body": "ground", "position": at},
                    "child": joint.child.body, "measured_from": "ground",
                }
            )  # fmt: skip
    drag = {"name": "drag", "type": "generalized", "coordinate": "crank", "value": "-drag*crank_dot"}
    return model.with_changes(
        joints=joints,
        parameters=dict(model.parameters) | {"shake": 0.1, "omega": 9.0, "drag": damping},
        forces=[*model.forces, drag] if damping else list(model.forces),
    )


def one_coordinate(model: Model, crank: float) -> tuple[float, float]:
    """Inertia J and stiffness V'' of a four-bar as a mechanism of one coordinate, with 40 digits (bars as rods)."""
    values = {name: mpmath.mpf(x) for name, x in model.parameter_values.items()}
    a, b, c, d, rho, g = (values[n] for n in ("a", "b", "c", "d", "rho", "g"))

    def angles(q):
        """Crank, coupler and rocker from hanging down: the coupler's tip is where two circles meet (open branch)."""
        x, y = a * mpmath.sin(q), -a * mpmath.cos(q)
        across, up = d - x, -y
        gap = mpmath.hypot(across, up)
        slope = mpmath.atan2(across, -up)
        coupler = slope + mpmath.acos((b**2 + gap**2 - c**2) / (2 * b * gap))
        rocker = slope + mpmath.pi - mpmath.acos((c**2 + gap**2 - b**2) / (2 * c * gap))
        return q, coupler, rocker

    def centres(q):
        crank, coupler, rocker = angles(q)
        tip = (a * mpmath.sin(crank), -a * mpmath.cos(crank))
        return [
            (tip[0] / 2, tip[1] / 2),
            (tip[0] + b / 2 * mpmath.sin(coupler), tip[1] - b / 2 * mpmath.cos(coupler)),
            (d + c / 2 * mpmath.sin(rocker), -c / 2 * mpmath.cos(rocker)),
        ]

    masses = [rho * length for length in (a, b, c)]

    def potential(q):
        return sum(m * g * at[1] for m, at in zip(masses, centres(q), strict=True))

    q = mpmath.findroot(lambda s: mpmath.diff(potential, s), crank)
    inertia = mpmath.mpf(0)
    for k, (m, length) in enumerate(zip(masses, (a, b, c), strict=True)):
        x, y = (mpmath.diff(lambda s, k=k, j=j: centres(s)[k][j], q) for j in (0, 1))
        turn = mpmath.diff(lambda s, k=k: angles(s)[k], q)
        inertia += m * (x**2 + y**2) + m * length**2 / 12 * turn**2
    return float(inertia), float(mpmath.diff(potential, q, 2))


@pytest.fixture(scope="module")
def rest() -> dict[str, float]:
    """The stable equilibrium of the open branch, which hangs higher than that of the crossed one."""
    found = [e for e in pendula.find_equilibria(library.four_bar(crank_rate=0)) if e.unstable_directions == 0]
    still = max(found, key=lambda e: e.potential)
    return dict(zip(still.layout.coordinates, still.q.tolist(), strict=True))


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_multipliers_of_a_shaken_four_bar_are_those_of_its_one_coordinate_model(rest, damping):
    """Up and down shaking scales gravity: J e'' + c e' + V'' (1 - s omega^2 cos(omega t)/g) e = 0, by SciPy."""
    model = shaken_four_bar(damping)
    with mpmath.workdps(40):
        inertia, stiffness = one_coordinate(model, rest["crank"])
    values = model.parameter_values
    scale = values["shake"] * values["omega"] ** 2 / values["g"]

    def rates(t, y):
        pull = stiffness * (1 - scale * np.cos(values["omega"] * t))
        return [y[1], -(pull * y[0] + damping * y[1]) / inertia]

    period = 2 * np.pi / values["omega"]
    columns = [solve_ivp(rates, (0, period), e, rtol=1e-13, atol=1e-15, method="DOP853").y[:, -1] for e in np.eye(2)]
    expected = np.sort_complex(np.linalg.eigvals(np.array(columns).T))
    for formulation in ("kane", "maximal", "projection"):
        found = pendula.driven.floquet(pendula.compile_system(model, formulation), at=rest)
        assert found.period == pytest.approx(period)
        assert found.multipliers.shape == (2,)
        np.testing.assert_allclose(np.sort_complex(found.multipliers), expected, atol=MULTIPLIERS)


def test_a_loop_whose_own_pivot_moves_has_the_multipliers_of_nearby_motions(rest):
    """Shaking the rocker's pivot alone moves the loop itself; the reference are differences of simulated motions."""
    model = shaken_four_bar(0.5, along=0, both=False)
    system = pendula.compile_system(model)
    start = pendula.simulate(system, 200 * 2 * np.pi / 9.0, initial_state=rest, samples=2).state()
    found = pendula.driven.floquet(system, at=start.replace({}), close=True)
    assert found.closing_error < 1e-9
    assert found.verdict == "asymptotically stable"
    name = found.names[1]
    coordinate = name.removesuffix("_dot")

    def after(position: float, speed: float) -> np.ndarray:
        near = found.state.replace({coordinate: found.state[coordinate] + position, name: found.state[name] + speed})
        state = pendula.assemble(system, near, keep=[coordinate, name]).state
        run = pendula.simulate(system, found.period, initial_state=state, tol=1e-13, samples=2)
        return np.array([run[coordinate][-1], run[name][-1]])

    h = 1e-5
    columns = [(after(h, 0) - after(-h, 0)) / (2 * h), (after(0, h) - after(0, -h)) / (2 * h)]
    np.testing.assert_allclose(found.matrix, np.array(columns).T, atol=1e-6)


def test_exponent_with_loops_is_the_growth_rate_at_an_unstable_equilibrium():
    """Near an unstable equilibrium the exponent is the largest eigenvalue of the linear model."""
    upright = pendula.find_equilibria(library.four_bar(crank_rate=0))
    worst = max(upright, key=lambda e: e.unstable_directions or 0)
    assert worst.unstable_directions == 1
    rate = pendula.linear.spectrum("four-bar", worst).values.real.max()
    for formulation in ("kane", "maximal"):
        system = pendula.compile_system("four-bar", formulation)
        at = dict(zip(worst.layout.coordinates, worst.q.tolist(), strict=True))
        still = dict.fromkeys(worst.layout.speeds, 0.0)
        found = pendula.chaos.lyapunov(system, 4.0, initial_state=at | still, transient=2.5, segments=40)
        assert found.exponent == pytest.approx(rate, rel=2e-3)


def test_exponent_of_an_integrable_top_is_indistinguishable_from_zero():
    found = pendula.chaos.lyapunov("heavy-top", 100.0)
    assert found.zero
    assert "indistinguishable from zero" in " ".join(str(found).split())
