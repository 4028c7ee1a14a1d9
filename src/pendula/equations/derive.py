"""Formulations by name."""

from __future__ import annotations

from typing import Protocol

from pendula.equations.equations import Equations
from pendula.equations.formulations.support import ABILITIES, Support
from pendula.errors import NotSupported, UsageError
from pendula.model.model import Model


class Formulation(Protocol):
    """A way to derive equations of motion."""

    name: str
    support: Support

    def derive(self, model: Model) -> Equations:
        """The equations of motion of a model."""
        ...


def formulations() -> dict[str, Formulation]:
    """All formulations by name, each with what it supports.

    Example:
        >>> [name for name, formulation in formulations().items() if formulation.support.joint_forces]
        ['newton-euler', 'maximal', 'projection']
    """
    # Imported when asked for: a run by recursion over the bodies needs none of them.
    from pendula.equations.formulations.kane import Kane
    from pendula.equations.formulations.lagrange import Lagrange
    from pendula.equations.formulations.maximal import Maximal
    from pendula.equations.formulations.newton_euler import NewtonEuler
    from pendula.equations.formulations.projection import Projection

    found: list[Formulation] = [Lagrange(), Kane(), NewtonEuler(), Maximal(), Projection()]
    return {f.name: f for f in found}


DEFAULT = "kane"
"""The formulation used when none is asked for: the one with the fewest operations."""


def derive(model: Model, formulation: str = DEFAULT) -> Equations:
    """Equations of motion of a model, symbolic, by a formulation: "lagrange", "kane", "newton-euler", "maximal" or
    "projection". See :func:`formulations` for what each supports.

    Example:
        >>> from pendula import library
        >>> derive(library.cart_pole(), "lagrange").M[0]
        (M + m, (1/2)*l*m*c__pole)
    """
    known = formulations()
    if formulation not in known:
        raise UsageError(f'there is no formulation "{formulation}"; choose one of {", ".join(known)}')
    return known[formulation].derive(model)


def cannot(formulation: str, ability: str) -> NotSupported:
    """The error that says what a formulation cannot do, and names those that can."""
    able = [name for name, other in formulations().items() if getattr(other.support, ability)]
    return NotSupported(
        f'the formulation "{formulation}" does not give {ABILITIES[ability]}.\n  Try: {", ".join(able)}.'
    )
