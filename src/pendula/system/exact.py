"""The equations of a system with the numbers of its model as exact fractions, for proofs.

SymEngine multiplies and adds floating-point numbers during the derivation, and rounds each time. Derived with
fractions, the equations contain every number of the model exactly as its double, and all arithmetic between them is
exact; bounds then enclose the rounding at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import symengine as se

from pendula.equations.derive import derive
from pendula.equations.equations import Equations
from pendula.equations.translate import exact_numbers
from pendula.errors import NotSupported
from pendula.system import refusals
from pendula.system.system import System

_KEPT: WeakKeyDictionary[System, Equations] = WeakKeyDictionary()


def exact_equations(system: System) -> Equations:
    """The equations of a system without rounded numbers; its own if they contain none. Cached.

    Raises:
        NotSupported: they were not derived from the model, so that rounded numbers cannot be recovered.

    Example:
        >>> import pendula
        >>> force = {"type": "generalized", "coordinate": "theta", "value": "-0.1*0.3*theta"}
        >>> model = pendula.library.pendulum().with_changes(forces=[force])
        >>> system = pendula.compile_system(model)
        >>> _has_doubles(system.equations), _has_doubles(exact_equations(system))
        (True, False)
    """
    if system not in _KEPT:
        own = system.equations
        _KEPT[system] = _derived_again(own) if _has_doubles(own) else own
    return _KEPT[system]


def _derived_again(own: Equations) -> Equations:
    if own.written is not None:
        raise NotSupported(refusals.ROUNDED_WRITTEN)
    with exact_numbers():
        found = derive(own.model, own.formulation)
    rounded = [float(drive.value) for drive in own.drives if se.sympify(drive.value).is_Number]
    exact = [float(drive.value) for drive in found.drives if se.sympify(drive.value).is_Number]
    if (found.q, found.v, found.u, found.p) != (own.q, own.v, own.u, own.p) or rounded != exact:
        raise NotSupported(refusals.ROUNDED)
    return found


def _has_doubles(eq: Equations) -> bool:
    """Whether a rounded number occurs in the equations."""
    rows = [*eq.qdot, *eq.f, *eq.g, *(x for row in (*eq.M, *eq.G) for x in row), *(e for _, e in eq.definitions)]
    return any(type(x).__name__ == "RealDouble" for x in _leaves(rows))


def _leaves(expressions: Iterable[Any]) -> Iterable[Any]:
    """Numbers and symbols in expressions; each subexpression is visited once."""
    left, seen = [se.sympify(e) for e in expressions], set()
    while left:
        e = left.pop()
        if e in seen:
            continue
        seen.add(e)
        if e.args:
            left += e.args
        else:
            yield e
