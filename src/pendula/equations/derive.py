"""Derives the equations of motion of a model by one of the formulations."""

from __future__ import annotations

from typing import Any, Protocol

from pendula.equations import refusals
from pendula.equations.equations import Equations
from pendula.equations.formulations.registry import FORMULATIONS, formulation_named, formulations
from pendula.errors import NotSupported
from pendula.library.lookup import model_of, refuse_inputs_of_a_run
from pendula.model.feedback import closed_loop
from pendula.model.model import Model

DEFAULT = "kane"
"""The formulation used when none is named: the one with the fewest operations."""


class HasEquations(Protocol):
    """A compiled system, as far as this room knows it."""

    @property
    def equations(self) -> Equations:
        """Its equations of motion."""


def derive(model: Model | Equations | HasEquations | str, formulation: str | None = None) -> Equations:
    """Symbolic equations of motion of a model, by one of the formulations.

    Args:
        model: a model, the name of a library mechanism, a system, or equations.
        formulation: "lagrange", "kane", "newton-euler", "maximal", "projection", or one that was registered;
            :func:`formulations` states what each supports. Default: Kane's for a model; a system keeps its equations.

    Raises:
        UsageError: there is no such formulation.
        NotSupported: it cannot derive this model; the message names those that can.

    Example:
        >>> from pendula import library
        >>> derive(library.cart_pole(), "lagrange").M[0]
        (M + m, (1/2)*l*m*c__pole)
    """
    return equations_of(model, "derive", formulation, in_symbols=True)


def equations_of(given: Any, function: str, formulation: str | None = None, *, in_symbols: bool = False) -> Equations:
    """Equations by a formulation. If none is named, equations and those of a system are returned as they are.

    Args:
        given: a model, the name of a library mechanism, a system, or equations.
        function: the function that asks, for the message.
        formulation: its name; default: Kane's for what has no equations yet.
        in_symbols: the function leaves inputs as symbols, and so does not say what values they have.

    Raises:
        NotSupported: the function tells the values of inputs, and only a run knows them.
    """
    if not in_symbols:
        refuse_inputs_of_a_run(given, function)
    if formulation is None:
        held = given if isinstance(given, Equations) else getattr(given, "equations", None)
        if isinstance(held, Equations):
            return held
        formulation = DEFAULT
    found = formulation_named(formulation).derive(closed_loop(model_of(given, function, also="equations")))
    return FORMULATIONS.checked(formulation, found)


def cannot(formulation: str, ability: str) -> NotSupported:
    """The error for an ability that a formulation lacks; it names the formulations that have it."""
    able = [name for name, other in formulations().items() if getattr(other.support, ability)]
    return NotSupported(refusals.LACKS[ability], formulation=formulation, able=", ".join(able))
