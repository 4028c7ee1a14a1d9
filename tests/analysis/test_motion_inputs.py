"""Prescribed motions as inputs of linear models: frequency response, standing waves, beats, windows in time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special

import pendula
from pendula import library
from pendula.errors import NotAnEquilibrium, UsageError
from pendula.linear import forced_response, harmonic_response, linearize_motions
from pendula.model import Model, drive_window

DIFFERENCES = 1e-6  # central differences of accelerations with steps of 1e-5, relative to the largest entry
SMALL = 1e-5  # amplitude of nonlinear runs that are compared with the linear model; quadratic terms are below 1e-9


def crane(motion: str = "y0 + y1*t + y2*t**2/2") -> Model:
    """A trolley that moves as prescribed, with a damped double pendulum and a spring from the trolley to ground."""
    return Model(
        name="crane",
        gravity=[0, "-g", 0],
        parameters={"g": 9.81, "k": 3.0, "c": 0.2, "y0": 0.3, "y1": 0.0, "y2": 0.0},
        bodies=[
            {"name": "trolley", "point": {"mass": 1}},
            {"name": "upper", "rod": {"mass": 1, "length": 1}},
            {"name": "lower", "rod": {"mass": 2, "length": 0.7}},
        ],
        joints=[
            {
                "name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "trolley",
                "motion": motion,
            },
            {"name": "a", "type": "revolute", "parent": "trolley", "child": "upper"},
            {"name": "b", "type": "revolute", "parent": {"body": "upper", "at": "tip"}, "child": "lower"},
        ],
        forces=[
            {"type": "generalized", "coordinate": "a", "value": "-c*(a_dot - x_dot)"},
            {"type": "generalized", "coordinate": "b", "value": "-k*(b - x/2) - c*b_dot"},
        ],
    )  # fmt: skip


def loop(motion: str = "y0 + y1*t + y2*t**2/2") -> Model:
    """Five bars with gravity, whose far pivot moves along x."""
    bars = library.linkage(bars=5)
    data = bars.with_changes(parameters=dict(bars.parameters) | {"y0": 0.0, "y1": 0.0, "y2": 0.0})
    last = data.joints[-1]
    sides = {side: getattr(last, side) for side in ("parent", "child")}
    ground = next(side for side, value in sides.items() if value.body == "ground")
    x, y, z = sides[ground].position
    moved = {"body": "ground", "position": [f"{x} + {motion}", y, z]}
    other = next(side for side in sides if side != ground)
    joint = {"name": last.name, "type": last.type, ground: moved, other: sides[other]}
    return data.with_changes(joints=[*data.joints[:-1], joint])


@pytest.mark.parametrize(("make", "formulation"), [(crane, "maximal"), (loop, "kane")])
def test_columns_are_the_derivatives_of_nonlinear_accelerations(make, formulation):
    """The motion y0 + y1 t + y2 t^2/2 has any displacement, rate and acceleration at t = 0."""
    system = pendula.compile_system(make())
    rest = _rest(make("y0"))
    model = linearize_motions(pendula.compile_system(make(), formulation), rest)
    names = list(model.coordinates)

    def accelerations(**changes: float) -> np.ndarray:
        state = pendula.assemble(system, {n: rest[n] for n in rest}, keep=names, parameters=changes).state
        still = {n: 0.0 for n in model.speeds}
        state = pendula.assemble(system, state.replace(still), keep=[*names, *still], parameters=changes).state
        a = system.accelerations(state.q, state.v, 0.0, parameters=changes)
        return a[[system.layout.speeds.index(n) for n in model.speeds]]

    values = dict(make().parameter_values)
    h = 1e-5
    for name, matrix in zip(("y0", "y1", "y2"), (model.motions.D, model.motions.D1, model.motions.D2), strict=True):
        up, down = (accelerations(**{name: values[name] + s * h}) for s in (1, -1))
        expected = (up - down) / (2 * h)
        found = np.linalg.solve(model.M, matrix)[:, 0]
        np.testing.assert_allclose(found, expected, atol=DIFFERENCES * (1 + np.abs(expected).max()))


def _rest(held: Model) -> dict[str, float]:
    """An equilibrium of a model whose motion is a constant."""
    found = pendula.find_equilibria(held, starts=40)[0]
    return dict(zip(found.layout.coordinates, found.q.tolist(), strict=True))


def test_steady_state_and_transient_are_those_of_a_nonlinear_run_of_small_amplitude():
    model = crane(f"{SMALL}*cos(2.5*t)").with_parameters({"y0": 0.0})
    linear = linearize_motions(model, hold={"x": 0.0})
    run = pendula.simulate(model, 6.0, samples=61, tol=1e-13, initial_state={"a": 0.0, "b": 0.0})
    found = forced_response(linear, "x", 2.5, run.t, amplitude=SMALL)
    np.testing.assert_allclose(found["a"], run["a"], atol=1e-3 * SMALL)
    np.testing.assert_allclose(found["b_dot"], run["b_dot"], atol=1e-3 * SMALL)
    tip = found.point("lower", "tip")[:, 0]
    np.testing.assert_allclose(tip, run["lower.tip.x"], atol=1e-3 * SMALL)
    steady = harmonic_response(linear, "x", [2.5], amplitude=SMALL)
    np.testing.assert_allclose(found.steady[0], steady.response[0].real, atol=1e-12)


def test_state_space_takes_the_acceleration_of_the_motion():
    linear = linearize_motions(crane().with_parameters({"y0": 0.0}))
    A, B = linear.motions.state_space(linear)
    omega = 1.7
    x = np.linalg.solve(1j * omega * np.eye(len(A)) - A, B[:, 0] * -(omega**2))  # y'' of y = exp(i omega t)
    found = harmonic_response(linear, "x", [omega])
    np.testing.assert_allclose(x[:2], found.response[0], rtol=1e-10)
    np.testing.assert_allclose(x[4], 1.0, rtol=1e-10)


# --- a hanging rope, driven at its top -------------------------------------------------------------------


def rope(omega: float, height: np.ndarray, length: float, g: float = 9.81) -> np.ndarray:
    """Displacement of a rope per unit at its top, at heights above its free end (D. Bernoulli 1732; Routh 1892)."""
    return special.j0(2 * omega * np.sqrt(height / g)) / special.j0(2 * omega * np.sqrt(length / g))


def driven_ends(links: int) -> tuple[list[float], list[np.ndarray]]:
    """Frequencies midway between the resonances of a rope of length 1, and where the ends of the links go there."""
    zeros = special.jn_zeros(0, 4)
    omega = 0.25 * (zeros[:-1] + zeros[1:]) * np.sqrt(9.81)
    model = linearize_motions(library.driven_chain(links=links, length=f"1/{links}", mass=f"1/{links}"))
    found = harmonic_response(model, "theta1__x", omega)
    ends = np.array([found.point(f"link{k}", "tip")[:, 0].real for k in range(1, links + 1)])
    return omega.tolist(), list(ends.T)


def test_chain_driven_at_its_top_converges_to_the_standing_waves_of_a_rope():
    """Between the resonances (zeros of J0) the driven shape is finite; the error falls nearly as 1/n^2."""
    errors = []
    for links in (8, 16):
        omega, ends = driven_ends(links)
        height = 1.0 - np.arange(1, links + 1) / links
        errors.append(np.abs(ends[0] - rope(omega[0], height, 1.0)).max())
    assert errors[0] / errors[1] > 3.0
    # the rope crosses its rest position once for each resonance below the drive
    assert [int(np.sum(np.diff(np.sign([1.0, *x])) != 0)) for x in ends] == [1, 2, 3]


def test_resonances_of_the_chain_are_its_natural_frequencies_near_the_bessel_zeros():
    model = linearize_motions(library.driven_chain(links=12, length="1/12", mass="1/12"))
    found = harmonic_response(model, "theta1__x", [1.0])
    own = [r.frequency for r in found.resonances[:3]]
    assert all(r.infinite for r in found.resonances[:3])
    np.testing.assert_allclose(own, special.jn_zeros(0, 3) / 2 * np.sqrt(9.81), rtol=0.04)


# --- beats ------------------------------------------------------------------------------------------------


def test_beats_of_one_pendulum_follow_the_closed_form():
    g, omega, amplitude = 9.81, 3.0, 0.01
    own = np.sqrt(g)
    linear = linearize_motions(library.driven_chain(links=1, kind="point"))
    t = np.linspace(0, 60, 601)
    found = forced_response(linear, "theta1__x", omega, t, amplitude=amplitude)
    size = amplitude * omega**2 / (g - omega**2)  # e'' + g e = amplitude omega^2 cos(omega t)
    np.testing.assert_allclose(found["theta1"], size * (np.cos(omega * t) - np.cos(own * t)), atol=1e-12)
    beat = found.beats[0]
    assert beat.period == pytest.approx(2 * np.pi / (own - omega))
    assert beat.largest == pytest.approx([2 * size])
    assert beat.least == pytest.approx([0.0], abs=1e-12)
    np.testing.assert_allclose(found.envelope("theta1"), 2 * size * np.abs(np.sin((own - omega) * t / 2)), atol=1e-12)


def test_motion_grows_in_proportion_to_time_at_resonance():
    linear = linearize_motions(library.driven_chain(links=1, kind="point"))
    own = float(pendula.modes(linear).frequencies[0])
    t = np.linspace(0, 20, 41)
    found = forced_response(linear, "theta1__x", own, t, amplitude=0.001)
    np.testing.assert_allclose(found["theta1"], 0.0005 * own * t * np.sin(own * t), atol=1e-9)
    assert found.beats == ()
    with pytest.raises(UsageError, match="no envelope"):
        found.envelope("theta1")


def test_damped_response_is_that_of_an_independent_integration():
    linear = pendula.linearize("double-pendulum", {"theta1": 0.0, "theta2": 0.0})
    force = np.array([2.0, -1.0])
    t = np.linspace(0, 0.5, 11)
    found = forced_response(linear, force, 30.0, t, e0={"theta1": 0.01})

    def rates(s, y):
        return linear.A @ y + np.concatenate([[0, 0], np.linalg.solve(linear.M, force * np.cos(30.0 * s))])

    other = integrate.solve_ivp(rates, (0, 0.5), [0.01, 0, 0, 0], t_eval=t, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found.e, other.y[:2].T, atol=1e-9)


def test_what_cannot_be_held_is_refused():
    with pytest.raises(UsageError, match="no prescribed motion"):
        linearize_motions("pendulum")
    with pytest.raises(UsageError, match='no prescribed motion "y"'):
        linearize_motions(crane(), hold={"y": 1.0})
    with pytest.raises(NotAnEquilibrium):
        linearize_motions(crane(), {"a": 1.0})
    with pytest.raises(UsageError, match="linearize_motions adds motions"):
        harmonic_response(pendula.linearize("hoop-bead", {"theta": np.pi}), "spin")


# --- windows ----------------------------------------------------------------------------------------------


def test_a_chain_pulled_for_half_a_period_keeps_its_energy_afterwards():
    model = library.driven_chain(links=3, until="pi/omega")
    stop = np.pi / model.parameter_values["omega"]
    run = pendula.simulate(model, 3 * stop, samples=301, tol=1e-11)
    after = run.t > stop
    np.testing.assert_allclose(run["theta1__x"][after], -0.05, rtol=1e-12)
    np.testing.assert_allclose(run["theta1__x"][~after], 0.05 * np.cos(np.pi * run.t[~after] / stop), atol=1e-12)
    assert np.ptp(run["energy"][after]) < 1e-8
    assert np.ptp(run["energy"][~after]) > 1e-3


def test_a_window_shifts_the_motion_and_refuses_a_jump():
    model = drive_window(crane("y0*cos(3*t)"), since=0.5, until="0.5 + pi/3")
    run = pendula.simulate(model, 2.0, samples=201, initial_state={"a": 0.1})
    expected = np.where(run.t < 0.5, 0.3, np.where(run.t < 0.5 + np.pi / 3, 0.3 * np.cos(3 * (run.t - 0.5)), -0.3))
    np.testing.assert_allclose(run["x"], expected, atol=1e-12)
    with pytest.raises(UsageError, match="jump"):
        pendula.simulate(drive_window(crane("y0*cos(3*t)"), until=0.2), 1.0)
    with pytest.raises(UsageError, match="no motion is prescribed"):
        drive_window(library.pendulum(), until=1.0)


def test_motions_that_gears_join_vary_together_or_not_at_all():
    """b follows a with the ratio 2, and c with the ratio 1: c can only be twice a."""
    link = {"mass": 1, "length": 1}
    moved = {"a": "0.1*sin(t)", "c": "0.2*sin(t)"}
    names = "abcd"
    model = Model(
        name="gears",
        gravity=[0, -9.81, 0],
        bodies=[{"name": f"link {x}", "rod": link} for x in names],
        joints=[
            *(
                {
                    "name": x,
                    "type": "revolute",
                    "parent": {"body": "ground" if x != "d" else "link b", "position": [0, 0, 0]},
                    "child": f"link {x}",
                    **({"motion": moved[x]} if x in moved else {}),
                }
                for x in names
            ),
            {"name": "gear1", "type": "coupling", "value": "b - 2*a"},
            {"name": "gear2", "type": "coupling", "value": "b - c"},
        ],
    )
    linear = linearize_motions(model)
    found = harmonic_response(linear, {"a": 1.0, "c": 2.0}, [1.0])
    assert found["b"][0] == pytest.approx(2.0)
    # d hangs on the same pivot, relative to b: l^2/3 (b + d)'' + g l/2 (b + d) = 0 at rest in space
    assert found["d"][0] == pytest.approx(-2.0)
    for given in ("a", "c", {"a": 1.0, "c": 1.9}):
        with pytest.raises(UsageError, match="join the prescribed motions a, c"):
            harmonic_response(linear, given, [1.0])
    with pytest.raises(UsageError, match="cannot move independently"):
        forced_response(linear, "a", 1.0)
    with pytest.raises(UsageError, match="cannot move independently"):
        linear.motions.state_space(linear)
