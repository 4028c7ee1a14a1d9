"""Linkages that pass poses in which their constraints lose rank: they stay on their branch, or the run says so."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.model import Model
from pendula.simulation.loops.nearness import Nearness
from pendula.system.parameters import parameter_vector
from pendula.system.system import System
from tests.helpers.choices import slow_too

TIMES = np.linspace(0.0, 4.0, 81)


def windows(count: int, *, longer: float = 0.0, rate: float = 9.0, bob: bool = False) -> Model:
    """Equal cranks side by side, each joined to the next by a bar as long as the distance of their pivots.

    All lie flat in the same pose, at which as many constraints are lost as there are windows. ``longer`` is added to
    the last crank; ``bob`` hangs a pendulum from the tip of the first.
    """
    bodies, joints, initial = [], [], {}
    for k in range(count + 1):
        name = f"crank{k}"
        length = f"a + {longer!r}" if k == count and longer else "a"
        bodies.append({"name": name, "rod": {"mass": 0.5, "length": length}})
        pivot = {"body": "ground", "position": [f"{k}*d", 0, 0]}
        joints.append({"name": name, "type": "revolute", "parent": pivot, "child": name, "measured_from": "ground"})
        initial |= {name: 0.0, f"{name}_dot": rate}
    for k in range(1, count + 1):
        bar = f"bar{k}"
        bodies.append({"name": bar, "rod": {"mass": 1.0, "length": "d"}})
        at = {"body": f"crank{k - 1}", "at": "tip"}
        joints.append({"name": bar, "type": "revolute", "parent": at, "child": bar, "measured_from": "ground"})
        ends = {"parent": {"body": f"crank{k}", "at": "tip"}, "child": {"body": bar, "at": "tip"}}
        joints.append({"name": f"pin{k}", "type": "coincident", **ends})
        initial |= {bar: math.pi / 2, f"{bar}_dot": 0.0}
    if bob:
        bodies.append(BOB)
        joints.append(hung("crank0"))
        initial |= SWING
    return Model(
        name=f"row of {count}",
        gravity=[0, -9.81, 0],
        parameters={"a": 1.0, "d": 1.5},
        bodies=bodies,
        joints=joints,
        initial=initial,
    )


BOB = {"name": "bob", "rod": {"mass": 0.7, "length": 0.8}}
SWING = {"bob": 0.4, "bob_dot": 1.0}


def hung(body: str) -> dict[str, object]:
    at = {"body": body, "at": "tip"}
    return {"name": "bob", "type": "revolute", "parent": at, "child": "bob", "measured_from": "ground"}


def one_crank(count: int, *, rate: float = 9.0, bob: bool = False) -> Model:
    """The same motion in one coordinate: bars only move to and fro, so all is one body about a pivot.

    Moment of inertia and first moment are I = (n+1) m a^2/3 + n M a^2 and S = (n+1) m a/2 + n M a, which a mass of
    S^2/I at a distance of I/S has as well.
    """
    inertia = (count + 1) * 0.5 / 3 + count
    moment = (count + 1) * 0.5 / 2 + count
    body = {"name": "crank", "mass": moment**2 / inertia, "com": [0, -inertia / moment, 0], "inertia": [0.0, 0.0, 0.0]}
    joints = [{"name": "crank0", "type": "revolute", "parent": "ground", "child": "crank"}]
    bodies = [body | {"points": {"tip": [0, -1.0, 0]}}]
    return Model(
        name="one crank",
        gravity=[0, -9.81, 0],
        bodies=bodies + ([BOB] if bob else []),
        joints=joints + ([hung("crank")] if bob else []),
        initial={"crank0": 0.0, "crank0_dot": rate} | (SWING if bob else {}),
    )


@cache
def linkage(count: int, how: str = "kane") -> System:
    if how == "recursive":
        return pendula.compile_system(windows(count), engine="recursive")
    return pendula.compile_system(windows(count), how)


@cache
def crank(count: int) -> System:
    return pendula.compile_system(one_crank(count))


@cache
def exact(count: int, name: str = "crank0") -> np.ndarray:
    return pendula.simulate(crank(count), 4.0, tol=1e-13, samples=TIMES)[name]


RUNS = [
    *((count, "dop853", tol) for count in (1, 5) for tol in (1e-6, 1e-8, 1e-10, 1e-12)),
    *((count, "rk45", tol) for count in (1, 5) for tol in (1e-6, 1e-9, 1e-12)),
    *((count, "radau", tol) for count in (1, 5) for tol in (1e-6, 1e-8, 1e-11)),
]
EVERYDAY = [(5, "dop853", 1e-12), (5, "dop853", 1e-6), (1, "rk45", 1e-9), (5, "radau", 1e-8)]


@pytest.mark.parametrize("how", ["kane", "recursive"])
@pytest.mark.parametrize("given", slow_too(EVERYDAY, [run for run in RUNS if run not in EVERYDAY]), ids=str)
def test_equal_windows_turn_as_one_crank_does(given: tuple[int, str, float], how: str) -> None:
    """At least 8 flat poses; errors at most 10 times those of one coordinate, steps at most 3 times as many."""
    count, stepper, tol = given
    one = pendula.simulate(crank(count), 4.0, tol=tol, stepper=stepper, samples=TIMES)
    assert np.abs(one["crank0_dot"]).min() > 0.5 * np.abs(one["crank0_dot"]).max()
    run = pendula.simulate(linkage(count, how), 4.0, tol=tol, stepper=stepper, samples=TIMES)
    assert run.ok, run
    error, least = (np.abs(x["crank0"] - exact(count)).max() for x in (run, one))
    assert error <= 10.0 * least + 1e-9
    assert run.steps <= 3 * one.steps
    for k in range(1, count + 1):  # on the branch on which all cranks stay parallel
        np.testing.assert_allclose(run[f"crank{k}"], run["crank0"], atol=1e-9)
        np.testing.assert_allclose(run[f"bar{k}"], math.pi / 2, atol=1e-9)
    assert len(run.events["singular pose"]) >= 8
    assert run.constraint_violation < 1e-9


def window_in_space(rate: float = 9.0, spin: float = 2.0) -> Model:
    """Two equal cranks whose bar hangs on ball joints (RSSR) and spins about its axis: in space, by quaternion."""
    cranks = [f"crank{k}" for k in range(2)]
    slim = {
        "name": "bar",
        "mass": 1.0,
        "com": [0.75, 0, 0],
        "inertia": [0.01, 0.19, 0.19],
        "points": {"far": [1.5, 0, 0]},
    }
    pivots = [{"body": "ground", "position": [1.5 * k, 0, 0]} for k in range(2)]
    ends = {"parent": {"body": "crank1", "at": "tip"}, "child": {"body": "bar", "at": "far"}}
    return Model(
        name="window in space",
        gravity=[0, -9.81, 0],
        bodies=[*({"name": name, "rod": {"mass": 0.5, "length": 1.0}} for name in cranks), slim],
        joints=[
            *({"name": n, "type": "revolute", "parent": at, "child": n} for n, at in zip(cranks, pivots, strict=True)),
            {"name": "ball", "type": "spherical", "parent": {"body": "crank0", "at": "tip"}, "child": "bar"},
            {"name": "pin", "type": "coincident", **ends},
        ],
        initial={f"{name}_dot": rate for name in cranks} | {"ball_wz": -rate, "ball_wx": spin},
    )


@pytest.mark.parametrize("how", ["symbolic", "recursive"])
def test_a_loop_in_space_passes_its_flat_poses(how: str) -> None:
    """The cranks turn as one, and the spin of the bar about its axis stays what it was."""
    system = pendula.compile_system(window_in_space(), engine=how)
    run = pendula.simulate(system, 4.0, tol=1e-10, samples=TIMES)
    assert run.ok, run
    assert len(run.events["singular pose"]) == 9
    np.testing.assert_allclose(run["crank0"], exact(1), atol=1e-8)
    np.testing.assert_allclose(run["crank1"], run["crank0"], atol=1e-8)
    np.testing.assert_allclose(run["ball_wx"], 2.0, atol=1e-8)


@pytest.mark.parametrize("how", ["lagrange", "newton-euler", "maximal"])
def test_every_formulation_passes(how: str) -> None:
    run = pendula.simulate(linkage(1, how), 4.0, tol=1e-9, samples=TIMES)
    assert run.ok
    np.testing.assert_allclose(run["crank0"], exact(1), atol=3e-8)


def test_the_poses_are_recorded() -> None:
    """Flat means that the cranks are level: at odd multiples of 90 degrees, at the times of the exact motion."""
    run = pendula.simulate(linkage(1), 4.0, tol=1e-10, events=["level: cos(crank0) = 0"])
    found, level = run.events["singular pose"], run.events["level"]
    assert len(found) == len(level) == 9
    np.testing.assert_allclose(found["crank0"], math.pi / 2 + math.pi * np.arange(9), atol=1e-6)
    np.testing.assert_allclose(found.t, level.t, atol=1e-6)
    assert "passed 9 singular poses" in " ".join(run.notes)
    with pytest.raises(pendula.errors.UsageError, match="singular pose"):
        pendula.simulate(linkage(1), 1.0, events=["singular pose: crank0 = 1"])


def test_events_and_samples_between_the_poses_are_those_of_one_crank() -> None:
    events = ["crank0 = 1.6 rising", "stop: crank0 >= 14.2"]  # both next to a flat pose
    run, one = (pendula.simulate(s, 4.0, tol=1e-10, events=events) for s in (linkage(1), crank(1)))
    assert str(run.outcome) == str(one.outcome)
    for name in ("crank0 = 1.6 rising", "crank0 >= 14.2"):
        np.testing.assert_allclose(run.events[name].t, one.events[name].t, atol=1e-9)
    assert run.t[-1] == pytest.approx(one.t[-1], abs=1e-9)


def test_backwards_in_time() -> None:
    runs = [pendula.simulate(s, t_span=(0.0, -4.0), tol=1e-9, samples=-TIMES) for s in (linkage(1), crank(1))]
    np.testing.assert_allclose(runs[0]["crank0"], runs[1]["crank0"], atol=1e-7)
    assert runs[0].ok


def test_fixed_steps() -> None:
    run = pendula.simulate(linkage(1), 4.0, stepper="rk4", step=0.002, samples=TIMES)
    np.testing.assert_allclose(run["crank0"], exact(1), atol=1e-8)
    assert run.ok


@pytest.mark.parametrize("how", ["symbolic", "recursive"])
def test_two_freedoms(how: str) -> None:
    """A pendulum hangs from a tip: nothing about the poses depends on there being one freedom."""
    system = pendula.compile_system(windows(2, bob=True), engine=how)
    tree = pendula.compile_system(one_crank(2, bob=True))
    run, reference = (pendula.simulate(s, 3.0, tol=tol, samples=61) for s, tol in ((system, 1e-10), (tree, 1e-13)))
    assert run.ok
    for name in ("crank0", "bob"):
        np.testing.assert_allclose(run[name], reference[name], atol=5e-9)


@pytest.mark.parametrize("rate", [4.0, 4.5, 5.0, 6.0])
def test_slow_motions_turn_before_or_after_the_flat_pose(rate: float) -> None:
    system, one = (pendula.compile_system(m(1, rate=rate)) for m in (windows, one_crank))
    run, reference = (pendula.simulate(s, 4.0, tol=tol, samples=TIMES) for s, tol in ((system, 1e-10), (one, 1e-13)))
    assert run.ok, run
    np.testing.assert_allclose(run["crank0"], reference["crank0"], atol=1e-8)
    dense = pendula.simulate(one, 4.0, tol=1e-12, events=["cos(crank0) = 0"])
    assert len(run.events.get("singular pose", ())) == len(dense.events["cos(crank0) = 0"])


@pytest.mark.parametrize("constraints", ["baumgarte", "none"])
def test_without_projection_the_run_stops_by_name(constraints: str) -> None:
    run = pendula.simulate(linkage(1), 4.0, constraints=constraints)
    assert not run.ok
    assert "singular pose" in str(run.outcome)
    assert "projection" in run.detail
    assert run.t[-1] < 0.1845


def test_arms_of_equal_length_carry_the_slider_across_the_pivot() -> None:
    """x = 2 r sin(crank) on both sides; on the other branch the slider would stay at the pivot."""
    model = library.slider_crank(crank_rate=8.0, start="60deg").with_parameters({"l": 1.0})
    system = pendula.compile_system(model)
    loose, tight = (pendula.simulate(system, 3.0, tol=tol, samples=61) for tol in (1e-9, 1e-12))
    assert loose.ok
    assert len(loose.events["singular pose"]) == 6
    np.testing.assert_allclose(loose["x"], 2.0 * np.sin(loose["crank"]), atol=1e-9)
    np.testing.assert_allclose(loose["crank"], tight["crank"], atol=1e-7)
    assert tight.energy_drift < 1e-10


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3])
def test_nearness_to_a_singular_pose_does_not_depend_on_the_unit_of_length(unit: float) -> None:
    """A slider-crank has lengths and angles among its coordinates: rows and columns of G become pure numbers."""
    found = []
    for size in (1.0, unit):
        changes = {"r": size, "l": size, "g": 9.81 * size, "rho": 1.0 / size}
        system = pendula.compile_system(library.slider_crank(crank_rate=8.0, start="60deg").with_parameters(changes))
        run = pendula.simulate(system, 1.0, tol=1e-9, samples=11)
        near = Nearness(system, parameter_vector(system, None), None)
        found.append((near.least(run.t, np.append(run.q, run.v, axis=1)), run["crank"], run))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-6)
    assert all(run.ok for _, _, run in found)
    assert len({len(run.events["singular pose"]) for _, _, run in found}) == 1


def test_a_kite_folds_and_opens_again() -> None:
    """Crank and ground are equal, coupler and rocker too: the kite folds when the crank lies on the ground."""
    system = pendula.compile_system(library.four_bar(lengths=(1.0, 2.0, 2.0, 1.0), crank_rate=6.0, start="60deg"))
    runs = [pendula.simulate(system, 3.0, tol=tol, samples=61) for tol in (1e-6, 1e-9, 1e-11)]
    assert all(run.ok and len(run.events["singular pose"]) == 3 for run in runs)
    np.testing.assert_allclose(runs[0]["crank"], runs[2]["crank"], atol=1e-4)
    np.testing.assert_allclose(runs[1]["crank"], runs[2]["crank"], atol=1e-8)
    assert np.ptp(runs[2]["coupler"] - runs[2]["rocker"]) > 1.0  # they do not stick together


@pytest.mark.parametrize("longer", [0.1, 0.01, 1e-3])
def test_a_linkage_that_is_only_almost_singular_is_not_taken_across(longer: float) -> None:
    """With one longer crank the parallel motion ends: near the flat pose the linkage turns into the crossed one."""
    system = pendula.compile_system(windows(1, longer=longer))
    loose, tight = (pendula.simulate(system, 1.0, tol=tol, samples=41) for tol in (1e-9, 1e-12))
    assert loose.ok
    assert "singular pose" not in loose.events
    np.testing.assert_allclose(loose["crank0"], tight["crank0"], atol=1e-5)
    assert np.abs(tight["bar1"] - math.pi / 2).max() > 0.5


def test_reactions_in_the_flat_pose_are_their_limits() -> None:
    """The mean of the values on both sides, which differ from it by their slope."""
    when = float(pendula.simulate(linkage(1), 0.5, tol=1e-11).events["singular pose"].t[0])
    times = [0.0, 0.1, when - 2e-4, when, when + 2e-4, 0.3]
    found = pendula.reactions(pendula.simulate(linkage(1), 0.3, tol=1e-11, samples=times))
    assert found.indeterminate == ()
    for name in found.joints:
        force = found[name].force
        assert np.all(np.isfinite(force))
        np.testing.assert_allclose(force[3], (force[2] + force[4]) / 2, rtol=1e-4, atol=1e-4)


def test_reactions_that_grow_without_bound_are_named() -> None:
    """One crank is a rod, the other a mass at its tip: alone they would swing at different rates, and the massless bar
    drives one by the other. Its lever about the pivot is a cos(theta), so its force grows as 1/cos.
    """
    model = windows(1)
    tip = {"name": "crank1", "mass": 3.0, "com": [0, "-a", 0], "points": {"tip": [0, "-a", 0]}}
    bar = {"name": "bar1", "rod": {"mass": 0.0, "length": "d"}}
    rod = {"name": "crank0", "rod": {"mass": 0.5, "length": "a"}}
    system = pendula.compile_system(model.with_changes(bodies=[rod, tip, bar]))
    run = pendula.simulate(system, 0.5, tol=1e-10)
    assert run.ok
    when = float(run.events["singular pose"].t[0])
    times = np.array([0.0, when - 4e-3, when - 2e-3, when, when + 2e-3])
    run = pendula.simulate(system, float(times[-1]), tol=1e-10, samples=times)
    found = pendula.reactions(run)
    assert {x.joint for x in found.indeterminate} >= {"bar1", "pin1"}
    assert all("grows without bound" in x.why for x in found.indeterminate)
    assert np.all(np.isnan(found["pin1"].force[3]))
    size = np.linalg.norm(found["pin1"].force, axis=1) * np.abs(np.cos(run["crank0"]))
    assert size[1] == pytest.approx(size[2], rel=0.02)
    assert size[2] == pytest.approx(size[4], rel=0.02)


def turned_by_motors() -> System:
    """Equal cranks under a bar, without weight, each turned by the torque u; all bodies have length and mass 1.

    With both cranks at the angle a, (2/3 + 1) a'' = 2 u.
    """
    cranks = [
        {"name": f"a{k}", "type": "revolute", "parent": {"body": "ground", "position": [k, 0, 0]}, "child": f"crank{k}"}
        for k in (0, 1)
    ]
    pins: list[dict[str, object]] = [
        {"name": "p", "type": "revolute", "parent": {"body": "crank0", "at": "tip"}, "child": "bar"},
        {
            "name": "pin",
            "type": "coincident",
            "parent": {"body": "crank1", "at": "tip"},
            "child": {"body": "bar", "at": "end"},
        },
    ]
    rod = {"mass": 1, "length": 1}
    model = Model(
        name="parallelogram with motors",
        gravity=[0, 0, 0],
        inputs={"u": 0},
        bodies=[{"name": f"crank{k}", "rod": rod} for k in (0, 1)]
        + [{"name": "bar", "rod": rod | {"axis": [1, 0, 0]}}],
        joints=[*cranks, *pins],
        forces=[{"type": "generalized", "coordinate": f"a{k}", "value": "u"} for k in (0, 1)],
        initial={"a0": 1.2, "a1": 1.2, "p": -1.2, "a0_dot": 1.0, "a1_dot": 1.0, "p_dot": -1.0},
    )
    return pendula.compile_system(model)


@pytest.mark.parametrize(
    "u",
    [
        pendula.Sampled("1 - a0_dot + 0.5*a0", every=0.2),
        pendula.Sampled(lambda t, _: 0.5 if t < 0.3 else -0.5, every=0.2),
        pendula.Signal([0, 0.345], [0.5, -0.5], "hold"),
        "0.5 if t < 0.345 else -0.5",
        "0.3*sin(3*t)",
    ],
    ids=["sampled", "function", "series", "switch", "smooth"],
)
def test_reactions_in_the_flat_pose_have_the_inputs_of_the_run(u: object) -> None:
    """Half of what moves the bar comes from each crank, also next to samples and jumps of the torque."""
    run = pendula.simulate(turned_by_motors(), 1.0, tol=1e-10, inputs={"u": u})  # type: ignore[dict-item]
    when = float(run.events["singular pose"].t[0])
    times = np.sort([*np.linspace(0, 1, 101), when, when + 1e-7])
    run = pendula.simulate(turned_by_motors(), 1.0, tol=1e-10, inputs={"u": u}, samples=times)  # type: ignore[dict-item]
    torque, a, rate = run["u"], run["a0"], run["a0_dot"]
    found = pendula.reactions(run)
    x = np.cos(a) * 1.2 * torque - np.sin(a) * rate**2
    y = np.sin(a) * 1.2 * torque + np.cos(a) * rate**2
    force = np.stack([x, y], axis=1)
    np.testing.assert_allclose((found["p"].force + found["pin"].force)[:, :2], force, atol=1e-7)
    np.testing.assert_allclose(found["p"].force[:, :2], force / 2, atol=1e-3)  # rounding errors grow towards the pose
    np.testing.assert_array_equal(run["u"], torque)  # reactions leave the run as it was


@pytest.mark.parametrize("times", ["before", "behind", "none"])
def test_reactions_in_the_flat_pose_start_where_the_run_has_states(times: str) -> None:
    given = {"u": pendula.Signal([0, 0.4], [0.5, 0.5])}
    when = float(pendula.simulate(turned_by_motors(), 0.4, tol=1e-10, inputs=given).events["singular pose"].t[0])
    samples = {"before": [0.0, when], "behind": [when, 0.4], "none": [when, when + 1e-3]}[times]
    run = pendula.simulate(turned_by_motors(), 0.4, tol=1e-10, inputs=given, samples=samples)
    found = pendula.reactions(run)
    at = samples.index(when)
    if times == "none":
        assert any("was not found" in x.why for x in found.indeterminate)
        assert np.isnan(found["p"].force[at]).all()
    else:
        assert found["p"].force[at, 1] == pytest.approx(0.3, abs=1e-7)


def test_ensembles_pass_as_single_runs_do() -> None:
    system, times = linkage(1), np.linspace(0.0, 2.0, 11)
    rates = [7.5, 9.0, 10.5]
    starts = [system.initial_state() if rate == 9.0 else state_at(system, rate) for rate in rates]
    runs = pendula.simulate_many(system, 2.0, starts, tol=1e-10, samples=times)
    assert runs.ok.all()
    for k, rate in enumerate(rates):
        one = pendula.simulate(one_crank(1, rate=rate), 2.0, tol=1e-12, samples=times)
        np.testing.assert_allclose(runs["crank0"][k], one["crank0"], atol=1e-7)


def test_each_member_of_an_ensemble_that_passes_is_seen() -> None:
    """The first swings about the hanging pose; others turn over and pass flat poses, where ordinary steps stall."""
    system, rates = linkage(1), [1.0, *np.linspace(6.5, 12.0, 40)[[12, 23, 30]]]
    runs = pendula.simulate_many(system, 4.0, [state_at(system, rate) for rate in rates], tol=1e-11)
    assert runs.ok.all()
    for k, rate in enumerate(rates):
        one = pendula.simulate(one_crank(1, rate=rate), 4.0, tol=1e-12)
        assert runs["crank0"][k, -1] == pytest.approx(one["crank0"][-1], abs=1e-7)
        assert runs["bar1"][k, -1] == pytest.approx(math.pi / 2, abs=1e-7)  # the branch of the parallelogram


def state_at(system: System, rate: float) -> pendula.State:
    return system.state({"bar1": math.pi / 2, "crank0_dot": rate, "crank1_dot": rate})


def test_an_event_keeps_its_count_in_runs_through_singular_poses() -> None:
    often = pendula.Event("often", "cos(40*t)", count=2)
    run = pendula.simulate(windows(1), 2.0, samples=TIMES[TIMES <= 2.0], events=[often])
    assert len(run.events["singular pose"].t) > 1
    assert run.events["often"].t == pytest.approx([np.pi / 80, 3 * np.pi / 80])
