"""The prediction horizon of a run: how long it can be relied on, by comparison with a run at tighter tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pendula.analysis.chaos.separation import Separated, Separation, separation
from pendula.errors import UsageError
from pendula.interrupts import whole
from pendula.library.lookup import shown
from pendula.numerics.steppers.checks import TIGHTEST
from pendula.simulation.simulate import simulate
from pendula.simulation.trajectory import Trajectory
from pendula.words import readable

TIGHTER = 100.0


@readable
@dataclass(frozen=True)
class Horizon(Separated):
    """Distance between a run and a more accurate one; the run is reliable up to ``time``. ``str()`` gives a sentence.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 1.0, samples=3)
        >>> pendula.chaos.horizon(run).reached
        False
    """

    separation: Separation
    run: Trajectory
    reference: Trajectory

    @property
    def reached(self) -> bool:
        """Whether the run continues beyond its horizon."""
        return self.time is not None

    def __str__(self) -> str:
        against = f"a run by {self.reference.stepper} at tolerance {self.reference.tolerance:g}"
        end = f"{self.t[-1]:.6g} {self.time_unit}"
        if self.time is None:
            return f"reliable to the end (t = {end}): within {self.distance.max():.2g} {self.unit} of {against}"
        size = f"{self.threshold:.4g} {self.unit}"
        return (
            f"reliable up to t = {self.time:.6g} {self.time_unit} of {end}: from there on more than {size} away "
            f"from {against}"
        )


def horizon(
    run: Trajectory,
    *,
    threshold: float | None = None,
    points: Sequence[str] | None = None,
    max_steps: int = 100_000_000,
) -> Horizon:
    """The time up to which a run is reliable: until it diverges from a run at a hundredth of its tolerance.

    In a chaotic motion errors grow exponentially, so beyond some time a run no longer predicts the motion, however
    smooth it looks. If the tolerance cannot be tightened tenfold, the reference run uses another stepper. The
    runs are compared at the sample times of ``run``.

    Args:
        run: a run returned by :func:`pendula.simulate`.
        threshold: distance at which the runs count as different; default: 0.1 % of a typical length.
        points: points to compare, "body" or "body.point"; default: all named points of all bodies.
        max_steps: largest number of steps of the tighter run.

    Returns:
        Horizon; ``time`` is None if the runs agree to the end.

    Raises:
        UsageError: the tighter run stopped before the runs diverged, so the horizon is unknown.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("pendulum", 5.0, samples=101)
        >>> horizon(run).time is None
        True
    """
    if not isinstance(run, Trajectory):
        raise UsageError(f"horizon takes a run, found {shown(run)}; use simulate(system, duration)")
    span = (float(run.t[0]), float(run.t[-1]))
    reference = whole(
        simulate, run.system, t_span=span, initial_state=run.state(0), parameters=run.parameters, samples=run.t,
        max_steps=max_steps, **_tighter(run),
    )  # fmt: skip
    found = separation(run, reference, threshold=threshold, points=points)
    if found.time is None and len(reference) < len(run):
        raise UsageError(
            f"the horizon is unknown: the tighter run ended at t = {reference.t[-1]:.6g}: {reference.outcome}"
        )
    return Horizon(found, run=run, reference=reference)


def _tighter(run: Trajectory) -> dict[str, Any]:
    """Settings of the reference run."""
    tol = max(run.tolerance / TIGHTER, TIGHTEST)
    if tol <= run.tolerance / 10:
        return {"tol": tol, "stepper": run.stepper}
    return {"tol": tol, "stepper": "rk45" if run.stepper == "dop853" else "dop853"}
