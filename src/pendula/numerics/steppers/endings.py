"""Outcomes of runs, and messages that explain them."""

from __future__ import annotations

from pendula.numerics.compiled.native import Callback
from pendula.numerics.compiled.records import Memory
from pendula.numerics.steppers import run as codes
from pendula.numerics.steppers.drive import Drive
from pendula.numerics.steppers.watch import Watched
from pendula.outcome import Outcome

OUTCOMES = {
    codes.DONE: Outcome.FINISHED,
    codes.TOO_SMALL: Outcome.STEP_TOO_SMALL,
    codes.BAD_VALUE: Outcome.NOT_FINITE,
    codes.BAD_START: Outcome.NOT_FINITE,
    codes.NO_PROJECTION: Outcome.PROJECTION_FAILED,
    codes.STEPS_USED_UP: Outcome.TOO_MANY_STEPS,
    codes.NO_SOLUTION: Outcome.STEP_TOO_SMALL,
    codes.AT_EVENT: Outcome.EVENT,
    codes.BAD_EVENT: Outcome.EVENT_FAILED,
    codes.HALTED: Outcome.SINGULAR_POSE,
    codes.UNSOUND: Outcome.CALLBACK_FAILED,
}
"""The meaning of the code with which a compiled loop ends."""
OUTCOMES_OF_MANY = OUTCOMES | {codes.GO_ON: Outcome.INTERRUPTED}
"""The same for one of many runs: an interrupt leaves some under way."""


def outcome_of(drive: Drive, reached: bool) -> Outcome:
    """The outcome of a loop; one that was interrupted just after its end has that end."""
    if drive.interrupted and drive.code in (codes.GO_ON, codes.BUFFER_FULL):
        return Outcome.FINISHED if reached else Outcome.INTERRUPTED
    return OUTCOMES[drive.code]


def explain(
    outcome: Outcome,
    code: int,
    run: Memory,
    rhs: Callback,
    project: Callback | None,
    watched: Watched | None,
    watch: Memory | None,
) -> tuple[Outcome, str]:
    """The outcome, refined by the report of the right-hand side, and a message with the numbers behind it."""
    t, where = run.t, run.where
    if watched is not None and watch is not None and outcome is Outcome.EVENT:
        return outcome, f"{watched.name(watch.stopped)} at t = {t:.9g}"
    if watched is not None and watch is not None and outcome is Outcome.EVENT_FAILED:
        return outcome, f"{watched.name(watch.bad)} has no finite value shortly after t = {t:.9g}"
    component = run.component
    which = f"component {component}" if component >= 0 else "the error estimate"
    failing = project if project is not None and outcome is Outcome.PROJECTION_FAILED else rhs
    failure = getattr(failing.owner, "failure", None)
    if outcome is Outcome.NOT_FINITE and failure:
        return Outcome.CALLBACK_FAILED, reported(failure, where, t)
    if code == codes.BAD_START:
        return outcome, f"the derivative at the initial state (t = {t:.9g}) is not finite: {which}"
    tried = "with this step" if run.fixed else "for any step size"
    if outcome is Outcome.NOT_FINITE:
        return outcome, f"{which} is not finite near t = {where:.9g}, {tried}; last good t = {t:.9g}"
    if code == codes.NO_SOLUTION and run.method == 0:
        cause = "fails, although the right-hand side is finite"
        return Outcome.STEP_FAILED, f"the step at t = {t:.9g} {cause} there, {tried}"
    if code == codes.NO_SOLUTION:
        return outcome, f"at t = {t:.9g} the equations of the implicit step could not be solved with any step size"
    if outcome is Outcome.STEP_TOO_SMALL:
        h = run.h_abs
        return outcome, f"at t = {t:.9g} the tolerance would require steps of {h:.3g}; a singularity is likely there"
    return outcome, reached_or_failed(outcome, t, run.t_end, run.max_attempts, where, failure)


def reported(failure: str, where: float, t: float) -> str:
    """The failure that the equations report, with its time."""
    return f"{failure} (at t = {where:.9g}; the last good state is at t = {t:.9g})"


def reached_or_failed(
    outcome: Outcome, t: float, t_end: float, attempts: int, where: float, failure: str | None
) -> str:
    """The message for outcomes that all loops share; empty for others."""
    if outcome is Outcome.TOO_MANY_STEPS:
        return f"{attempts} steps were tried; reached t = {t:.9g} of {t_end:.9g}"
    if outcome is Outcome.INTERRUPTED:
        return f"reached t = {t:.9g} of {t_end:.9g}"
    if outcome is Outcome.PROJECTION_FAILED:
        reason = f": {failure}" if failure else ""
        return f"the projection failed at t = {where:.9g}{reason}; last good t = {t:.9g}"
    return ""
