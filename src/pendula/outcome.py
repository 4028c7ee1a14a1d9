"""How a computation ended, as values that read as sentences."""

from __future__ import annotations

from enum import Enum


class Outcome(Enum):
    """How a run ended. ``str(outcome)`` is a sentence; ``outcome.ok`` tells whether the run is complete.

    Example:
        >>> print(Outcome.FINISHED)
        finished: reached the final time
        >>> Outcome.NOT_FINITE.ok
        False
    """

    FINISHED = "finished: reached the final time"
    STEP_TOO_SMALL = "stopped: the step size fell below the smallest that changes t"
    NOT_FINITE = "stopped: the right-hand side gave a value that is not finite"
    TOO_MANY_STEPS = "stopped: the allowed number of steps was used up before the final time"
    INTERRUPTED = "stopped: interrupted by the user, the results so far are kept"
    PROJECTION_FAILED = "stopped: the state could not be brought back onto the constraints"
    SINGULAR_POSE = "stopped: at a singular pose, from which the motion is not determined"
    SINGULAR_CHART = "stopped: at a singularity of the coordinates, where their rates are not determined"
    EVENT = "stopped: an event ended the run"
    EVENT_FAILED = "stopped: the expression of an event has no finite value"
    CALLBACK_FAILED = "stopped: the right-hand side reported that it could not be evaluated"
    STICKS = "stopped: the motion sticks to a jump of a force"
    STEP_FAILED = "stopped: the stepper could not complete a step"

    @property
    def ok(self) -> bool:
        """Whether the run reached its final time, or an event that ends it."""
        return self in (Outcome.FINISHED, Outcome.EVENT)

    def __str__(self) -> str:
        return self.value
