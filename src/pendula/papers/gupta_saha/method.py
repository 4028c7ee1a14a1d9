"""The derivation of the paper (eqs. 4-13 and figure 3) in symbols, with a choice of what is taken as printed."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import sympy as sp

Array = npt.NDArray[np.float64]
Axis = Literal["code", "fixed", "body"]

ANGLES = sp.symbols("th1 th2 th3")
RATES = sp.symbols("th1d th2d th3d")
MASS, LENGTH, DIAMETER, GRAVITY = sp.symbols("m a d g")
DATA = {MASS: sp.Rational(5, 2), LENGTH: sp.Integer(1), DIAMETER: sp.Rational(1, 50), GRAVITY: sp.Rational(49, 5)}
THIRD = sp.Rational(1, 3)
PRINTED_THIRD = sp.Rational(3333, 10000)
"""1/3 as the appendix prints it"""


def rotation() -> sp.Matrix:
    """Q of equation 4."""
    th1, th2, th3 = ANGLES
    return sp.rot_axis3(-th1) * sp.rot_axis2(-th2) * sp.rot_axis3(-th3)


def rate_matrix() -> sp.Matrix:
    """L of equation 6."""
    th1, th2, _ = ANGLES
    return sp.Matrix(
        [[0, -sp.sin(th1), sp.sin(th2) * sp.cos(th1)], [0, sp.cos(th1), sp.sin(th2) * sp.sin(th1)], [1, 0, sp.cos(th2)]]
    )


def inertia_matrix(axis: Axis, share: sp.Expr) -> sp.Matrix:
    """The generalized inertia matrix of equation 10.

    Args:
        axis: how i2 i2^T is written: "code" as in figure 3, [1;0;0]*[0 0 1]; "fixed" with i2 = [1 0 0] in the fixed
            frame, as in the text of equation 10; "body" with i2 = Q e1.
        share: of m a^2 across the rod in I^c: 1/3 as printed, 1/12 about the mass centre.
    """
    Q, L = rotation(), rate_matrix()
    across = MASS * DIAMETER**2 / 16 + share * MASS * LENGTH**2
    turned = Q * sp.diag(MASS * DIAMETER**2 / 8, across, across) * Q.T
    e1, e3 = sp.Matrix([1, 0, 0]), sp.Matrix([0, 0, 1])
    product = {"code": e1 * e3.T, "fixed": e1 * e1.T, "body": Q * e1 * (Q * e1).T}[axis]
    quarter = MASS * LENGTH**2 / 4
    return quarter * L.T * L - quarter * L.T * product * L + L.T * turned * L


def velocity_terms(inertia: sp.Matrix) -> sp.Matrix:
    """h of equation 11."""
    entries = []
    for i in range(3):
        total = sp.Integer(0)
        for j in range(3):
            for k in range(3):
                slope = sp.diff(inertia[i, j], ANGLES[k]) - sp.diff(inertia[j, k], ANGLES[i]) / 2
                total += slope * RATES[j] * RATES[k]
        entries.append(total)
    return sp.Matrix(entries)


def gravity_terms() -> sp.Matrix:
    """gamma of equation 13."""
    _, th2, th3 = ANGLES
    half = MASS * LENGTH * GRAVITY / 2
    return sp.Matrix([0, half * sp.cos(th2) * sp.cos(th3), -half * sp.sin(th2) * sp.sin(th3)])


@lru_cache
def functions(axis: Axis, share: sp.Expr) -> tuple[Callable[..., Array], Callable[..., Array]]:
    """Numeric functions of angles and rates with the data of the paper: inertia matrix, and h + gamma."""
    inertia = inertia_matrix(axis, share).subs(DATA).applyfunc(shortened)
    forces = (velocity_terms(inertia) + gravity_terms()).subs(DATA)
    return sp.lambdify(ANGLES, inertia, cse=True), sp.lambdify((*ANGLES, *RATES), list(forces), cse=True)


def accelerations(axis: Axis, share: sp.Expr, x: Array) -> Array:
    """Second derivatives of the angles at x = (angles, rates)."""
    inertia, forces = functions(axis, share)
    return np.asarray(np.linalg.solve(inertia(*x[:3]), -np.asarray(forces(*x))))


def energy(axis: Axis, share: sp.Expr, x: Array) -> float:
    """Kinetic and potential energy with the inertia matrix of the derivation; z points down."""
    inertia, _ = functions(axis, share)
    data = {k.name: float(v) for k, v in DATA.items()}
    kinetic = x[3:] @ inertia(*x[:3]) @ x[3:] / 2
    return float(kinetic + data["m"] * data["g"] * data["a"] / 2 * np.sin(x[1]) * np.cos(x[2]))


def shortened(expression: sp.Expr) -> sp.Expr:
    """Multiplied out and collected, with sin^2 = 1 - cos^2 in every angle: a normal form."""
    once = sp.expand(expression)
    for _ in range(2):  # powers up to the fourth
        once = sp.expand(once.replace(_even_sine, lambda e: (1 - sp.cos(e.base.args[0]) ** 2) * e.base ** (e.exp - 2)))
    return once


def _even_sine(e: sp.Expr) -> bool:
    return bool(e.is_Pow and isinstance(e.base, sp.sin) and e.exp.is_Integer and e.exp >= 2)


def printed_equations() -> dict[str, list[Any]]:
    """The code of figure 3 as given equations of the library's rod, M a = f."""
    names = dict(zip((*ANGLES, *RATES), sp.symbols("phi theta psi phi_dot theta_dot psi_dot"), strict=True))
    inertia = inertia_matrix("code", THIRD).applyfunc(shortened)
    forces = -(velocity_terms(inertia) + gravity_terms()).applyfunc(shortened)
    return {
        "M": [[str(inertia[i, j].subs(names)) for j in range(3)] for i in range(3)],
        "f": [str(x.subs(names)) for x in forces],
    }
