"""Converts an argument to a linear model: a linear model itself, or a mechanism linearized about an equilibrium."""

from __future__ import annotations

from typing import Any

from pendula.analysis.linear.linearize import linearize
from pendula.analysis.linear.model import LinearModel
from pendula.errors import UsageError
from pendula.system.entry import system_of
from pendula.system.system import System


def linear_of(
    given: Any,
    who: str,
    at: Any = None,
    inputs: Any = None,
    parameters: Any = None,
    *,
    also: str = "a linear model",
) -> LinearModel:
    """The linear model that an argument denotes.

    Args:
        given: a linear model; or a system, a model or the name of a library mechanism, which is linearized ``at`` a
            point.
        who: name of the calling function, for messages.
        at, inputs, parameters: as in :func:`pendula.linearize`.
        also: what ``who`` accepts besides a mechanism, for the message.

    Raises:
        UsageError: it is none of these, or a linear model came with an equilibrium, inputs or parameters.
    """
    if isinstance(given, LinearModel):
        if at is not None or inputs is not None or parameters is not None:
            raise UsageError("a linear model already has its equilibrium, inputs and parameters; give a system instead")
        return given
    system = given if isinstance(given, System) else system_of(given, who, also=also)
    return linearize(system, at, inputs=inputs, parameters=parameters)
