"""Quaternions and rotation vectors in the stages: the identities they obey, and the functions of a length by name."""

from __future__ import annotations

from typing import Any

import symengine as se

from pendula.equations.equations import Equations, inlined
from pendula.equations.orientation.symbols import stumpff
from pendula.equations.simplify.surface import RotationVector, Surface
from pendula.equations.tape import Tape, substituted
from pendula.model.joints.orientation import ROTATION_VECTOR


class Charts:
    """The orientations of equations whose coordinates obey identities.

    Attributes:
        surface: the identities.
        words: the meaning of the names of functions, one sentence for each rotation vector.
    """

    def __init__(self, eq: Equations) -> None:
        self.eq = eq
        vectors, self.words = [], list[str]()
        taken = {str(s) for s in (*eq.q, *eq.v, *eq.u, *eq.p, eq.t)}
        for joint in eq.model.tree:
            own = joint.attitude()
            names = joint.coordinate_names()[-3:]
            if own is None or own.chart.name != ROTATION_VECTOR or se.Symbol(names[0]) not in eq.q:
                continue
            x, y, z = (se.Symbol(n) for n in names)
            cosine, sine, square = (_free(f"{joint.name}_{end}", taken) for end in ("c", "s", "a2"))
            vectors.append(RotationVector((x, y, z), se.Symbol(cosine), se.Symbol(sine), se.Symbol(square)))
            self.words.append(
                f"{square} = {x}^2 + {y}^2 + {z}^2, {cosine} = cos(a/2) and {sine} = sin(a/2)/a, where a is the square "
                f"root of {square}"
            )
        quaternions = tuple(tuple(eq.q[k.first : k.first + 4]) for k in eq.quaternions)
        self.surface = Surface(quaternions, tuple(vectors))
        self._table = inlined(eq.definitions, self._functions())

    def inline(self, expression: Any) -> Any:
        """An expression without intermediates; of a rotation vector the functions of its length stay."""
        return substituted(expression, self._table)

    def _functions(self) -> dict[Any, Any]:
        """Intermediates that are functions of the length of a rotation vector, written with those of the surface."""
        intermediates = {e: s for s, e in self.eq.definitions}
        found = {}
        for vector in self.surface.vectors:
            squares = se.Add(*[x**2 for x in vector.components])
            for argument, closed in ((squares / 4, _of_quarter(vector)), (squares, _of_square(vector))):
                known = intermediates.get(argument)
                if known is None:
                    continue
                for n, form in closed.items():
                    tape = Tape()
                    function = intermediates.get(tape.definitions[stumpff(tape, n, known, "any")])
                    if function is not None:
                        found[function] = form
                found[known] = vector.square / (4 if argument != squares else 1)
        return found


def _of_quarter(v: RotationVector) -> dict[int, Any]:
    """Stumpff's functions c_n of a^2/4."""
    return {0: v.cosine, 1: 2 * v.sine}


def _of_square(v: RotationVector) -> dict[int, Any]:
    """Stumpff's functions c_n of a^2, by half angles."""
    c, s, a2 = v.cosine, v.sine, v.square
    return {2: 2 * s**2, 3: (1 - 2 * s * c) / a2, 4: (se.Rational(1, 2) - 2 * s**2) / a2}


def _free(name: str, taken: set[str]) -> str:
    """A name that no symbol of the equations has."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
