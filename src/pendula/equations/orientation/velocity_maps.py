"""Writes the angular-velocity maps L of the orientations of a model: omega = L q' (Gupta and Saha, eqs. 5 and 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.orientation.symbols import velocity_map
from pendula.equations.tape import Tape
from pendula.library.lookup import model_of
from pendula.model.joints.orientation import ROTATION_VECTOR
from pendula.model.model import Model
from pendula.words import readable


@readable
@dataclass(frozen=True)
class VelocityMap:
    """The map L of omega = L q' of one orientation, in axes of the body or of the joint's parent side.

    Attributes:
        joint: name of the joint.
        chart: its coordinates, as in the model.
        axes: "body" or "parent".
        coordinates: names of the entries of q.
        L: three rows of SymEngine expressions.
        functions: definitions of the functions of a rotation vector that the entries use, by name.

    Example:
        >>> import pendula
        >>> [str(x) for x in pendula.derivation.velocity_maps("spatial-rod", "body")[0].L[2]]
        ['cos(theta)', '0', '1']
    """

    joint: str
    chart: str
    axes: str
    coordinates: tuple[str, ...]
    L: tuple[tuple[Any, ...], ...]
    functions: dict[str, str]

    def __str__(self) -> str:
        rates = ", ".join(f"{name}'" for name in self.coordinates)
        where = "body axes" if self.axes == "body" else "axes of the parent side"
        lines = [f'joint "{self.joint}" ({self.chart}): omega = L ({rates}), in {where}']
        texts = [[str(_sympy(x)) for x in row] for row in self.L]
        widths = [max(len(row[k]) for row in texts) for k in range(len(texts[0]))]
        lines += ["  [ " + "   ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)) + " ]" for row in texts]
        return "\n".join([*lines, *(f"  {name} = {text}" for name, text in self.functions.items())])

    def latex(self) -> str:
        """The map as LaTeX."""
        from sympy import latex  # slow to load

        rows = r" \\ ".join(" & ".join(latex(_sympy(x)) for x in row) for row in self.L)
        rates = r" \\ ".join(rf"\dot{{{latex(_sympy(se.Symbol(name)))}}}" for name in self.coordinates)
        omega = rf"{{}}_{{\mathrm{{{self.axes}}}}}\boldsymbol{{\omega}}"
        return rf"{omega} = \begin{{bmatrix}} {rows} \end{{bmatrix}} \begin{{bmatrix}} {rates} \end{{bmatrix}}"


def _sympy(expression: Any) -> Any:
    """An expression as one of SymPy, which writes products in a fixed order."""
    return se.sympify(expression)._sympy_()


def velocity_maps(model: Model | str, axes: Literal["parent", "body"] = "parent") -> tuple[VelocityMap, ...]:
    """The angular-velocity map of every spherical and free joint of a model.

    The angular velocity is that of the joint's child relative to its parent. For "zyz" in axes of the parent side, L is
    eq. 6 of Gupta and Saha.

    Args:
        model: a model, or the name of a library mechanism.
        axes: "parent" for the axes of the joint's parent side, or "body".

    Example:
        >>> print(velocity_maps("spatial-rod")[0])
        joint "ball" (zyz): omega = L (phi', theta', psi'), in axes of the parent side
          [ 0   -sin(phi)   sin(theta)*cos(phi) ]
          [ 0   cos(phi)    sin(phi)*sin(theta) ]
          [ 1   0           cos(theta)          ]
    """
    found = []
    for joint in model_of(model, "velocity_maps").tree:
        own = joint.attitude()
        if own is None:
            continue
        names = joint.coordinate_names()[-own.chart.count :]
        q, functions = [se.Symbol(name) for name in names], dict[str, str]()
        if own.chart.name == ROTATION_VECTOR:
            L, functions = _of_vector(q, axes)
        else:
            L = _plain(own.chart, q, axes)
        found.append(VelocityMap(joint.name, own.chart.name, axes, names, L, functions))
    return tuple(found)


def _plain(chart: Any, q: list[Any], axes: Literal["parent", "body"]) -> tuple[tuple[Any, ...], ...]:
    """L with sines and cosines written out."""
    tape = Tape()
    rows = velocity_map(tape, chart, q, axes, "map")
    return tuple(tuple(tape.inline(x) for x in row) for row in rows)


def _of_vector(q: list[Any], axes: str) -> tuple[tuple[tuple[Any, ...], ...], dict[str, str]]:
    """L = 1 -+ c2 [r] + c3 [r]^2 of a rotation vector r, with the functions c2 and c3 of its length by name."""
    c2, c3 = se.Symbol("c2"), se.Symbol("c3")
    sign = -1 if axes == "body" else 1
    skew = vec.skew(q)
    L = tuple(
        tuple(
            (1 - c3 * sum(e**2 for k, e in enumerate(q) if k != i) if i == j else c3 * q[i] * q[j])
            + sign * c2 * skew[i][j]
            for j in range(3)
        )
        for i in range(3)
    )
    length = f"a = |({', '.join(map(str, q))})|"
    functions = {"c2": f"(1 - cos(a))/a^2, 1/2 at a = 0, with {length}", "c3": "(a - sin(a))/a^3, 1/6 at a = 0"}
    return L, functions
