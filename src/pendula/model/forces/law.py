"""Force laws, as data in the expression language of model files."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pendula.model.expressions.expression import Expression, parse
from pendula.model.expressions.slopes import Slopes
from pendula.model.names import ExpressionError, quote

MEASURED = ("x", "rate")
"""Variables of a law: the distance between two points or the coordinate of a joint, and its rate."""
_PLACES = 300  # where a law is evaluated, half of them of moderate size: many laws hold only there
_CLOSE = 1e-6
_SMALLEST = 1e-3  # forces below this are compared without regard to their size
_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")


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
        return ""

    def mismatch(self, given: Mapping[str, float], *, signed: bool = True) -> str:
        """Where the elastic force is not the derivative of the potential, in words; empty if they agree.

        Args:
            given: values of fields. Others, and x, are drawn from many decades, and from both sides of every number in
                the law, which may be the limit of a condition.
            signed: whether x may be negative: a coordinate may, a distance may not.
        """
        elastic, potential, _ = self.expressions
        rng = random.Random(0)
        limits = [abs(float(text)) for text in _NUMBER.findall(f"{elastic.text} {potential.text}") if float(text)]
        names = sorted((elastic.names | potential.names).difference({"x"}, given))
        compared = 0
        for place in range(_PLACES):
            x, *values = (_somewhere(rng, limits, place % 2 == 0) for _ in range(1 + len(names)))
            if signed and rng.random() < 0.5:
                x = -x
            at = {**given, **dict(zip(names, values, strict=True))}
            algebra = Slopes({**at, "x": x}, "x")
            (pull, _), (_, slope) = elastic.interpret(algebra), potential.interpret(algebra)
            if not (math.isfinite(pull) and math.isfinite(slope)):
                continue
            compared += 1
            if abs(slope - pull) > _CLOSE * max(abs(slope), abs(pull), _SMALLEST):
                shown = ", ".join(f"{name} = {value:.3g}" for name, value in {"x": x, **at}.items())
                return (
                    f"its elastic force {quote(elastic.text)} is not the derivative of its potential "
                    f"{quote(potential.text)} by x: {pull:.6g} and {slope:.6g} at {shown}"
                )
        return (
            ""
            if compared or given
            else f"its elastic force or its potential has no value at any of {_PLACES} random places"
        )


def _somewhere(rng: random.Random, limits: list[float], moderate: bool) -> float:
    """A positive number of moderate size, or else one from seven decades or near a limit."""
    if moderate:
        return rng.uniform(0.2, 4.0)
    if limits and rng.random() < 0.3:
        return rng.choice(limits) * rng.uniform(0.5, 1.5)
    return 10.0 ** rng.uniform(-3.0, 4.0)
