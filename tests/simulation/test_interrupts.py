"""Keyboard interrupts at any moment: none is lost, and what is kept is what an undisturbed computation gives.

The interrupt comes at the n-th call of a Python function, so a test meets the same place on any machine and load.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from weakref import WeakValueDictionary

import numpy as np
import pytest

import pendula
from pendula import Event
from pendula.analysis.study import study
from pendula.interrupts import Interrupt, PressedAgain, hold_interrupts, interruptible, obey_interrupt, whole
from pendula.model.model import Model
from pendula.numerics.compiled import jit
from pendula.numerics.compiled.jit import compiled_callback
from pendula.numerics.compiled.native import doubles_at
from pendula.numerics.steppers.drive import Drive
from pendula.outcome import Outcome
from pendula.simulation import simulate as simulate_module
from pendula.simulation import simulate_many as ensembles
from pendula.simulation import starts as starts_module
from pendula.simulation.account import trajectory_of
from pendula.simulation.inputs.feed import NATIVE
from pendula.simulation.many.chunks import Job
from pendula.simulation.many.singly import Singly
from pendula.studies.result import MISSING
from pendula.studies.saved import part_files, part_of, read_study
from pendula.studies.store import part_table
from pendula.tables.formats import read_table, write_table
from tests.helpers.choices import in_turn

RUNS = 3000  # a single process integrates 1024 at a time
TO_THE_END = Drive.to_the_end
anywhere = pytest.mark.parametrize("where", ["python", "compiled"])


@pytest.fixture(autouse=True)
def keyboard():
    """Interrupts raise KeyboardInterrupt, whatever runs the tests has made of them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    handler = signal.signal(signal.SIGINT, before)
    assert handler is signal.default_int_handler  # every context has put it back


class Presses:
    """Interrupts a computation at one of its calls of Python functions, or in one of its stretches of compiled code."""

    def __init__(self, where: str, at: int | None = None) -> None:
        self.where, self.at, self.count = where, at, 0

    def _one_more(self) -> None:
        self.count += 1
        if self.count == self.at:
            signal.raise_signal(signal.SIGINT)

    def _profile(self, frame, event, argument) -> None:
        if event == "call":
            self._one_more()

    def _driven(self, drive: Drive) -> Drive:
        advance = drive.advance

        def pressed(attempts: int) -> int:
            code = advance(attempts)
            if attempts:
                self._one_more()  # Python hears of it when compiled code returns
            return code

        drive.advance = pressed
        return TO_THE_END(drive)

    def during(self, compute):
        with pytest.MonkeyPatch.context() as patch:
            if self.where == "compiled":
                patch.setattr(Drive, "to_the_end", lambda drive: self._driven(drive))
                return compute()
            sys.setprofile(self._profile)
            try:
                return compute()
            finally:
                sys.setprofile(None)


def moments(compute, where: str, count: int) -> list[int]:
    """Places at which to interrupt, all over a computation that has been done before."""
    compute()
    presses = Presses(where)
    presses.during(compute)
    last = max(2, int(0.95 * presses.count))
    return sorted({*np.random.default_rng(0).integers(1, last, count).tolist()})


@pytest.fixture(scope="module")
def double():
    return pendula.compile_system(pendula.library.double_pendulum())


@pytest.fixture(scope="module")
def starts():
    q = np.random.default_rng(1).uniform(-2, 2, (RUNS, 2))
    return {"theta1": q[:, 0], "theta2": q[:, 1]}


# -- ensembles -----------------------------------------------------------------------------------------


def same_finished_runs(found, undisturbed) -> np.ndarray:
    """Which runs have finished: as in an undisturbed ensemble to the last digit."""
    done = found.ok
    for name in ("q", "v", "end_t", "end_q", "end_v", "energy_drift", "steps"):
        np.testing.assert_array_equal(getattr(found, name)[done], getattr(undisturbed, name)[done])
    assert {found.outcome[k] for k in np.flatnonzero(~done)} <= {Outcome.INTERRUPTED}
    return done


@pytest.mark.parametrize("stepper", ["dop853", "taylor"])
@pytest.mark.parametrize("how", ["raised", "pressed"])
def test_an_interrupt_as_a_chunk_of_runs_ends_is_not_lost(double, starts, stepper, how):
    come = []

    def interrupt(ended, runs):
        if ended >= 1024 and not come:
            come.append(ended)
            if how == "raised":
                raise KeyboardInterrupt
            signal.raise_signal(signal.SIGINT)

    settings = {"stepper": stepper, "samples": 3, "workers": 1}
    found = pendula.simulate_many(double, 0.5, starts, on_progress=interrupt, **settings)
    done = same_finished_runs(found, pendula.simulate_many(double, 0.5, starts, **settings))
    assert done.sum() == 1024
    last = int(np.flatnonzero(~done)[-1])
    assert found.detail(last) == f"reached t = {found.end_t[last]:.9g}"


@anywhere
def test_interrupts_of_an_ensemble_at_any_moment(double, starts, where):
    undisturbed = pendula.simulate_many(double, 0.5, starts, samples=3, workers=1)
    kept = []

    def compute(on_progress=None):
        return pendula.simulate_many(double, 0.5, starts, samples=3, workers=1, on_progress=on_progress)

    for at in moments(compute, where, 25):
        presses, seen = Presses(where, at), [0]

        def watch(ended, runs, seen=seen, presses=presses):
            if presses.count < presses.at:
                seen.append(ended)

        try:
            found = presses.during(lambda watch=watch: compute(watch))
        except KeyboardInterrupt:
            continue  # before the first run began, or after the last one ended
        kept.append(same_finished_runs(found, undisturbed).sum())
        assert kept[-1] >= seen[-1]
        assert kept[-1] < RUNS or seen[-1] > 2048
    assert len(kept) > 5
    assert 0 < np.median(kept) < RUNS


def narrow():
    force = {"type": "generalized", "coordinate": "theta", "value": "-1000 if theta > 1 and theta < 1.001 else 0"}
    return Model(**{**pendula.library.pendulum().model_dump(), "forces": [force]})


AIMED = {"theta": -0.8, "theta_dot": 6.0, "phi": 0.3}  # at psi = 0 through the pole, where angles are singular
ONE_BY_ONE = {
    "all, for a narrow force": (narrow(), 2.0, {"theta": [0.5, 0.6, 2.0, 2.1]}),
    "some, for singular angles": ("spatial-rod", 1.0, {**AIMED, "psi": [0.0, 0.3, 1e-12, -0.5, 1e-13]}),
}


@pytest.mark.parametrize(("which", "where"), in_turn(sorted(ONE_BY_ONE), ["python", "compiled"]))
def test_doubtful_runs_that_could_not_be_repeated_do_not_count_as_finished(which, where, monkeypatch):
    model, duration, starts = ONE_BY_ONE[which]
    system, repeated, once = pendula.compile_system(model), [], Singly.run
    monkeypatch.setattr(Singly, "run", lambda self, *which: repeated.append(which) or once(self, *which))

    def compute():
        return pendula.simulate_many(system, duration, starts, workers=1)

    undisturbed = compute()
    assert undisturbed.ok.all()
    assert len(repeated) > 1
    unfinished = 0
    for at in moments(compute, where, 12):
        try:
            done = same_finished_runs(Presses(where, at).during(compute), undisturbed)
        except KeyboardInterrupt:
            continue
        unfinished += not done.all()
    assert unfinished


# -- single runs ---------------------------------------------------------------------------------------


@anywhere
@pytest.mark.parametrize(
    ("name", "stepper"),
    [
        ("double-pendulum", "dop853"),
        ("double-pendulum", "taylor"),
        ("four-bar", "dop853"),
        ("spherical-pendulum", "dop853"),
        ("spherical-pendulum", "taylor"),
    ],
)
def test_interrupts_of_a_run_at_any_moment(name, stepper, where, monkeypatch):
    """What is kept are the first states of the undisturbed run."""
    monkeypatch.setattr("pendula.interrupts.BRIEF", 0.0)
    system = pendula.compile_system(name)
    undisturbed = pendula.simulate(system, 20.0, stepper=stepper)
    kept = 0
    for at in moments(lambda: pendula.simulate(system, 20.0, stepper=stepper), where, 8):
        try:
            run = Presses(where, at).during(lambda: pendula.simulate(system, 20.0, stepper=stepper))
        except KeyboardInterrupt:
            continue
        kept += 1
        assert run.outcome in (Outcome.INTERRUPTED, Outcome.FINISHED)
        np.testing.assert_array_equal(run.q, undisturbed.q[: len(run.t)])
        np.testing.assert_array_equal(run.energy.total, undisturbed.energy.total[: len(run.t)])
    assert kept


# -- computations that are nothing without all of it -----------------------------------------------------


def swing():
    return pendula.simulate("double-pendulum", 5.0, samples=51)


@cache
def measured():
    run = pendula.simulate("pendulum", 4.0, initial_state={"theta": 0.5}, samples=41)
    return run, {"t": run.t, "theta": run.q[:, 0]}


COMPUTATIONS = {
    "lyapunov": lambda: pendula.chaos.lyapunov("double-pendulum", 5.0, segments=40),
    "divergence": lambda: pendula.chaos.divergence("double-pendulum", perturbation={"theta1": 1e-6}, duration=5.0),
    "horizon": lambda: pendula.chaos.horizon(measured()[0]),
    "floquet": lambda: pendula.driven.floquet("inverted-chain"),
    "fit": lambda: pendula.fit("pendulum", measured()[1], ["l", "theta(0)"]),
    "sensitivities": lambda: pendula.sensitivities(measured()[0], ["l"]),
    "linear range": lambda: pendula.linear.linear_range(pendula.linearize("pendulum")),
    "study": lambda: study(pendula.library.pendulum()),
}


@anywhere
@pytest.mark.parametrize("what", sorted(COMPUTATIONS))
def test_every_interrupt_ends_a_computation(what, where):
    compute = COMPUTATIONS[what]
    for at in moments(compute, where, 6):
        with pytest.raises(KeyboardInterrupt):
            Presses(where, at).during(compute)


@anywhere
def test_predictability_is_not_that_of_a_part(where):
    runs = [swing() for _ in range(9)]
    wanted, fresh = str(runs[0].predictability), iter(runs[1:])
    for at in moments(lambda: next(fresh).predictability, where, 6):
        run = next(fresh)
        with pytest.raises(KeyboardInterrupt):
            Presses(where, at).during(lambda run=run: run.predictability)
        assert str(run.predictability) == wanted


@anywhere
def test_a_study_keeps_no_case_that_was_interrupted(tmp_path, where):
    """It continues with the cases that are missing, and then is as if it had never been disturbed."""
    over, event = {"theta1": np.linspace(0.5, 2.5, 12)}, Event("upright", "theta2 - 1")

    def compute(save=None):
        return pendula.sweep("double-pendulum", over, "first", events=[event], duration=5.0, on="here", save=save)

    undisturbed = compute()
    stopped = 0
    for at in moments(compute, where, 6):
        folder = tmp_path / str(at)
        try:
            part = Presses(where, at).during(lambda folder=folder: compute(folder))
            stopped += part.finished < len(part)
        except KeyboardInterrupt:
            pass
        found = compute(folder)
        assert found.finished == len(found)
        np.testing.assert_array_equal(found["first_t"], undisturbed["first_t"])
        np.testing.assert_array_equal(found["outcome"], undisturbed["outcome"])
    assert stopped


@pytest.mark.parametrize("compute", ["end", "states", "energies"])
@pytest.mark.parametrize("call", [1, 2, 3])
def test_an_interrupt_before_the_first_loop_of_a_task_is_not_lost(tmp_path, monkeypatch, compute, call):
    """The interrupted cases are missing, and the same call computes them."""
    over, results, calls = {"theta1": np.linspace(0.1, 1, 40)}, ensembles._results, []

    def pressed(*arguments):
        calls.append(arguments)
        if len(calls) == call:
            signal.raise_signal(signal.SIGINT)
        yield from results(*arguments)

    def computed(save=None):
        return pendula.sweep("double-pendulum", over, compute, duration=0.5, on="here", save=save)

    undisturbed = computed()
    with monkeypatch.context() as patch:
        patch.setattr(ensembles, "_results", pressed)
        part = computed(tmp_path / "s")
    assert part.finished < len(part)
    assert call == 1 or part["ok"].ravel()[part.status.ravel() != MISSING].all()
    whole_of_it = computed(tmp_path / "s")
    assert whole_of_it.complete
    for name in undisturbed.names:
        np.testing.assert_array_equal(whole_of_it[name], undisturbed[name])


@pytest.mark.parametrize("retry", ["", "failed"])
def test_interrupted_cases_in_the_folder_of_a_study_are_computed_again(tmp_path, retry):
    """Earlier versions have kept such cases, with NaN for their results."""
    over = {"theta1": np.linspace(0.1, 1, 8)}

    def computed(**more):
        return pendula.sweep("double-pendulum", over, "end", duration=0.5, on="here", save=tmp_path / "s", **more)

    undisturbed = computed()
    path = part_files(tmp_path / "s")[1]
    part = part_of(read_table(path), path)
    lost = {"outcome": [*Outcome].index(Outcome.INTERRUPTED), "end": np.nan, "ok": 0.0}
    for block in part.blocks:
        if block.name in lost:
            block.values[2:4] = lost[block.name]
    write_table(part_table(part, read_study(tmp_path / "s")), path)
    known = pendula.load_sweep(tmp_path / "s")
    assert known.finished == 6
    assert not known.complete
    again = computed(retry=retry)
    assert again.complete
    np.testing.assert_array_equal(again["end.theta1"], undisturbed["end.theta1"])


@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_an_interrupt_too_late_to_end_a_run_ends_a_loop_of_brief_ones(seconds, monkeypatch):
    """Of a run that took long, the result is kept."""
    clock = iter((10.0, 10.0 + seconds))

    def press(*arguments):
        signal.raise_signal(signal.SIGINT)
        return trajectory_of(*arguments)

    monkeypatch.setattr(simulate_module, "trajectory_of", press)
    monkeypatch.setattr(simulate_module, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    if seconds:
        assert pendula.simulate("pendulum", 1.0).outcome is Outcome.FINISHED
    else:
        with pytest.raises(KeyboardInterrupt):
            pendula.simulate("pendulum", 1.0)


def test_a_run_that_should_raise_raises_the_interrupt():
    with pytest.raises(KeyboardInterrupt):
        Presses("compiled", 2).during(lambda: pendula.simulate("chain", 50.0, on_failure="raise"))


def test_a_function_that_trips_over_a_part_of_a_run_is_interrupted():
    """The case of a study counts as missing, not as failed."""

    def last(case):
        run = pendula.simulate("double-pendulum", 20.0, samples=200, initial_state=case.initial_state)
        return {"last": run.q[199, 0]}

    def compute():
        return pendula.sweep("double-pendulum", {"theta1": np.linspace(0.1, 1, 8)}, last, on="here")

    assert compute().finished == 8
    for at in moments(compute, "compiled", 6):
        found = Presses("compiled", at).during(compute)
        assert not found.failures
        assert found.finished < 8


def test_a_study_that_is_complete_is_kept_if_only_its_note_is_missing(monkeypatch):
    def press(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("pendula.studies.followed._follow", press)
    found = pendula.sweep("pendulum", {"theta": [0.1, 0.2]}, duration=1.0, on="here")
    assert found.finished == 2


def test_interrupts_before_workers_start_and_while_loops_are_closed_are_obeyed(double, starts, monkeypatch):
    bound, assemble, seen = Job.bound, starts_module.assemble_holding, []

    def press_once(then):
        def pressed(*arguments, **named):
            if not seen:
                seen.append("pressed")
                signal.raise_signal(signal.SIGINT)
            return then(*arguments, **named)

        return pressed

    monkeypatch.setattr(Job, "bound", press_once(bound))
    found = pendula.simulate_many(double, 0.5, starts, workers=2)
    assert {*found.outcome} == {Outcome.INTERRUPTED}
    many = {"crank": np.linspace(0.2, 0.9, 12)}
    assert pendula.simulate_many("four-bar", 0.1, many, workers=1).ok.all()
    seen.clear()
    monkeypatch.setattr(starts_module, "assemble_holding", press_once(assemble))
    assert {*pendula.simulate_many("four-bar", 0.1, many, workers=1).outcome} == {Outcome.INTERRUPTED}


def test_interrupts_are_raised_at_once_while_kernels_are_compiled(double, monkeypatch):
    """There is nothing to keep yet, and it takes seconds."""

    def during(drive):
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the interrupt was held back")

    monkeypatch.setattr(Drive, "to_the_end", lambda drive: TO_THE_END(replace(drive, advance=during)))
    with pytest.raises(KeyboardInterrupt):
        pendula.simulate(double, 1.0)


def press_in(name: str):
    """Presses once, when a Python function of this name is called, and gives what was called."""
    called = []

    def profile(frame, event, argument):
        if event == "call" and frame.f_code.co_name == name and not called:
            called.append(name)
            signal.raise_signal(signal.SIGINT)

    sys.setprofile(profile)
    return called


@pytest.mark.parametrize("called_by_llvm", ["_raw_object_cache_getbuffer", "_raw_object_cache_notify"])
def test_an_interrupt_while_llvm_hands_over_machine_code_is_raised_after_it(called_by_llvm, monkeypatch):
    """Native code calls that function: what is raised in it is ignored, and the code that it should take is missing."""
    monkeypatch.setattr(jit, "cache_directory", "")

    @compiled_callback
    def doubled(out, inp, context):
        doubles_at(out, 1)[0] = 2.0 * doubles_at(inp, 1)[0]

    called = press_in(called_by_llvm)
    try:
        with pytest.raises(KeyboardInterrupt):
            _ = doubled.address
    finally:
        sys.setprofile(None)
    assert called
    out, inp = np.zeros(1), np.array([1.5])
    NATIVE(doubled.address)(out.ctypes.data, inp.ctypes.data, 0)
    assert out[0] == 3.0


AT_EVERY_CALL = """
import signal, sys
from pendula.system.code.module import build_module

def compute():
    build_module("define double @same(double %x) { ret double %x }", 0)

class Presses:
    def __init__(self, at=None):
        self.at, self.count = at, 0

    def __call__(self, frame, event, argument):
        if event in ("call", "return"):
            self.count += 1
            if self.count == self.at:
                signal.raise_signal(signal.SIGINT)

def pressed(at=None):
    presses = Presses(at)
    sys.setprofile(presses)
    try:
        compute()
    except KeyboardInterrupt:
        return at
    finally:
        sys.setprofile(None)
    return presses.count

signal.signal(signal.SIGINT, signal.default_int_handler)
compute()
count = pressed()
print(count > 100, all(pressed(at) == at for at in range(1, count)))
"""


def test_interrupts_leave_no_machine_code_with_two_owners():
    """Each of them would free it, which ends the process: so it is tried in another one."""
    done = subprocess.run([sys.executable, "-c", AT_EVERY_CALL], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True True\n", "")


def test_an_interrupt_while_a_model_is_written_is_an_interrupt():
    """A model goes through pydantic, which makes its own error of what is raised in a Python function that it calls."""
    model = pendula.library.double_pendulum()
    for compute in (
        model.model_dump,
        model.model_dump_json,
        lambda: [j.model_dump(by_alias=True) for j in model.joints],
    ):
        compute()  # pydantic makes what it writes by
        presses = Presses("python")
        presses.during(compute)
        for at in range(1, presses.count + 1):
            with pytest.raises(KeyboardInterrupt):
                Presses("python", at).during(compute)


@pytest.mark.parametrize("what", ["an error", "nothing"])
def test_what_a_library_makes_of_an_interrupt_counts_as_the_interrupt(what):
    def library():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if what == "an error":
                raise ValueError("an error of its own") from None

    with pytest.raises(KeyboardInterrupt):
        whole(library)
    with pytest.raises(ValueError, match="without an interrupt"):
        whole(lambda: int("without an interrupt"))


def test_an_interrupt_in_a_python_function_that_a_loop_calls_ends_the_run():
    """Native code calls the function, and cannot pass on what is raised in it."""
    model = pendula.library.pendulum()
    driven = Model(**{**model.model_dump(), "forces": [{"type": "generalized", "coordinate": "theta", "value": "tau"}],
                      "inputs": {"tau": 0}})  # fmt: skip

    def twice(t, state):
        if t > 0.5:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        pendula.simulate(driven, 1.0, inputs={"tau": twice})


@pytest.mark.parametrize("called", ["__del__", "remove"])
def test_an_interrupt_while_python_deletes_an_object_comes_after_it(called):
    """Python ignores what is raised there."""
    done = []

    class Short:
        def __del__(self):
            if called == "__del__":
                signal.raise_signal(signal.SIGINT)
                done.append("deleted")

    def compute():
        table, key = WeakValueDictionary(), Short()
        table["key"] = key
        pressed = [] if called == "__del__" else press_in("remove")
        del key
        done.extend(["deleted"] * (len(pressed) - len(table)))
        until = time.monotonic() + 10.0
        while time.monotonic() < until:
            pass
        done.append("not interrupted")

    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(compute)
    finally:
        sys.setprofile(None)
    assert done == ["deleted"]


def test_an_interrupt_that_got_lost_ends_a_run_where_its_loop_begins():
    def lost():
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return pendula.simulate("pendulum", 1.0)

    with pytest.raises(KeyboardInterrupt):
        Interrupt(in_loops=True).run(lost)


def test_errors_after_an_interrupted_result_are_errors():
    """A command shows the part of a run, and then finds no room for it."""

    def command():
        interrupt = Interrupt(in_loops=True)
        interrupt.run(lambda: (hold_interrupts(), signal.raise_signal(signal.SIGINT)))
        assert interrupt.came
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        interruptible(command)


def test_a_second_interrupt_leaves_no_half_written_runs(monkeypatch):
    """It comes as the doubtful runs are about to be repeated: nothing of their chunk is kept."""
    model, duration, starts = ONE_BY_ONE["some, for singular angles"]
    repeat = Singly.repeat_doubtful

    def press_twice(self, *arguments):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        repeat(self, *arguments)

    monkeypatch.setattr(Singly, "repeat_doubtful", press_twice)
    assert {*pendula.simulate_many(model, duration, starts, workers=1).outcome} == {Outcome.INTERRUPTED}


# -- the contexts themselves ---------------------------------------------------------------------------


def test_a_second_interrupt_is_raised():
    with Interrupt() as interrupt:
        signal.raise_signal(signal.SIGINT)
        assert interrupt.came
        with pytest.raises(PressedAgain):
            signal.raise_signal(signal.SIGINT)


def test_an_interrupt_counts_for_all_computations_around_it():
    def inner():
        hold_interrupts()
        signal.raise_signal(signal.SIGINT)

    def outer():
        within = Interrupt(in_loops=True)
        within.run(inner)
        assert within.came
        with pytest.raises(KeyboardInterrupt):
            Interrupt().run(obey_interrupt)

    around = Interrupt()
    around.run(outer)
    assert around.came
    obey_interrupt()  # no context, nothing to obey


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda number, frame: None])
def test_interrupts_that_the_program_ignores_or_handles_are_left_alone(handler):
    signal.signal(signal.SIGINT, handler)
    interrupt = Interrupt()
    interrupt.hold()
    assert signal.getsignal(signal.SIGINT) is handler
    interrupt.hold(firmly=True)  # as processes do, which end early where there is a handler of any kind
    assert (signal.getsignal(signal.SIGINT) is handler) == (handler is signal.SIG_IGN)
    interrupt.release()
    assert signal.getsignal(signal.SIGINT) is handler
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_contexts_of_one_thread_are_nothing_to_another():
    seen = []

    def work():
        Interrupt().run(obey_interrupt)
        seen.append("went on")

    def compute():
        signal.raise_signal(signal.SIGINT)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    with Interrupt() as interrupt:
        interrupt.run(compute)
    assert interrupt.came
    assert seen == ["went on"]


def test_an_error_about_a_part_becomes_the_interrupt():
    def part():
        with Interrupt():
            signal.raise_signal(signal.SIGINT)
        raise pendula.errors.UsageError("too few samples")

    with pytest.raises(KeyboardInterrupt):
        whole(part)
    with pytest.raises(pendula.errors.UsageError, match="too few"):
        whole(lambda: (_ for _ in ()).throw(pendula.errors.UsageError("too few samples")))
