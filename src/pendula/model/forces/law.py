"""Force laws, as data in the expression language of model files."""

from __future__ import annotations

import random
from dataclasses import dataclass

from pendula.model.expressions.expression import Expression, parse
from pendula.model.names import ExpressionError, quote

MEASURED = ("x", "rate")
"""Variables of a law: the distance between two points or the coordinate of a joint, and its rate."""
_STEP = 1e-5  # of the difference quotient of the potential
_CLOSE = 1e-6


@dataclass(frozen=True)
class Law:
    """A force law, in expressions of ``x``, ``rate`` and the fields of the type of force.

    ``x`` is the distance between two points, or the relative coordinate of a joint; ``rate`` is its time derivative. A
    positive force pulls the two points together, or opposes a positive coordinate. The total is ``elastic + drag``.

    Attributes:
        elastic: the part of the force that has a potential, a function of x.
        potential: the potential of the elastic part: d(potential)/dx = elastic.
        drag: the rest of the force, a function of x and rate. Its power is -drag*rate.
        kinked: whether the law has a kink or a jump that no ``abs``, ``max``, ``min``, ``sign``, ``floor``, ``ceil``,
            ``atan2`` or condition in its expressions shows, such as sqrt(x**2).

    Example:
        >>> law = Law(elastic="stiffness*(x - length)", potential="stiffness*(x - length)**2/2", drag="damping*rate")
        >>> sorted(law.fields), sorted(law.fixed_fields)
        (['damping', 'length', 'stiffness'], ['length', 'stiffness'])
    """

    elastic: str = "0"
    potential: str = "0"
    drag: str = "0"
    kinked: bool = False

    @property
    def expressions(self) -> tuple[Expression, Expression, Expression]:
        """Elastic force, potential and drag."""
        return parse(self.elastic), parse(self.potential), parse(self.drag)

    @property
    def fields(self) -> frozenset[str]:
        """Fields of the force that occur in the law."""
        return frozenset().union(*(e.names for e in self.expressions)).difference(MEASURED)

    @property
    def fixed_fields(self) -> frozenset[str]:
        """Fields that may use parameters only: a potential exists only if these are constant during the motion."""
        elastic, potential, _ = self.expressions
        return (elastic.names | potential.names).difference(MEASURED)

    def fault(self, fields: frozenset[str]) -> str:
        """The fault of the law for a type of force with these numeric fields; empty if there is none."""
        try:
            elastic, potential, _ = self.expressions
        except ExpressionError as error:
            return str(error)
        for name in MEASURED:
            if name in fields:
                return f"a field is called {quote(name)}, which is reserved for what the law measures; rename it"
        for name in sorted(self.fields - fields):
            return f"its law uses {quote(name)}, which is not a numeric field of this type"
        for what, expression in (("elastic force", elastic), ("potential", potential)):
            if "rate" in expression.names:
                return f"its {what} depends on rate: put such terms into drag"
        return _disagreement(elastic, potential)


def _disagreement(elastic: Expression, potential: Expression) -> str:
    """Compares the derivative of the potential with the elastic force at random points."""
    rng = random.Random(0)
    names = sorted((elastic.names | potential.names) - {"x"})
    compared = 0
    for _ in range(40):
        values = {name: rng.uniform(0.5, 2.0) for name in names}
        x = rng.uniform(0.2, 4.0)
        try:
            pull = elastic.evaluate({**values, "x": x})
            low, high = (potential.evaluate({**values, "x": x + s * _STEP}) for s in (-1, 1))
        except ExpressionError:
            continue
        compared += 1
        slope = (high - low) / (2 * _STEP)
        if abs(slope - pull) > _CLOSE * max(1.0, abs(slope), abs(pull), abs(high)):
            given = ", ".join(f"{name} = {value:.3g}" for name, value in {"x": x, **values}.items())
            return (
                f"its elastic force {quote(elastic.text)} is not the derivative of its potential "
                f"{quote(potential.text)} by x: {pull:.6g} and {slope:.6g} at {given}"
            )
    return "" if compared else "its elastic force or its potential has no value at any of 40 random places"
