"""Sensitivities of runs against closed forms and against differences of runs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import NotSupported, UsageError
from pendula.model import Model
from pendula.results import Sensitivities, Trajectory
from tests.helpers.choices import slow_too
from tests.helpers.mechanisms import VARIANTS
from tests.helpers.numbers import Array
from tests.helpers.random_mechanisms import random_mechanism

AGREE = 1e-6
"""Largest difference from differences of runs, relative to the largest entry of the column over the run."""
GROWTH = 100.0
"""Runs are compared while initial deviations grow less than this."""
STEPS = 0.02 * 0.25 ** np.arange(5)
"""Steps of the differences, relative to the parameter."""
TIGHT = 1e-12
NOISE = 1e-8
"""Differences of runs at TIGHT over the first of STEPS cannot see less, for a change of a parameter by its own size."""
SMALL = 1e-5
"""An angle whose square is negligible."""


def point_pendulum(start: float = SMALL, **changes: object) -> Model:
    """A point mass on a massless rod that starts at half an angle, against its direction."""
    bob = {"name": "bob", "point": {"mass": "m", "at": [0, "-l", 0]}}
    pin = {"type": "revolute", "name": "theta", "parent": {"body": "ground"}, "child": {"body": "bob"}}
    parameters = {"g": 9.81, "l": 0.7, "m": 2.0, "start": start, "half": "start/2"}
    fields = {"name": "pendulum", "gravity": [0, "-g", 0], "parameters": parameters, "bodies": [bob], "joints": [pin]}
    return Model.model_validate(fields | {"initial": {"theta": "half", "theta_dot": "-start"}} | changes)


def richardson(run: Trajectory, name: str, count: int) -> Array:
    """Derivatives of joint coordinates and speeds by a name at the first samples, by central differences of runs.

    Every three consecutive steps are extrapolated twice; of these the one that the second extrapolation changes least.
    """
    system, first = run.system, {n: run[n][0] for n in (*run.joint_layout.coordinates, *run.joint_layout.speeds)}
    by_parameter = name in system.layout.parameters
    here = dict(zip(system.layout.parameters, run.parameters, strict=True))[name] if by_parameter else first[name]

    def moved(value: float) -> Array:
        given = {"parameters": {name: value}} if by_parameter else {"initial_state": {name: value}}
        other = pendula.simulate(system, samples=run.t, t_span=(run.t[0], run.t[-1]), tol=TIGHT, **given)
        assert other.ok, other
        return np.concatenate(other.joints, axis=1)[:count]

    unit = abs(here) if by_parameter and here else 1.0
    rows = [(moved(here + h) - moved(here - h)) / (2 * h) for h in unit * STEPS]
    once = [(16 * fine - coarse) / 15 for coarse, fine in pairwise(rows)]
    twice = [(256 * fine - coarse) / 255 for coarse, fine in pairwise(once)]
    return min(zip(twice, once[1:], strict=True), key=lambda pair: np.abs(pair[0] - pair[1]).max())[0]


def compared(run: Trajectory) -> float:
    """The largest relative difference from differences of runs, while deviations grow less than GROWTH."""
    layout = run.joint_layout
    every = pendula.sensitivities(run, [*layout.parameters, *layout.coordinates, *layout.speeds])
    first = len(layout.parameters)
    grown = np.abs(every.q[:, :, first : first + len(layout.coordinates)]).max(axis=(1, 2))
    count = int(np.argmax(grown > GROWTH)) if (grown > GROWTH).any() else len(run)
    assert count >= 5, "the mechanism is too sensitive for this test"
    worst = 0.0
    for name in every.names:
        found = np.concatenate([every.q, every.v], axis=1)[:count, :, every.names.index(name)]
        expected = richardson(run, name, count)
        unit = abs(dict(zip(layout.parameters, run.parameters, strict=True)).get(name, 1.0)) or 1.0
        if np.abs(expected).max() * unit < NOISE:  # nothing depends on it, such as a common factor of all masses
            assert np.abs(found).max() * unit < NOISE, name
        else:
            worst = max(worst, float(np.abs(found - expected).max() / np.abs(expected).max()))
    return worst


# --- against differences of runs -------------------------------------------------------------------------------


LIBRARY = [
    "double-pendulum", "spatial-rod: quaternion", "driven-chain: 1 link", "cart-pole", "heavy-top",
    "double-physical-pendulum", "chain: everything", "inverted-chain", "spring-mass-bar", "hoop-bead",
    "spherical-pendulum", "free-body", "driven-chain: relative", "chain: lists",
]  # fmt: skip
SEEDS = [19, 10, 0, 1, 2, 6, 7, 13, 16, 17, 22, 26]


@pytest.mark.parametrize("name", slow_too(LIBRARY[:3], LIBRARY[3:]))
def test_library_mechanisms_agree_with_differences_of_runs(name: str) -> None:
    run = pendula.simulate(VARIANTS[name](), 1.5, samples=31, tol=TIGHT)
    assert compared(run) <= AGREE


@pytest.mark.parametrize("seed", slow_too(SEEDS[:1], SEEDS[1:]))
def test_random_mechanisms_agree_with_differences_of_runs(seed: int) -> None:
    """Their parameters and inputs are expressions of others; some have balls, drives and forces of time."""
    run = pendula.simulate(random_mechanism(seed, closed=False), 1.0, samples=21, tol=TIGHT)
    assert compared(run) <= AGREE


@pytest.mark.parametrize("name", ["cart-pole", "spatial-rod: quaternion", "driven-chain: 1 link"])
def test_formulations_and_engines_give_the_same_derivatives(name: str) -> None:
    model, found = VARIANTS[name](), {}
    names = [*model.parameters, *(c.name for c in model.coordinates), *(c.name for c in model.speeds)]
    for way in ("kane", "lagrange", "newton-euler", "maximal", "recursive"):
        how = {"engine": way} if way == "recursive" else {"formulation": way}
        run = pendula.simulate(pendula.compile_system(model, **how), 1.0, samples=11, tol=1e-11)
        found[way] = pendula.sensitivities(run, names)
    for way, other in found.items():
        assert other.layout.coordinates == found["kane"].layout.coordinates
        np.testing.assert_allclose(other.q, found["kane"].q, rtol=0, atol=1e-8 * np.abs(found["kane"].q).max())
        np.testing.assert_allclose(
            other.v, found["kane"].v, rtol=0, atol=1e-8 * np.abs(found["kane"].v).max(), err_msg=way
        )


# --- closed forms ------------------------------------------------------------------------------------------------


def test_small_pendulum_matches_its_cosine() -> None:
    """theta = start/2 cos(w t) - start/w sin(w t) with w^2 = g/l."""
    run = pendula.simulate(point_pendulum(), 3.0, samples=41, tol=TIGHT)
    found, t = pendula.sensitivities(run, ["theta", "theta_dot", "start", "half", "l", "g", "m"]), run.t
    g, length = 9.81, 0.7
    w = np.sqrt(g / length)
    c, s = np.cos(w * t), np.sin(w * t)
    by_w = SMALL * (-t * s / 2 - t * c / w + s / w**2)
    expected = {
        "theta": c, "theta_dot": s / w, "start": c / 2 - s / w, "half": c, "l": -by_w * w / (2 * length),
        "g": by_w * w / (2 * g), "m": 0 * t,
    }  # fmt: skip
    for name, x in expected.items():
        np.testing.assert_allclose(found["theta", name], x, rtol=0, atol=1e-8 * np.abs(x).max() + 1e-15, err_msg=name)
    np.testing.assert_allclose(found["theta_dot", "start"], -w * s / 2 - c, rtol=0, atol=1e-8)


def test_falling_slider_matches_its_parabola() -> None:
    """x = x0 + v0 t + g t^2 / 2."""
    rail = {"type": "prismatic", "name": "x", "parent": {"body": "ground"}, "child": {"body": "a"}}
    model = Model.model_validate(
        {
            "name": "slider", "gravity": ["g", 0, 0], "parameters": {"g": 9.81, "m": 3.0, "x0": 0.4, "v0": -2.0},
            "bodies": [{"name": "a", "point": {"mass": "m"}}], "joints": [rail],
            "initial": {"x": "x0", "x_dot": "v0"},
        }
    )  # fmt: skip
    run = pendula.simulate(model, 2.0, samples=9)
    found, t = pendula.sensitivities(run, ["g", "x0", "v0", "m", "x", "x_dot"]), run.t
    one, none = np.ones_like(t), np.zeros_like(t)
    np.testing.assert_allclose(found.q[:, 0], np.transpose([t**2 / 2, one, t, none, one, t]), atol=1e-12)
    np.testing.assert_allclose(found.v[:, 0], np.transpose([t, none, one, none, none, one]), atol=1e-12)


# --- what follows a parameter ----------------------------------------------------------------------------------


def test_values_given_to_the_run_do_not_follow_the_model() -> None:
    run = pendula.simulate(
        point_pendulum(), 1.0, samples=5, parameters={"half": 2e-5}, initial_state={"theta_dot": 0.0}, tol=TIGHT
    )
    found = pendula.sensitivities(run, ["start", "half"])
    assert not found["theta", "start"].any()
    np.testing.assert_allclose(found["theta", "half"], np.cos(np.sqrt(9.81 / 0.7) * run.t), atol=1e-8)
    assert len(found.notes) == 2
    assert "half is 2e-05 instead of start/2" in found.notes[0]
    assert "theta_dot does not start" in found.notes[1]


def test_initial_rotations_follow_parameters() -> None:
    """A free body that does not move keeps the derivative of its quaternion (cos a/2, axis sin a/2)."""
    joint = {"type": "free", "name": "j", "parent": {"body": "ground"}, "child": {"body": "a"}}
    model = Model.model_validate(
        {
            "name": "body", "gravity": [0, 0, 0], "parameters": {"m": 1.0, "a": 0.8}, "joints": [joint],
            "bodies": [{"name": "a", "box": {"mass": "m", "size": [1, 2, 3]}}],
            "initial": {"j": {"axis": [0, 3, 4], "angle": "2*a"}},
        }
    )  # fmt: skip
    found = pendula.sensitivities(pendula.simulate(model, 1.0, samples=3), ["a"])
    names = [n for n in found.layout.coordinates if "_q" in n]
    expected = [-np.sin(0.8), 0.0, 0.6 * np.cos(0.8), 0.8 * np.cos(0.8)]
    for name, x in zip(names, expected, strict=True):
        np.testing.assert_allclose(found[name, "a"], x, atol=1e-12)


def test_inputs_follow_parameters() -> None:
    """m l^2 theta'' = T in free space with T = 3 k + k sin(t)."""
    torque = {"type": "generalized", "coordinate": "theta", "value": "T"}
    model = point_pendulum(
        gravity=[0, 0, 0], inputs={"T": "3*k + k*sin(t)"}, forces=[torque], initial={},
        parameters={"l": 0.5, "m": 2.0, "k": 0.3},
    )  # fmt: skip
    run = pendula.simulate(model, 2.0, samples=5, tol=TIGHT)
    found = pendula.sensitivities(run, ["k"])
    np.testing.assert_allclose(found["theta", "k"], (1.5 * run.t**2 + run.t - np.sin(run.t)) / 0.5, atol=1e-11)
    constant = pendula.simulate(model, 2.0, samples=5, tol=TIGHT, inputs={"T": "k**2"})
    np.testing.assert_allclose(pendula.sensitivities(constant, ["k"])["theta", "k"], 0.3 * run.t**2 / 0.5, atol=1e-11)


# --- refusals, and how results show themselves -----------------------------------------------------------------


def test_what_has_no_variational_equations_is_refused_by_name() -> None:
    with pytest.raises(NotSupported, match='" closes a loop'):
        pendula.sensitivities(pendula.simulate("four-bar", 0.1), ["g"])
    stick = {"type": "generalized", "name": "stick", "coordinate": "theta", "value": "-m*sign(theta_dot)"}
    with pytest.raises(NotSupported, match='force "stick" may have a kink'):
        pendula.sensitivities(pendula.simulate(point_pendulum(0.3, forces=[stick]), 0.1), ["g"])
    parameters = {"g": 9.81, "l": 0.7, "m": 2.0, "start": 0.3, "half": "abs(start)/2"}
    run = pendula.simulate(point_pendulum(parameters=parameters), 0.1, tol=1e-9)
    with pytest.raises(NotSupported, match='parameter "half" may have a kink'):
        pendula.sensitivities(run, ["start"])
    assert pendula.sensitivities(run, ["g"])["theta", "g"].any()


def test_wrong_arguments_are_refused() -> None:
    run = pendula.simulate(point_pendulum(0.3), 0.5, samples=3)
    with pytest.raises(UsageError, match="takes a run"):
        pendula.sensitivities("pendulum", ["g"])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match='no parameter, coordinate or speed "thetta"; did you mean "theta"'):
        pendula.sensitivities(run, ["thetta"])
    for names in ("g", [], ["g", "g"]):
        with pytest.raises(UsageError, match="parameters"):
            pendula.sensitivities(run, names)
    with pytest.raises(UsageError, match="tolerance must lie"):
        pendula.sensitivities(run, ["g"], tol=1.0)
    with pytest.raises(UsageError, match=r"began at t = 0, but its first sample is at t = 0\.1"):
        pendula.sensitivities(pendula.simulate(point_pendulum(0.3), 0.5, samples=[0.1, 0.5]), ["g"])
    found = pendula.sensitivities(run, ["g"])
    with pytest.raises(UsageError, match='no derivative by "m"'):
        found["theta", "m"]
    with pytest.raises(UsageError, match="two names"):
        found["theta"]  # type: ignore[index]


def test_a_coarse_run_is_noted() -> None:
    run = pendula.simulate(point_pendulum(0.3), 3.0, stepper="rk4", step=0.2)
    assert "departs from the run" in pendula.sensitivities(run, ["g"]).notes[-1]
    assert not pendula.sensitivities(pendula.simulate(point_pendulum(0.3), 3.0), ["g"]).notes


def test_text_names_units() -> None:
    found = pendula.sensitivities(pendula.simulate(library.pendulum(), 1.0, samples=5), ["l", "theta"])
    assert isinstance(found, Sensitivities)
    assert repr(found) == "<Sensitivities: derivatives by l, theta at 5 times, t = 0 to 1 s>"
    assert "theta_dot by l: largest" in str(found)
    assert "[rad/s per m]" in str(found)
    assert found.unit("theta", "theta") == "rad per rad"
    assert max(map(len, str(found).splitlines())) <= 80
