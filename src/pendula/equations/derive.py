"""Derives the equations of motion of a model by one of the formulations."""

from __future__ import annotations

from typing import Any

from pendula.equations.equations import Equations
from pendula.equations.formulations.registry import FORMULATIONS, formulation_named, formulations
from pendula.equations.formulations.support import ABILITIES
from pendula.errors import NotSupported
from pendula.library.lookup import model_of
from pendula.model.feedback import closed_loop
from pendula.model.model import Model

DEFAULT = "kane"
"""The formulation used when none is named: the one with the fewest operations."""


def derive(model: Model | str, formulation: str = DEFAULT) -> Equations:
    """Symbolic equations of motion of a model, by one of the formulations.

    Args:
        model: a model, the name of a library mechanism, or a system.
        formulation: "lagrange", "kane", "newton-euler", "maximal", "projection", or one that was registered;
            :func:`formulations` states what each supports.

    Raises:
        UsageError: there is no such formulation.
        NotSupported: it cannot derive this model; the message names those that can.

    Example:
        >>> from pendula import library
        >>> derive(library.cart_pole(), "lagrange").M[0]
        (M + m, (1/2)*l*m*c__pole)
    """
    found = formulation_named(formulation).derive(closed_loop(model_of(model, "derive")))
    return FORMULATIONS.checked(formulation, found)


def equations_of(given: Any, function: str, formulation: str | None = None) -> Equations:
    """Equations as they are; those of a model, a system or the name of a library mechanism are derived."""
    if isinstance(given, Equations):
        return given
    return derive(model_of(given, function, also="equations"), formulation or DEFAULT)


def cannot(formulation: str, ability: str) -> NotSupported:
    """The error for an ability that a formulation lacks; it names the formulations that have it."""
    able = [name for name, other in formulations().items() if getattr(other.support, ability)]
    return NotSupported(
        f'the formulation "{formulation}" does not provide {ABILITIES[ability]}.\n  Try: {", ".join(able)}.'
    )
