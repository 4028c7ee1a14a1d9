"""One step of Radau IIA, the implicit collocation method of order 5, compiled: Newton's iteration and error estimate.

Source: E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, 2nd ed. 1996, section IV.8, which
SciPy's ``Radau`` follows too. The unknowns are Z, the changes of the state at the three collocation points,

    A^-1 Z = h F(y + Z)

In the basis that makes A^-1 block diagonal, each Newton step is one real and one complex linear system of the
size of the state. The Jacobian is found by differences of the right-hand side, of which nothing else is known.
Components that are only integrated along (quadratures) stay outside the linear systems: nothing depends on them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pendula.numerics.compiled.jit import compiled_part
from pendula.numerics.solvers.linear import lu_factor, lu_solve
from pendula.numerics.steppers.runge_kutta import (
    EARLIEST,
    ERROR,
    EVALUATIONS,
    RETRYING,
    T,
    all_finite,
    call_rhs,
    evaluate,
    note_bad,
)

ITERATIONS = 6
RELATIVE_DIFFERENCE = float(np.sqrt(np.finfo(float).eps))
SAME_STEP = 1e-6  # relative change of the step within which factors are used again
GROWTH_STRIDE = 1.25  # between the step sizes that are looked at before a step grows

SOLVED, DIVERGED, BAD = range(3)  # what solve_stages returns
NONE, OLD, CURRENT = range(3)  # values of flag[JACOBIAN]

# Slots of Collocation.real and Collocation.flag.
FACTORED_H, PAST_H, PAST_ERROR, RATE = range(4)
JACOBIAN, HAS_PAST, ITERATED = range(3)


class Collocation(NamedTuple):
    """Coefficients of the method, and the arrays that one run needs beyond those of ``Run``."""

    points: np.ndarray  # fractions of the step
    forward: np.ndarray  # from the basis of the linear systems to stages
    backward: np.ndarray  # from stages to that basis
    error: np.ndarray  # weights of Z in the error estimate
    powers: np.ndarray  # from Z to the coefficients of x, x^2, x^3 of the collocation polynomial
    real_eigenvalue: float  # of A^-1
    complex_eigenvalue: complex
    tolerance: float  # of Newton's iteration, relative to that of a step
    z: np.ndarray
    w: np.ndarray
    past: np.ndarray  # polynomial of the last accepted step
    jacobian: np.ndarray
    real_factors: np.ndarray
    complex_factors: np.ndarray
    real_pivots: np.ndarray
    complex_pivots: np.ndarray
    real_part: np.ndarray  # right-hand sides of the linear systems
    complex_part: np.ndarray
    real: np.ndarray
    flag: np.ndarray


def coefficients() -> dict[str, Any]:
    """Radau IIA with three stages. Hairer & Wanner, table IV.5.6 and section IV.8."""
    r = 6.0**0.5
    A = np.array(
        [
            [(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
            [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
            [(16 - r) / 36, (16 + r) / 36, 1 / 9],
        ]
    )
    points = A.sum(axis=1)
    eigenvalues, vectors = np.linalg.eig(np.linalg.inv(A))
    alone, pair = np.argmin(np.abs(eigenvalues.imag)), np.argmax(eigenvalues.imag)
    vectors = vectors / vectors[2]  # as in the book: the last row of ``forward`` is 1, 1, 0
    forward = np.column_stack([vectors[:, alone].real, vectors[:, pair].real, vectors[:, pair].imag])
    return {
        "points": points,
        "forward": forward,
        "backward": np.linalg.inv(forward),
        "error": np.array([-13 - 7 * r, -13 + 7 * r, -1.0]) / 3,
        "powers": np.linalg.inv(points[:, None] ** np.arange(1, 4)),
        "real_eigenvalue": float(eigenvalues[alone].real),
        "complex_eigenvalue": complex(eigenvalues[pair].conjugate()),
    }


def collocation(n: int, m: int, rtol: float) -> Collocation:
    """The method for ``n`` components of which the first ``m`` control the steps."""
    smallest = 10.0 * float(np.finfo(float).eps) / rtol
    return Collocation(
        **coefficients(),
        tolerance=max(smallest, min(0.03, rtol**0.5)),
        z=np.zeros((3, n)),
        w=np.zeros((3, n)),
        past=np.zeros((3, n)),
        jacobian=np.zeros((n, m)),
        real_factors=np.zeros((m, m)),
        complex_factors=np.zeros((m, m), dtype=complex),
        real_pivots=np.zeros(m, dtype=np.int64),
        complex_pivots=np.zeros(m, dtype=np.int64),
        real_part=np.zeros(n),
        complex_part=np.zeros(n, dtype=complex),
        real=np.zeros(4),
        flag=np.zeros(3, dtype=np.int64),
    )


@compiled_part
def find_jacobian(run, method):
    """Derivatives of the right-hand side by one-sided differences; False if some are not finite on either side.

    A component is moved in the direction it moves anyway, by a part of its size; a size below atol / rtol does not
    count in the tolerance either.
    """
    rows, y, stage = run.rows, run.y, run.stage
    for k in range(y.size):
        rows[stage, k + 1] = y[k]
    for k in range(run.controlled):
        by = RELATIVE_DIFFERENCE * max(abs(y[k]), run.atol[k] / run.rtol)
        if rows[0, k + 1] * run.direction < 0.0:
            by = -by
        found = False
        for _ in range(2):
            rows[stage, k + 1] = y[k] + by
            run.counter[EVALUATIONS] += 1
            if call_rhs(run.rhs, run.rhs_context, rows, stage, run.real[EARLIEST], 1, run.y.size):
                found = True
                break
            by = -by
        if not found:
            note_bad(run, 1, run.real[EARLIEST])
            return False
        by = rows[stage, k + 1] - y[k]
        for i in range(y.size):
            method.jacobian[i, k] = (rows[1, i + 1] - rows[0, i + 1]) / by
        rows[stage, k + 1] = y[k]
    method.flag[JACOBIAN] = CURRENT
    method.real[FACTORED_H] = 0.0
    return True


@compiled_part
def factor_real(run, method, h):
    """Factors of eigenvalue / h - J for the real eigenvalue; False if the step is too long for what grows.

    A motion that grows (a pendulum on its head) is damped by an implicit step that is long against its growth, and
    an error estimate does not see it while it is small. When the step passes eigenvalue / growth rate, the
    determinant changes its sign: rates that are passed in even number are not noticed.
    """
    m, A = run.controlled, method.real_factors
    method.real[FACTORED_H] = 0.0
    for i in range(m):
        for k in range(m):
            A[i, k] = -method.jacobian[i, k]
        A[i, i] += method.real_eigenvalue / h
    small_step = -1 if h < 0.0 and m % 2 == 1 else 1  # sign of the determinant for short steps
    return lu_factor(A, m, method.real_pivots) == small_step


@compiled_part
def factor(run, method, h):
    """Factors of eigenvalue / h - J, real and complex; False if one is singular or the step too long."""
    m, A = run.controlled, method.complex_factors
    if not factor_real(run, method, h):
        return False
    for i in range(m):
        for k in range(m):
            A[i, k] = -method.jacobian[i, k]
        A[i, i] += method.complex_eigenvalue / h
    if lu_factor(A, m, method.complex_pivots) == 0:
        return False
    method.real[FACTORED_H] = h
    return True


@compiled_part
def allowed_growth(run, method, h, most):
    """How many times the step h may become longer, up to ``most``, before it passes what :func:`factor_real` says."""
    found = 1.0
    while found < most:
        further = min(found * GROWTH_STRIDE, most)
        if not factor_real(run, method, h * further):
            break
        found = further
    return found


@compiled_part
def guess(run, method, h):
    """Z by going on along the polynomial of the last step, or zero; and the same in the other basis."""
    z, w, past, back = method.z, method.w, method.past, method.backward
    ratio = h / method.real[PAST_H] if method.flag[HAS_PAST] == 1 else 0.0
    for i in range(3):
        x = 1.0 + ratio * method.points[i]
        for k in range(run.y.size):
            z[i, k] = (x - 1.0) * (past[0, k] + (x + 1.0) * past[1, k] + (x * x + x + 1.0) * past[2, k])
    for i in range(3):
        for k in range(run.y.size):
            w[i, k] = back[i, 0] * z[0, k] + back[i, 1] * z[1, k] + back[i, 2] * z[2, k]


@compiled_part
def evaluate_stages(run, tableau, method, h, latest):
    """Derivatives at the collocation points into rows 1 to 3; False if something is not finite."""
    rows, y, stage, direction, earliest = run.rows, run.y, run.stage, run.direction, run.real[EARLIEST]
    for i in range(3):
        for k in range(y.size):
            rows[stage, k + 1] = y[k] + method.z[i, k]
        at = latest if i == 2 else run.real[T] + tableau.nodes[i + 1] * h
        if direction * (at - latest) > 0.0:
            at = latest
        if direction * (at - earliest) < 0.0:
            at = earliest
        run.counter[EVALUATIONS] += 1
        if not call_rhs(run.rhs, run.rhs_context, rows, stage, at, i + 1, run.y.size):
            note_bad(run, i + 1, at)
            return False
    return True


@compiled_part
def newton_step(run, method, h):
    """One correction of Z and W from the derivatives in rows 1 to 3; its size in the norm of the tolerance."""
    rows, z, w, back, forth = run.rows, method.z, method.w, method.backward, method.forward
    b, c, J = method.real_part, method.complex_part, method.jacobian
    n, m = run.y.size, run.controlled
    real_shift, complex_shift = method.real_eigenvalue / h, method.complex_eigenvalue / h
    for k in range(n):
        f0, f1, f2 = rows[1, k + 1], rows[2, k + 1], rows[3, k + 1]
        b[k] = back[0, 0] * f0 + back[0, 1] * f1 + back[0, 2] * f2 - real_shift * w[0, k]
        re = back[1, 0] * f0 + back[1, 1] * f1 + back[1, 2] * f2
        im = back[2, 0] * f0 + back[2, 1] * f1 + back[2, 2] * f2
        c[k] = complex(re, im) - complex_shift * complex(w[1, k], w[2, k])
    lu_solve(method.real_factors, m, method.real_pivots, b)
    lu_solve(method.complex_factors, m, method.complex_pivots, c)
    for i in range(m, n):  # quadratures follow the others, and nothing follows them
        for k in range(m):
            b[i] += J[i, k] * b[k]
            c[i] += J[i, k] * c[k]
        b[i] /= real_shift
        c[i] /= complex_shift
    total = 0.0
    for k in range(n):
        if k < m:
            scale = 1.0 / (run.atol[k] + run.rtol * abs(run.y[k]))
            total += (b[k] * b[k] + c[k].real * c[k].real + c[k].imag * c[k].imag) * scale * scale
        w[0, k] += b[k]
        w[1, k] += c[k].real
        w[2, k] += c[k].imag
        for i in range(3):
            z[i, k] = forth[i, 0] * w[0, k] + forth[i, 1] * w[1, k] + forth[i, 2] * w[2, k]
    return np.sqrt(total / (3.0 * max(m, 1)))


@compiled_part
def solve_stages(run, tableau, method, h, latest):
    """Z of the step h by simplified Newton iterations: SOLVED, DIVERGED or BAD (a value is not finite).

    Hairer & Wanner, section IV.8: given up as soon as the rate of convergence says that the iterations allowed
    will not do.
    """
    tolerance, before, rate = method.tolerance, 0.0, 0.0
    for k in range(ITERATIONS):
        if not evaluate_stages(run, tableau, method, h, latest):
            return BAD
        size = newton_step(run, method, h)
        method.flag[ITERATED] = k + 1
        if not np.isfinite(size):
            return DIVERGED
        if k > 0:
            rate = size / before
            method.real[RATE] = rate
            if rate >= 1.0 or rate ** (ITERATIONS - k) / (1.0 - rate) * size > tolerance:
                return DIVERGED
        if size == 0.0 or (k > 0 and rate / (1.0 - rate) * size < tolerance):
            return SOLVED
        before = size
    return DIVERGED


@compiled_part
def _estimate(run, method, base, h):
    """Error estimate from the derivative in row ``base``, into the scratch row; returns its norm.

    (eigenvalue / h - J)^-1 (f + E Z / h): the factor in front keeps it of the size of the error for stiff components.
    """
    rows, z, e, b, m = run.rows, method.z, method.error, method.real_part, run.controlled
    for k in range(m):
        b[k] = rows[base, k + 1] + (e[0] * z[0, k] + e[1] * z[1, k] + e[2] * z[2, k]) / h
    lu_solve(method.real_factors, m, method.real_pivots, b)
    total = 0.0
    for k in range(m):
        size = max(abs(run.y[k]), abs(rows[run.new, k + 1]))
        total += (b[k] / (run.atol[k] + run.rtol * size)) ** 2
        rows[run.scratch, k + 1] = b[k]
    return np.sqrt(total / max(m, 1))


@compiled_part
def estimate_error(run, method, h):
    """Norm of the error of the step into ``real[ERROR]``; False if it is not finite.

    After a rejected step an estimate that is too large is filtered once more, as the first steps into a stiff
    transient would otherwise be far too short.
    """
    error = _estimate(run, method, 0, h)
    if error >= 1.0 and run.counter[RETRYING] > 0:
        for k in range(run.y.size):
            run.rows[run.stage, k + 1] = run.y[k]
        for k in range(run.controlled):
            run.rows[run.stage, k + 1] += run.rows[run.scratch, k + 1]
        run.counter[EVALUATIONS] += 1
        if call_rhs(run.rhs, run.rhs_context, run.rows, run.stage, run.real[EARLIEST], 1, run.y.size):
            error = _estimate(run, method, 1, h)
    run.real[ERROR] = error
    return np.isfinite(error)


@compiled_part
def attempt_implicit(run, tableau, method, h, t_new, latest):
    """One step of size h into row ``new``, error norm in ``real[ERROR]``: SOLVED, DIVERGED or BAD.

    The Jacobian and the factors are used again as long as they serve.
    """
    n = run.y.size
    if method.flag[JACOBIAN] == NONE and not find_jacobian(run, method):
        return BAD
    while True:
        code = DIVERGED
        if abs(h - method.real[FACTORED_H]) <= SAME_STEP * abs(h) or factor(run, method, h):
            guess(run, method, h)
            code = solve_stages(run, tableau, method, h, latest)
        if code == SOLVED:
            break
        if method.flag[JACOBIAN] == CURRENT:
            return code
        if not find_jacobian(run, method):
            return BAD
    for k in range(n):
        run.rows[run.new, k + 1] = run.y[k] + method.z[2, k]
    if not all_finite(run.rows, run.new, n):
        note_bad(run, run.new, t_new)
        return BAD
    return SOLVED if estimate_error(run, method, h) else DIVERGED


@compiled_part
def prepare_polynomial(run, tableau, method, h, latest, fresh_end):
    """The collocation polynomial of a step within tolerance, its slopes at both ends for the dense output, and the
    derivative at the end unless ``fresh_end`` says that it will be taken afresh; False if it is not finite.
    """
    rows, z, p, past = run.rows, method.z, method.powers, method.past
    for k in range(run.y.size):
        for i in range(3):
            past[i, k] = p[i, 0] * z[0, k] + p[i, 1] * z[1, k] + p[i, 2] * z[2, k]
        rows[tableau.first_slope, k + 1] = past[0, k] / h
        rows[tableau.last_slope, k + 1] = (past[0, k] + 2.0 * past[1, k] + 3.0 * past[2, k]) / h
    method.flag[HAS_PAST] = 0
    return fresh_end or evaluate(run, run.new, latest, tableau.stages)
