"""Many runs at once: the same digits whatever their company, the same motion as one run, and no run lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import pendula
from pendula.errors import UsageError, WorkerDied
from pendula.library import mechanisms
from pendula.numerics.scalars.eight import LANES, aligned_zeros
from pendula.outcome import Outcome
from pendula.parallel.processes import DEATHS
from pendula.simulation.many.workers import run_chunks
from pendula.system.kernels import evaluate_rows
from pendula.system.lanes import bind_lanes

ROUNDING = 1e-14  # times the condition of the mass matrix: accelerations by two orders of elimination, relative
TOLERANCE = 1e-10
CLOSE = 1e-7  # runs at TOLERANCE over a few seconds, by two steppers
IN_LANES = (
    "pendulum",
    "double-pendulum",
    "chain",
    "driven-chain",
    "cart-pole",
    "spatial-rod",
    "heavy-top",
    "hoop-bead",
)


@pytest.fixture(scope="module")
def double():
    return pendula.compile_system(pendula.library.double_pendulum())


@pytest.fixture(scope="module")
def angles():
    return np.random.default_rng(3).uniform(-2.5, 2.5, (40, 2))


def run_some(system, angles, **settings):
    settings = {"tol": 1e-9, "samples": 7, "workers": 1} | settings
    return pendula.simulate_many(system, 3.0, {"theta1": angles[:, 0], "theta2": angles[:, 1]}, **settings)


def same_digits(a, b):
    for name in ("q", "v", "end_t", "end_q", "end_v", "code", "steps", "rejected", "energy_drift"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def in_lanes(system, x, parameters):
    """Rates of eight states, given as columns of x, with the parameters in the rows of the second."""
    lanes = bind_lanes(system, parameters)
    lanes.column[:] = np.broadcast_to(lanes.data, (LANES, lanes.data.shape[1])).T
    size = len(system.layout.coordinates) + len(system.layout.speeds) + lanes.quadratures
    rows = aligned_zeros(1 + size, LANES)
    rows[: len(x)] = x
    out = aligned_zeros(size, LANES)
    evaluate_rows(lanes.rhs.address, lanes.rhs.context, rows.reshape(1, -1), out.reshape(1, -1))
    return out


def random_columns(system, seed=0):
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    x = np.random.default_rng(seed).uniform(-1.5, 1.5, (1 + nq + nv, LANES))
    for first, _ in system.balls:
        x[1 + first : 5 + first] /= np.linalg.norm(x[1 + first : 5 + first], axis=0)
    return x


# -- eight states at once ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", IN_LANES)
def test_eight_states_have_the_accelerations_and_rates_of_one(name):
    system = pendula.compile_system(mechanisms()[name].make())
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    x = random_columns(system)
    out = in_lanes(system, x, system.parameters[None])
    for k in range(LANES):
        q, v, t = x[1 : 1 + nq, k], x[1 + nq :, k], x[0, k]
        a = system.accelerations(q, v, t)
        bound = ROUNDING * np.linalg.cond(system.mass_matrix(q, t)) * max(1.0, np.abs(a).max())
        np.testing.assert_allclose(out[nq : nq + nv, k], a, rtol=0, atol=bound)
        np.testing.assert_allclose(out[:nq, k], system.rates(q, v, t), rtol=1e-14, atol=1e-14)


def test_a_lane_does_not_see_the_others(double):
    x = random_columns(double)
    usual = in_lanes(double, x, double.parameters[None])
    for odd in (np.nan, np.inf, 1e7, 0.0):
        other = x.copy()
        other[1:, [0, 3, 4]] = odd
        with np.errstate(invalid="ignore"):
            found = in_lanes(double, other, double.parameters[None])
        np.testing.assert_array_equal(found[:, [1, 2, 5, 6, 7]], usual[:, [1, 2, 5, 6, 7]])


def test_large_angles_are_reduced_exactly(double):
    turns = 2 * np.pi * 1e6
    x = random_columns(double)
    x[1:3] += turns
    out = in_lanes(double, x, double.parameters[None])
    for k in range(LANES):
        np.testing.assert_allclose(out[2:4, k], double.accelerations(x[1:3, k], x[3:5, k]), rtol=1e-11)


def test_each_lane_has_its_own_parameters(double):
    table = np.array([double.parameters * factor for factor in np.linspace(0.5, 2.0, LANES)])
    x = random_columns(double)
    out = in_lanes(double, x, table)
    for k in range(LANES):
        a = double.accelerations(x[1:3, k], x[3:5, k], parameters=table[k])
        np.testing.assert_allclose(out[2:4, k], a, rtol=1e-11)


# -- runs and their company ----------------------------------------------------------------------------


@pytest.mark.parametrize("stepper", ["dop853", "rk45", "taylor"])
def test_digits_do_not_depend_on_number_or_order(double, angles, stepper):
    whole = run_some(double, angles, stepper=stepper, tol=1e-7)
    for count in (1, 3, 8, 17):
        part = run_some(double, angles[:count], stepper=stepper, tol=1e-7)
        np.testing.assert_array_equal(part.q, whole.q[:count])
        np.testing.assert_array_equal(part.steps, whole.steps[:count])
        np.testing.assert_array_equal(part.energy_drift, whole.energy_drift[:count])
    order = np.random.default_rng(0).permutation(len(angles))
    np.testing.assert_array_equal(run_some(double, angles[order], stepper=stepper, tol=1e-7).v, whole.v[order])


def test_digits_do_not_depend_on_the_number_of_processes(double, angles):
    many = np.concatenate([angles] * 5)
    same_digits(run_some(double, many), run_some(double, many, workers=2))


def test_runs_agree_with_scipy(double, angles):
    runs = run_some(double, angles[:2], tol=1e-12)
    for k in range(2):
        found = solve_ivp(
            lambda t, y: np.concatenate([y[2:], double.accelerations(y[:2], y[2:])]),
            (0, 3),
            [*angles[k], 0, 0],
            method="Radau" if k == 0 else "DOP853",
            rtol=1e-8 if k == 0 else 1e-12,
            atol=1e-9 if k == 0 else 1e-11,
            t_eval=runs.t,
        )
        np.testing.assert_allclose(runs.q[k], found.y[:2].T, atol=1e-5 if k == 0 else CLOSE)


@pytest.mark.parametrize(
    "name", ["four-bar", "spatial-rod", "heavy-top", "driven-linkage", "driven-chain", "cart-pole"]
)
def test_runs_agree_with_one_run(name):
    system = pendula.compile_system(mechanisms()[name].make())
    speed = system.in_joints.layout.speeds[0]
    values = system.in_joints.initial_state()[speed] + np.linspace(0, 0.4, 9)
    runs = pendula.simulate_many(system, 1.5, {speed: values}, tol=TOLERANCE, samples=5)
    assert runs.ok.all()
    for k in (0, 4, 8):
        one = pendula.simulate(system, 1.5, initial_state={speed: values[k]}, tol=TOLERANCE, samples=5)
        np.testing.assert_allclose(runs.q[k], one.q, atol=CLOSE)
        np.testing.assert_allclose(runs.v[k], one.v, atol=10 * CLOSE)
        assert runs.energy_drift[k] < 100 * TOLERANCE
        if runs.constraint_violation is not None:
            assert runs.constraint_violation[k] < 1e-12


def test_bodies_with_their_own_coordinates_run_too():
    system = pendula.compile_system(pendula.library.double_pendulum(), "maximal")
    joints = pendula.compile_system(pendula.library.double_pendulum())
    values = {"theta1": np.array([0.3, 1.0]), "theta2": 0.5}
    found = pendula.simulate_many(system, 1.0, values, tol=TOLERANCE, samples=4)
    reference = pendula.simulate_many(joints, 1.0, values, tol=TOLERANCE, samples=4)
    np.testing.assert_allclose(found["theta2"], reference["theta2"], atol=CLOSE)


def test_parameters_of_each_run(double):
    name = double.layout.parameters[0]
    values = double.parameters[0] * np.array([0.5, 1.0, 2.0])
    start = {"theta1": 1.0, "theta2": 0.2}
    runs = pendula.simulate_many(double, 2.0, start, parameters={name: values}, tol=TOLERANCE)
    for k, value in enumerate(values):
        one = pendula.simulate(double, 2.0, initial_state=start, parameters={name: value}, tol=TOLERANCE)
        np.testing.assert_allclose(runs.end_q[k], one.q[-1], atol=CLOSE)
    alike = pendula.simulate_many(double, 2.0, start, parameters={name: values[2]}, tol=TOLERANCE)
    np.testing.assert_array_equal(alike.end_q[0], runs.end_q[2])


def test_closed_loops_take_parameters_of_each_run():
    system = pendula.compile_system(pendula.library.four_bar())
    name = next(n for n in system.layout.parameters if n.startswith("g"))
    values = system.parameters[system.layout.parameters.index(name)] * np.array([0.5, 2.0])
    runs = pendula.simulate_many(system, 1.0, {}, parameters={name: values}, tol=TOLERANCE)
    for k, value in enumerate(values):
        one = pendula.simulate(system, 1.0, parameters={name: value}, tol=TOLERANCE)
        np.testing.assert_allclose(runs.end_q[k], one.q[-1], atol=CLOSE)


def test_forms_of_initial_states(double, angles):
    reference = run_some(double, angles[:4])
    names = ("theta1", "theta2")
    mappings = [dict(zip(names, row, strict=True)) for row in angles[:4]]
    forms = (mappings, [double.state(m) for m in mappings], (angles[:4], np.zeros((4, 2))), (angles[:4], None))
    for form in forms:
        found = pendula.simulate_many(double, 3.0, form, tol=1e-9, samples=7)
        np.testing.assert_array_equal(found.q, reference.q)
    assert reference[2].outcome is Outcome.FINISHED
    np.testing.assert_array_equal(reference["theta2_dot"], reference.v[:, :, 1])


# -- trouble -------------------------------------------------------------------------------------------


def test_a_bad_start_is_named_or_marked(double, angles):
    bad = angles[:20].copy()
    bad[13, 1] = np.nan
    with pytest.raises(UsageError, match=r"theta2.*run 13"):
        run_some(double, bad)
    runs = run_some(double, bad, bad_starts="mark")
    assert list(np.flatnonzero(~runs.ok)) == [13]
    assert "theta2" in runs[13].detail
    good = np.arange(20) != 13
    np.testing.assert_array_equal(runs.q[good], run_some(double, angles[:20]).q[good])


def test_a_loop_that_cannot_be_closed_is_named_or_marked():
    system = pendula.compile_system(pendula.library.four_bar())
    name, value = next((n, x) for n, x in system.model.parameter_values.items() if "crank" in n or n in ("a", "l1"))
    values = value * np.array([1.0, 50.0, 1.0])
    with pytest.raises(UsageError, match="run 1"):
        pendula.simulate_many(system, 0.5, {}, parameters={name: values})
    runs = pendula.simulate_many(system, 0.5, {}, parameters={name: values}, bad_starts="mark")
    assert list(runs.ok) == [True, False, True]
    assert runs[1].detail


def test_steps_that_are_used_up_stop_one_run_only(double):
    runs = pendula.simulate_many(double, 5.0, {"theta1": [0.0, 2.5, 0.0], "theta2": [0.0, 1.0, 0.0]}, max_steps=60)
    assert [outcome is Outcome.FINISHED for outcome in runs.outcome] == [True, False, True]
    assert runs.outcome[1] is Outcome.TOO_MANY_STEPS
    assert 0 < runs.end_t[1] < 5
    assert np.isnan(runs.q[1]).all()
    assert np.isfinite(runs.end_q[1]).all()


def test_what_makes_no_sense_is_refused(double, angles):
    for settings, message in (
        ({"tol": 0.0}, "tolerance"),
        ({"stepper": "euler"}, "stepper"),
        ({"samples": [2.0, 1.0]}, "in the order of integration"),
        ({"samples": [0.0, 9.0]}, "must lie in"),
        ({"workers": 0}, "workers"),
        ({"save": "runs.txt"}, "npz"),
        ({"parameters": {double.layout.parameters[0]: [1.0, 2.0]}}, "sets of parameters|values, but"),
    ):
        with pytest.raises(UsageError, match=message):
            run_some(double, angles[:5], **settings)
    with pytest.raises(UsageError, match="empty"):
        pendula.simulate_many(double, 1.0, [])
    with pytest.raises(UsageError, match="theta9"):
        pendula.simulate_many(double, 1.0, {"theta9": [1.0]})


def test_streaming_gives_the_same_arrays(double, angles, tmp_path):
    held = run_some(double, angles)
    streamed = run_some(double, angles, save=tmp_path / "runs.npz")
    assert isinstance(streamed.q, np.memmap)
    same_digits(held, streamed)
    assert [path.name for path in tmp_path.iterdir()] == ["runs.npz"]
    held.save(tmp_path / "held.npz")
    with np.load(tmp_path / "runs.npz") as a, np.load(tmp_path / "held.npz") as b:
        np.testing.assert_array_equal(a["q"], b["q"])
        assert set(a.files) == set(b.files)


def die(chunk, tell):
    os._exit(3)


def test_a_chunk_that_every_worker_dies_of_is_told():
    with pytest.raises(WorkerDied, match=r"3 worker processes died of the same task.*exit code 3"):
        list(run_chunks(die, (partial, (die,)), [1, 2], 2, lambda ended: None))


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_killed_workers_change_no_digit(double, angles):
    """One is killed whenever some runs have ended since the last kill, too few for any task to be given up."""
    many = np.concatenate([angles] * 12)
    states = {"theta1": many[:, 0], "theta2": many[:, 1]}
    kills = []

    def kill(ended, runs):
        workers = multiprocessing.active_children()
        if workers and ended >= 100 * (len(kills) + 1) and len(kills) < DEATHS - 1:
            kills.append(workers[len(kills) % len(workers)].pid)
            os.kill(kills[-1], signal.SIGKILL)

    quiet = pendula.simulate_many(double, 20.0, states, tol=1e-10, samples=5, workers=1)
    disturbed = pendula.simulate_many(double, 20.0, states, tol=1e-10, samples=5, workers=2, on_progress=kill)
    assert kills
    same_digits(quiet, disturbed)


def test_progress_counts_up_and_may_interrupt(double, angles):
    seen = []

    def watch(ended, runs):
        seen.append(ended)
        if ended >= 100:
            raise KeyboardInterrupt

    many = np.concatenate([angles] * 40)
    runs = pendula.simulate_many(
        double, 30.0, {"theta1": many[:, 0], "theta2": many[:, 1]}, tol=1e-12, on_progress=watch, workers=1
    )
    assert seen == sorted(seen)
    finished = runs.ok
    assert 100 <= finished.sum() < len(many)
    assert {*np.array(runs.outcome, dtype=object)[~finished]} == {Outcome.INTERRUPTED}


SCRIPT = """
import signal, sys, numpy as np, pendula

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background may have inherited deafness
    system = pendula.compile_system(pendula.library.double_pendulum())
    q = np.random.default_rng(0).uniform(-2, 2, (20000, 2))
    pendula.simulate_many(system, 0.1, (q[:4], None))
    said = []

    def tell(ended, runs):
        if ended > 200 and not said:
            said.append(print("go", flush=True))

    runs = pendula.simulate_many(system, 60.0, (q, None), tol=1e-11, workers=WORKERS, on_progress=tell)
    words = {str(o).split(":")[1].split(",")[0].strip() for o in runs.outcome}
    print(len(runs), int(runs.ok.sum()), bool(np.isfinite(runs.end_q[runs.ok]).all()), sorted(words))
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_the_keyboard_keeps_finished_runs(workers, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT).replace("WORKERS", str(workers)))
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "go\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().split(" ", 3)
        assert process.wait() == 0
    assert rest[0] == "20000"
    assert 200 <= int(rest[1]) < 20000
    assert rest[2] == "True"
    assert rest[3].strip() == "['interrupted by the user', 'reached the final time']"


# -- other steppers, other engine ----------------------------------------------------------------------


def test_taylor_series_give_the_same_motion(double, angles):
    """By another stepper at another order; each run with its own parameters as well."""
    first, second = (run_some(double, 0.2 * angles, tol=1e-11, stepper=s) for s in ("dop853", "taylor"))
    assert second.ok.all()
    np.testing.assert_allclose(second.q, first.q, atol=CLOSE)
    assert np.max(second.energy_drift) < 1e-9
    each = {"parameters": {"l": np.linspace(1.8, 2.2, len(angles))}, "tol": 1e-11}
    first, second = (run_some(double, 0.2 * angles, stepper=s, **each) for s in ("dop853", "taylor"))
    np.testing.assert_allclose(second.q, first.q, atol=CLOSE)


@pytest.mark.parametrize("workers", [1, 2])
def test_recursion_gives_the_same_motion(angles, workers):
    """In lanes where all runs share their parameters, one after the other where they do not."""
    model = pendula.library.chain(links=2, friction=0.1)
    symbolic, recursive = (pendula.compile_system(model, engine=e) for e in ("symbolic", "recursive"))
    first = run_some(symbolic, 0.2 * angles, tol=1e-11)
    second = run_some(recursive, 0.2 * angles, tol=1e-11, workers=workers)
    assert second.ok.all()
    np.testing.assert_allclose(second.q, first.q, atol=CLOSE)
    assert np.max(second.energy_drift) < 1e-9
    each = {"parameters": {"b": np.linspace(0.0, 0.2, len(angles))}, "tol": 1e-11}
    first, second = run_some(symbolic, 0.2 * angles, **each), run_some(recursive, 0.2 * angles, workers=workers, **each)
    np.testing.assert_allclose(second.q, first.q, atol=CLOSE)


def test_recursion_in_lanes_has_the_same_digits_in_any_company(angles):
    system = pendula.compile_system(pendula.library.chain(links=2), engine="recursive")
    whole, part = run_some(system, angles), run_some(system, angles[5:16])
    np.testing.assert_array_equal(whole.q[5:16], part.q)


def test_initial_states_may_be_text_and_orientations_as_for_one_run():
    swing, top = pendula.compile_system("double-pendulum"), pendula.compile_system("heavy-top")
    listed = pendula.simulate_many(swing, 0.0, [{"theta1": "30deg"}, {"theta1": 0.1}])
    assert np.allclose(listed.end_q[:, 0], [np.pi / 6, 0.1], rtol=0, atol=1e-15)
    for_all = pendula.simulate_many(swing, 0.0, {"theta1": "30deg", "theta2": [0.1, 0.2]})
    assert np.allclose(for_all.end_q, [[np.pi / 6, 0.1], [np.pi / 6, 0.2]], rtol=0, atol=1e-15)
    turned = {"pivot": {"axis": [0, 0, 1], "angle": "30deg"}}
    half = np.pi / 12
    for given in (turned, [turned]):
        assert np.allclose(
            pendula.simulate_many(top, 0.0, given).end_q, [[np.cos(half), 0, 0, np.sin(half)]], rtol=0, atol=1e-15
        )


@pytest.mark.parametrize(
    ("value", "words"), [("x", 'needs a value for "x"'), (None, "must be a number"), ("5 m", "an angle")]
)
def test_values_that_are_no_numbers_name_the_run(value, words):
    with pytest.raises(UsageError, match=words) as caught:
        pendula.simulate_many("double-pendulum", 1.0, [{}, {"theta1": value}])
    assert 'initial_states: "theta1" of run 1' in str(caught.value)


@pytest.mark.parametrize("speeds", ["rates", "body"])
def test_rotation_vectors_of_many_runs_stay_short(speeds):
    """A body that tumbles freely, against Euler's equations with a quaternion."""
    inertia, start, rates = np.array([0.1, 0.12, 0.05]), np.array([0.5, 0.1, 0.0]), np.array([1.0, 6.0, 7.0, 9.0])
    body = {"name": "body", "mass": 1.0, "inertia": inertia.tolist()}
    joint = {"name": "j", "type": "spherical", "parent": "ground", "child": "body", "orientation": "rotation vector"}
    model = pendula.Model(name="tumble", gravity=[0, 0, 0], bodies=[body], joints=[{**joint, "speeds": speeds}])
    system = pendula.compile_system(model)
    names = system.layout.speeds
    runs = pendula.simulate_many(
        system, 4.0, {names[0]: start[0], names[1]: start[1], names[2]: rates}, samples=41, tol=TOLERANCE
    )

    def tumbling(t, y):
        w, turn = y[:3], Rotation.from_quat(y[3:])
        rate = turn.as_matrix() @ w  # q' = (omega in world axes, 0) q/2
        return [*(-np.cross(w, inertia * w) / inertia), *(quaternion_product(rate, y[3:]) / 2)]

    for k, rate in enumerate(rates):
        y = solve_ivp(tumbling, (0, 4), [*start[:2], rate, 0, 0, 0, 1], t_eval=runs.t, rtol=1e-11, atol=1e-12).y
        off = Rotation.from_rotvec(runs.q[k]).inv() * Rotation.from_quat(y[3:].T)
        assert off.magnitude().max() < CLOSE
        assert np.linalg.norm(runs.q[k], axis=1).max() < 1.9 * np.pi
        one = pendula.simulate(
            system, 4.0, initial_state=dict(zip(names, (*start[:2], rate), strict=True)), samples=41, tol=TOLERANCE
        )
        assert np.abs(runs.q[k] - one.q).max() < CLOSE


def quaternion_product(omega, q):
    """(omega, 0) times q, scalar last as in SciPy."""
    return np.array([*(q[3] * omega + np.cross(omega, q[:3])), -omega @ q[:3]])
