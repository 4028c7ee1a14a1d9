"""The DAE method of section 4, equation by equation, with a choice of equations that are taken as printed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import pendula

Array = npt.NDArray[np.float64]


def links_of(model: pendula.Model) -> tuple[Array, Array, Array, Array]:
    """Masses, lengths, mass centres and inertias of the links of a chain or linkage of the library."""
    p, numbers = model.parameter_values, range(1, len(model.bodies) + 1)

    def each(name: str, otherwise: Array) -> Array:
        return np.array([p.get(f"{name}{i}", p.get(name, x)) for i, x in zip(numbers, otherwise, strict=True)])

    unknown = np.full(len(numbers), np.nan)
    m, l = each("m", unknown), each("l", unknown)
    l[-1] = p.get("last", l[-1])
    return m, l, each("d", l / 2), each("J", m * l**2 / 12)


def dae(
    model: pendula.Model,
    q: Array,
    w: Array,
    printed: Collection[str] = (),
    *,
    closed: bool = False,
    base: Sequence[float] = (0.0, 0.0),
    end: Sequence[float] = (0.0, 0.0),
) -> tuple[Array, Array]:
    """Matrix and right-hand side of equation 33, or of equation 50 for a linkage, at one state.

    The unknowns are x'' and y'' of each G, theta'' of each link, and R of each elbow.

    Args:
        model: a chain or linkage of the library.
        q, w: absolute angles and their rates.
        printed: equations taken as printed: "38" with F_g = −m g and "38 size" with F_g = m g, "40", "45", "46", "57".
        closed: whether the end of the last link is held.
        base, end: accelerations x'', y'' of the base, and of the end of the last link if it is held.
    """
    n, p = len(q), model.parameter_values
    m, l, d, J = links_of(model)
    size = 5 * n + (2 if closed else 0)
    r_hat = np.stack([np.sin(q), -np.cos(q)], axis=1)  # eq. 16
    t_hat = np.stack([np.cos(q), np.sin(q)], axis=1)
    elbows = np.vstack([np.zeros(2), np.cumsum(l[:, None] * r_hat, axis=0)])
    A, b = np.zeros((size, size)), np.zeros(size)
    for i in range(n):
        place, turn, up, down = slice(2 * i, 2 * i + 2), 2 * n + i, 3 * n + 2 * i, 3 * n + 2 * i + 2
        for axis in range(2):  # eqs. 37, 38
            A[2 * i + axis, 2 * i + axis] = m[i]
            A[2 * i + axis, up + axis] = -1.0
            if i < n - 1 or closed:
                A[2 * i + axis, down + axis] = 1.0
        weight = -m[i] * p["g"]
        upward = ("38 size" in printed and i < n - 1) or ("38" in printed and i == n - 1)
        b[2 * i + 1] = -weight if upward else weight
        # eq. 45: arms from G to the upper and lower elbow, or absolute positions of the elbows
        upper, lower = -d[i] * r_hat[i], (l[i] - d[i]) * r_hat[i]
        if "45" in printed:
            upper, lower = -elbows[i], elbows[i + 1]
        A[turn, turn] = J[i]
        A[turn, up], A[turn, up + 1] = upper[1], -upper[0]
        if i < n - 1 or closed:
            A[turn, down], A[turn, down + 1] = -lower[1], lower[0]
        _constraint(A, b, i, place, turn, (l, d, r_hat, t_hat, w), printed, base)
    for axis in range(2 if closed else 0):  # last row of eqs. 54 and 57: the end of the last link
        arm = l[-1] - d[-1]
        A[5 * n + axis, 2 * n - 2 + axis] = 1.0
        A[5 * n + axis, 3 * n - 1] = arm * t_hat[-1, axis]
        b[5 * n + axis] = arm * w[-1] ** 2 * r_hat[-1, axis] + end[axis]
    return A, b


def _constraint(
    A: Array,
    b: Array,
    i: int,
    place: slice,
    turn: int,
    links: tuple[Array, ...],
    printed: Collection[str],
    base: Sequence[float],
) -> None:
    """Equations 40, 46 and 49: the upper elbow of link i moves with the lower elbow of link i - 1, or with the base."""
    l, d, r_hat, t_hat, w = links
    n = len(w)
    sign = -1.0 if "40" in printed else 1.0
    for axis in range(2):
        row = 3 * n + 2 * i + axis
        A[row, place.start + axis] = 1.0
        A[row, turn] = -d[i] * t_hat[i, axis]
        b[row] = -d[i] * w[i] ** 2 * r_hat[i, axis]
        if i == 0:
            b[row] += base[axis]
            continue
        same_link = "46" in printed or ("57" in printed and i == n - 1)
        other = i if same_link else i - 1
        arm = sign * (l[other] - d[other])
        A[row, 2 * other + axis] -= 1.0
        A[row, 2 * n + other] -= arm * t_hat[other, axis]
        b[row] -= arm * w[other] ** 2 * r_hat[other, axis]


def angular(model: pendula.Model, q: Array, w: Array, printed: Collection[str] = (), **more: Any) -> tuple[Array, int]:
    """Angular accelerations of the method, and the rank of its matrix; zeros if it is singular."""
    A, b = dae(model, q, w, printed, **more)
    rank = int(np.linalg.matrix_rank(A))
    if rank < len(A):
        return np.zeros(len(q)), rank
    return np.asarray(np.linalg.solve(A, b)[2 * len(q) : 3 * len(q)]), rank
