"""States and runs in other charts of their orientations, and where charts are singular."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import NotSupported, SingularPose, UsageError
from pendula.model.joints.orientation import chart_named
from pendula.system.orientation import maps as ori
from pendula.system.orientation.singularities import singular_values_of
from tests.agreement.test_orientations import CHARTS

ROUNDING = 1e-12
START = {"phi": 0.4, "theta": -1.1, "psi": 2.3, "phi_dot": 0.7, "theta_dot": -0.2, "psi_dot": 1.9}


@pytest.mark.parametrize("chart", CHARTS)
def test_there_and_back(chart: str) -> None:
    system = pendula.compile_system("spatial-rod")
    state = system.state(START)
    for speeds in ("body", "parent") if chart == "quaternion" else ("rates", "body", "parent"):
        there = pendula.convert(state, chart, speeds=speeds)
        back = pendula.convert(there, system, near=state)
        assert np.abs(back.q - state.q).max() < ROUNDING
        assert np.abs(back.v - state.v).max() < ROUNDING


def test_states_of_a_whole_mechanism() -> None:
    """A free box with a rod on a ball joint: each joint gets its own chart; positions and other names stay."""
    joints = [
        {"name": "fly", "type": "free", "parent": "ground", "child": "box", "orientation": "xyz"},
        {"name": "ball", "type": "spherical", "parent": "box", "child": "rod", "orientation": "zyz"},
    ]
    bodies = [{"name": name, "box": {"mass": 1.0, "size": [1.0, 0.2, 0.1]}} for name in ("box", "rod")]
    system = pendula.compile_system(pendula.Model(name="two", gravity=[0, 0, 0], bodies=bodies, joints=joints))
    rng = np.random.default_rng(3)
    state = system.state(
        dict(zip((*system.layout.coordinates, *system.layout.speeds), rng.normal(size=18), strict=True))
    )
    there = pendula.convert(state, {"fly": "quaternion", "ball": "rotation vector"})
    assert there.layout.coordinates[:7] == ("fly_x", "fly_y", "fly_z", "fly_q0", "fly_q1", "fly_q2", "fly_q3")
    assert there["fly_y"] == state["fly_y"]
    assert there["fly_z_dot"] == state["fly_z_dot"]
    back = pendula.convert(there, system, near=state)
    assert np.abs(back.q - state.q).max() < ROUNDING
    assert np.abs(back.v - state.v).max() < 1e-11


def test_the_nearest_turn_is_chosen() -> None:
    state = pendula.compile_system("spatial-rod").state({"phi": 12.0, "theta": 1.0, "psi": -8.0})
    turned = pendula.convert(state, "quaternion")
    near = {"ball_1": 12.3, "ball_2": 0.8, "ball_3": -8.1}
    assert np.abs(pendula.convert(turned, "zyz", near=near).q - [12.0, 1.0, -8.0]).max() < ROUNDING
    assert np.abs(pendula.convert(turned, "zyz").q).max() < 2 * np.pi


def test_runs_are_converted_without_jumps() -> None:
    run = pendula.simulate("spatial-rod", 2.0, samples=41, initial_state={"theta": 1.0, "phi_dot": 1.0, "psi_dot": 1.0})
    turns = pendula.convert(run, "quaternion")
    assert np.abs(np.diff(turns.q, axis=0)).max() < 0.5
    back = pendula.convert(turns, run.system, near=run.state(0))
    assert np.abs(back.q - run.q).max() < ROUNDING
    assert np.abs(turns["energy"] - run["energy"]).max() < 1e-9


def test_converted_runs_keep_their_inputs() -> None:
    push = {"type": "force", "body": "rod", "at": "com", "vector": ["F", 0, 0]}
    model = library.spatial_rod().with_changes(inputs={"F": 2.0}, forces=[push])
    series = pendula.Signal([0.0, 1.0], [1.0, 8.0], "linear")
    for given in (series, pendula.Sampled("3*t + 1", every=0.1), 5.0, "7*t"):
        run = pendula.simulate(model, 0.5, samples=11, inputs={"F": given}, initial_state={"theta": 1.0})
        for to in (
            "quaternion",
            library.spatial_rod(orientation="quaternion").with_changes(inputs={"F": 2.0}, forces=[push]),
        ):
            turned = pendula.convert(run, to)
            assert np.abs(turned.acceleration("rod", "tip") - run.acceleration("rod", "tip")).max() < 1e-9
    there = pendula.convert(pendula.simulate(model, 0.5, samples=11, inputs={"F": series}), "quaternion")
    for given in (lambda t, state: state["theta"], pendula.Sampled("theta", every=0.1)):
        run = pendula.simulate(model, 0.5, samples=11, inputs={"F": given})
        for to in ("quaternion", there.system):
            with pytest.raises(NotSupported, match='input "F"'):
                pendula.convert(run, to)


def test_rates_that_a_singular_chart_leaves_undefined_are_named() -> None:
    spinning = pendula.compile_system(library.spatial_rod(orientation="quaternion")).state({"ball_wx": 1.0})
    with pytest.raises(SingularPose, match="ball_1_dot, ball_3_dot are not determined"):
        pendula.convert(spinning, "zyz")
    found = pendula.convert(spinning, "zyz", undefined="nan")
    assert np.isnan(found.v).tolist() == [True, False, True]
    tilting = spinning.replace({"ball_wx": 0.0, "ball_wy": 1.0})  # along theta, which is defined
    assert pendula.convert(tilting, "zyz").v.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("sequence", CHARTS[:24])
def test_singularities_are_where_the_map_loses_rank(sequence: str) -> None:
    chart = chart_named(sequence)
    index, values = singular_values_of(chart)
    assert index == 1
    expected = (0.0, np.pi) if chart.repeats else (np.pi / 2, 3 * np.pi / 2)
    assert values == pytest.approx(expected)
    q = np.array([0.3, values[0] + 1e-3, 0.4])
    assert ori.distance(chart, q) == pytest.approx(1e-3)
    assert ori.distance_of(chart, ori.to_quaternion(chart, q)) == pytest.approx(1e-3)


def test_wrong_requests_are_refused_in_one_sentence() -> None:
    state = pendula.compile_system("spatial-rod").initial_state()
    for to, message in (("zzy", "twice"), ({"bal": "zyz"}, "no orientation"), (3, "found int")):
        with pytest.raises(UsageError, match=message):
            pendula.convert(state, to)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="not independent"):
        pendula.convert(state, "quaternion", speeds="rates")
    with pytest.raises(UsageError, match="no orientation to convert"):
        pendula.convert(pendula.compile_system("pendulum").initial_state(), "zyz")
    force = {"type": "generalized", "name": "push", "coordinate": "phi", "value": 1.0}
    run = pendula.simulate(library.spatial_rod().with_changes(forces=[force]), 0.1)
    with pytest.raises(NotSupported, match="push"):
        pendula.convert(run, "quaternion")


def test_velocity_map_is_that_of_the_paper() -> None:
    """Paper 002, eq. 6."""
    (found,) = pendula.derivation.velocity_maps("spatial-rod")
    values = {"phi": 0.3, "theta": 0.8, "psi": -0.4}
    (sp, cp), (st, ct) = ((np.sin(values[n]), np.cos(values[n])) for n in ("phi", "theta"))
    expected = [[0, -sp, st * cp], [0, cp, st * sp], [1, 0, ct]]
    L = [[float(x.subs(values)) for x in row] for row in found.L]
    assert np.abs(np.array(L) - expected).max() < 1e-15
    assert found.latex().startswith(r"{}_{\mathrm{parent}}\boldsymbol{\omega} = \begin{bmatrix} 0 & - \sin{")


@pytest.mark.parametrize(
    ("chart", "axes"), [*itertools.product(("xzy", "rotation vector", "quaternion"), ("body", "parent"))]
)
def test_velocity_maps_are_those_in_numbers(chart: str, axes: str) -> None:
    (found,) = pendula.derivation.velocity_maps(library.spatial_rod(orientation=chart), axes)  # type: ignore[arg-type]
    q = np.array([0.5, -0.3, 0.7, 0.2])[: chart_named(chart).count]
    a = float(np.linalg.norm(q))
    values = dict(zip(found.coordinates, q.tolist(), strict=True))
    values |= {"c2": (1 - np.cos(a)) / a**2, "c3": (a - np.sin(a)) / a**3}
    L = np.array([[float(x.subs(values)) for x in row] for row in found.L])
    assert np.abs(L - ori.velocity_matrix(chart_named(chart), q, axes)).max() < 1e-14  # type: ignore[arg-type]
