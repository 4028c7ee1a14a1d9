"""One step of Radau IIA, the implicit collocation method of order 5, compiled: Newton iteration and error estimate.

Source: E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II*, 2nd ed. 1996, section IV.8, which
SciPy's ``Radau`` also follows. The unknowns are Z, the changes of the state at the three collocation points,

    A^-1 Z = h F(y + Z)

In the basis in which A^-1 is block diagonal, each Newton step solves one real and one complex linear system of the
size of the state. Finite differences of the right-hand side approximate the Jacobian. Quadratures are not part of the
linear systems, since nothing depends on them.

Step-size control is that of section IV.8, with the constants of SciPy's ``Radau``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from pendula.numerics.compiled.jit import compiled_callback, compiled_part
from pendula.numerics.compiled.native import doubles_at, integers_at, view_at
from pendula.numerics.compiled.records import Memory, reader, record_dtype
from pendula.numerics.solvers.linear import lu_factor, lu_solve
from pendula.numerics.steppers.control import MAX_FACTOR, SAFETY
from pendula.numerics.steppers.equations import call_rhs, copy_state, evaluate, is_finite, note_bad, within_step
from pendula.numerics.steppers.run import BAD_VALUE, GO_ON, NO_SOLUTION, row, run_at

ITERATIONS = 6
RELATIVE_DIFFERENCE = float(np.sqrt(np.finfo(float).eps))
SAME_STEP = 1e-6  # relative change of the step size up to which factors are reused
GROWTH_STRIDE = 1.25  # ratio of the step sizes that are tried before a step grows

SLOW_RATE = 1e-3  # convergence rate of Newton's iteration above which, after more than two, the Jacobian is renewed
WORTH_A_CHANGE = 1.2  # a step that could grow by less than this keeps its size, so that factors are reused
AFTER_DIVERGENCE = 0.5
LEAST_PAST_ERROR = 1e-2

SOLVED, DIVERGED, BAD = range(3)  # what solve_stages returns
NONE, OLD, CURRENT = range(3)  # values of ``state`` of the Jacobian

COLLOCATION = record_dtype(
    reals="real_eigenvalue complex_real complex_imag tolerance factored_h past_h past_error rate",
    whole="""
        points forward backward error powers z w past jacobian real_factors complex_factors real_pivots complex_pivots
        real_part complex_part state has_past iterated
    """,
)
"""Coefficients of the method, and data of one run beyond its record.

Eigenvalues are those of A^-1; ``tolerance``: of the Newton iteration, relative to that of a step; ``factored_h``: step
size of the factors (0: none); ``past_h``, ``past_error``: of the last accepted step; ``rate``: of convergence;
``points``: fractions of the step; ``forward`` transforms from the basis of the linear systems to stages, ``backward``
back; ``error``: weights of Z in the error estimate; ``powers`` maps Z to the coefficients of x, x^2, x^3 of the
collocation polynomial; ``past``: polynomial of the last accepted step; ``state``: whether the Jacobian is current;
``has_past``: 1 if ``past`` may be extrapolated; ``iterated``: number of iterations.
"""

method_at = reader(COLLOCATION)
complexes_at = view_at(types.complex128, 16)


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
        "complex_real": float(eigenvalues[pair].real),
        "complex_imag": -float(eigenvalues[pair].imag),
    }


def collocation(n: int, m: int, rtol: float) -> Memory:
    """The method for ``n`` components of which the first ``m`` control the steps."""
    smallest = 10.0 * float(np.finfo(float).eps) / rtol
    found = {name: np.ascontiguousarray(x) if np.ndim(x) else x for name, x in coefficients().items()}
    return Memory(
        COLLOCATION,
        **found,
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
    )


@compiled_part
def find_jacobian(run, method):
    """Jacobian of the right-hand side by one-sided differences; False if values are not finite on either side.

    A component is perturbed in its direction of motion by a fraction of its size, or of atol / rtol if that is
    larger: smaller sizes do not matter in the tolerance either.
    """
    y, atol, n = doubles_at(run.y, run.n), doubles_at(run.atol, run.n), run.n
    stage, first, moved = row(run, run.stage), row(run, 0), row(run, 1)
    jacobian = doubles_at(method.jacobian, (n, run.controlled))
    copy_state(run, run.stage)
    for k in range(run.controlled):
        by = RELATIVE_DIFFERENCE * max(abs(y[k]), atol[k] / run.rtol)
        if first[k + 1] * run.direction < 0.0:
            by = -by
        found = False
        for _ in range(2):
            stage[k + 1] = y[k] + by
            run.evaluations += 1
            if call_rhs(run.rhs, run.rhs_context, run.rows, run.width, run.stage, run.earliest, 1, n):
                found = True
                break
            by = -by
        if not found:
            note_bad(run, 1, run.earliest)
            return False
        by = stage[k + 1] - y[k]
        for i in range(n):
            jacobian[i, k] = (moved[i + 1] - first[i + 1]) / by
        stage[k + 1] = y[k]
    method.state = CURRENT
    method.factored_h = 0.0
    return True


@compiled_part
def _shifted(run, method, A, shift):
    """Writes shift - J into A."""
    m = run.controlled
    jacobian = doubles_at(method.jacobian, (run.n, m))
    for i in range(m):
        for k in range(m):
            A[i, k] = -jacobian[i, k]
        A[i, i] += shift


@compiled_part
def factor_real(run, method, h):
    """Factors of eigenvalue / h - J for the real eigenvalue; False if the step is too long for a growing motion.

    An implicit step damps a growing motion (an inverted pendulum) if it is long compared to the time of growth, and
    the error estimate does not detect this while the motion is small. When the step exceeds eigenvalue / growth rate,
    the determinant changes its sign; an even number of such rates goes undetected.
    """
    m = run.controlled
    A = doubles_at(method.real_factors, (m, m))
    method.factored_h = 0.0
    _shifted(run, method, A, method.real_eigenvalue / h)
    small_step = -1 if h < 0.0 and m % 2 == 1 else 1  # sign of the determinant for short steps
    return lu_factor(A, m, integers_at(method.real_pivots, m)) == small_step


@compiled_part
def factor(run, method, h):
    """Factors of eigenvalue / h - J, real and complex; False if one is singular or the step too long."""
    m = run.controlled
    A = complexes_at(method.complex_factors, (m, m))
    if not factor_real(run, method, h):
        return False
    _shifted(run, method, A, complex(method.complex_real, method.complex_imag) / h)
    if lu_factor(A, m, integers_at(method.complex_pivots, m)) == 0:
        return False
    method.factored_h = h
    return True


@compiled_part
def allowed_growth(run, method, h, most):
    """Factor by which the step h may grow, up to ``most``, before :func:`factor_real` rejects it."""
    found = 1.0
    while found < most:
        further = min(found * GROWTH_STRIDE, most)
        if not factor_real(run, method, h * further):
            break
        found = further
    return found


@compiled_part
def guess(run, method):
    """Initial guess of Z by extrapolating the polynomial of the last step, or zero; and W in the other basis."""
    n = run.n
    z, w, past = doubles_at(method.z, (3, n)), doubles_at(method.w, (3, n)), doubles_at(method.past, (3, n))
    back, points = doubles_at(method.backward, (3, 3)), doubles_at(method.points, 3)
    ratio = run.h / method.past_h if method.has_past == 1 else 0.0
    for i in range(3):
        x = 1.0 + ratio * points[i]
        for k in range(n):
            z[i, k] = (x - 1.0) * (past[0, k] + (x + 1.0) * past[1, k] + (x * x + x + 1.0) * past[2, k])
    for i in range(3):
        for k in range(n):
            w[i, k] = back[i, 0] * z[0, k] + back[i, 1] * z[1, k] + back[i, 2] * z[2, k]


@compiled_part
def evaluate_stages(run, method):
    """Derivatives at the collocation points into rows 1 to 3; False if something is not finite."""
    n, stage, y = run.n, row(run, run.stage), doubles_at(run.y, run.n)
    z, nodes = doubles_at(method.z, (3, n)), doubles_at(run.nodes, 4)
    for i in range(3):
        for k in range(n):
            stage[k + 1] = y[k] + z[i, k]
        at = within_step(run, run.latest if i == 2 else run.t + nodes[i + 1] * run.h)
        if not evaluate(run, run.stage, at, i + 1):
            return False
    return True


@compiled_part
def newton_step(run, method):
    """One correction of Z and W from the derivatives in rows 1 to 3; its size in the norm of the tolerance."""
    n, m = run.n, run.controlled
    first, second, third = row(run, 1), row(run, 2), row(run, 3)
    z, w, J = doubles_at(method.z, (3, n)), doubles_at(method.w, (3, n)), doubles_at(method.jacobian, (n, m))
    back, forth = doubles_at(method.backward, (3, 3)), doubles_at(method.forward, (3, 3))
    b, c = doubles_at(method.real_part, n), complexes_at(method.complex_part, n)
    y, atol = doubles_at(run.y, n), doubles_at(run.atol, n)
    real_shift = method.real_eigenvalue / run.h
    complex_shift = complex(method.complex_real, method.complex_imag) / run.h
    for k in range(n):
        f0, f1, f2 = first[k + 1], second[k + 1], third[k + 1]
        b[k] = back[0, 0] * f0 + back[0, 1] * f1 + back[0, 2] * f2 - real_shift * w[0, k]
        re = back[1, 0] * f0 + back[1, 1] * f1 + back[1, 2] * f2
        im = back[2, 0] * f0 + back[2, 1] * f1 + back[2, 2] * f2
        c[k] = complex(re, im) - complex_shift * complex(w[1, k], w[2, k])
    lu_solve(doubles_at(method.real_factors, (m, m)), m, integers_at(method.real_pivots, m), b)
    lu_solve(complexes_at(method.complex_factors, (m, m)), m, integers_at(method.complex_pivots, m), c)
    for i in range(m, n):  # quadratures depend on the others, and nothing depends on them
        for k in range(m):
            b[i] += J[i, k] * b[k]
            c[i] += J[i, k] * c[k]
        b[i] /= real_shift
        c[i] /= complex_shift
    total = 0.0
    for k in range(n):
        if k < m:
            scale = 1.0 / (atol[k] + run.rtol * abs(y[k]))
            total += (b[k] * b[k] + c[k].real * c[k].real + c[k].imag * c[k].imag) * scale * scale
        w[0, k] += b[k]
        w[1, k] += c[k].real
        w[2, k] += c[k].imag
        for i in range(3):
            z[i, k] = forth[i, 0] * w[0, k] + forth[i, 1] * w[1, k] + forth[i, 2] * w[2, k]
    return np.sqrt(total / (3.0 * max(m, 1)))


@compiled_part
def solve_stages(run, method):
    """Z of the step by simplified Newton iterations: SOLVED, DIVERGED or BAD (a value is not finite).

    Hairer & Wanner, section IV.8: stops early if the rate of convergence shows that the allowed number of iterations
    will not suffice.
    """
    tolerance, before, rate = method.tolerance, 0.0, 0.0
    for k in range(ITERATIONS):
        if not evaluate_stages(run, method):
            return BAD
        size = newton_step(run, method)
        method.iterated = k + 1
        if not np.isfinite(size):
            return DIVERGED
        if k > 0:
            rate = size / before
            method.rate = rate
            if rate >= 1.0 or rate ** (ITERATIONS - k) / (1.0 - rate) * size > tolerance:
                return DIVERGED
        if size == 0.0 or (k > 0 and rate / (1.0 - rate) * size < tolerance):
            return SOLVED
        before = size
    return DIVERGED


@compiled_part
def _estimate(run, method, base):
    """Error estimate from the derivative in row ``base``, into the scratch row; returns its norm.

    (eigenvalue / h - J)^-1 (f + E Z / h): the first factor keeps the estimate realistic for stiff components.
    """
    n, m, slope, new, scratch = run.n, run.controlled, row(run, base), row(run, run.new), row(run, run.scratch)
    z, e, b = doubles_at(method.z, (3, n)), doubles_at(method.error, 3), doubles_at(method.real_part, n)
    y, atol = doubles_at(run.y, n), doubles_at(run.atol, n)
    for k in range(m):
        b[k] = slope[k + 1] + (e[0] * z[0, k] + e[1] * z[1, k] + e[2] * z[2, k]) / run.h
    lu_solve(doubles_at(method.real_factors, (m, m)), m, integers_at(method.real_pivots, m), b)
    total = 0.0
    for k in range(m):
        size = max(abs(y[k]), abs(new[k + 1]))
        total += (b[k] / (atol[k] + run.rtol * size)) ** 2
        scratch[k + 1] = b[k]
    return np.sqrt(total / max(m, 1))


@compiled_part
def estimate_error(run, method):
    """Norm of the error of the step into ``error``; False if it is not finite.

    After a rejected step an estimate that is too large is filtered once more; otherwise the first steps of a stiff
    transient would be far too short.
    """
    error = _estimate(run, method, 0)
    if error >= 1.0 and run.retrying > 0:
        stage, scratch = row(run, run.stage), row(run, run.scratch)
        copy_state(run, run.stage)
        for k in range(run.controlled):
            stage[k + 1] += scratch[k + 1]
        run.evaluations += 1
        if call_rhs(run.rhs, run.rhs_context, run.rows, run.width, run.stage, run.earliest, 1, run.n):
            error = _estimate(run, method, 1)
    run.error = error
    return np.isfinite(error)


@compiled_part
def _solve(run, method):
    """The new state into row ``new``, error norm in ``error``: SOLVED, DIVERGED or BAD.

    The Jacobian and the factors are reused as long as the iteration converges.
    """
    n = run.n
    if method.state == NONE and not find_jacobian(run, method):
        return BAD
    while True:
        code = DIVERGED
        if abs(run.h - method.factored_h) <= SAME_STEP * abs(run.h) or factor(run, method, run.h):
            guess(run, method)
            code = solve_stages(run, method)
        if code == SOLVED:
            break
        if method.state == CURRENT:
            return code
        if not find_jacobian(run, method):
            return BAD
    y, new, z = doubles_at(run.y, n), row(run, run.new), doubles_at(method.z, (3, n))
    for k in range(n):
        new[k + 1] = y[k] + z[2, k]
    if not is_finite(run, run.new, run.t_new):
        return BAD
    return SOLVED if estimate_error(run, method) else DIVERGED


@compiled_part
def _keep_polynomial(run, method):
    """The collocation polynomial of a step within tolerance, its slopes at both ends for the dense output, and the
    derivative at the end unless the loop evaluates it; False if it is not finite.
    """
    n, first, last = run.n, row(run, run.first_slope), row(run, run.last_slope)
    z, p, past = doubles_at(method.z, (3, n)), doubles_at(method.powers, (3, 3)), doubles_at(method.past, (3, n))
    for k in range(n):
        for i in range(3):
            past[i, k] = p[i, 0] * z[0, k] + p[i, 1] * z[1, k] + p[i, 2] * z[2, k]
        first[k + 1] = past[0, k] / run.h
        last[k + 1] = (past[0, k] + 2.0 * past[1, k] + 3.0 * past[2, k]) / run.h
    method.has_past = 0
    return run.project != 0 or run.jumps == 1 or evaluate(run, run.new, run.latest, run.stages)


@compiled_part
def _predicted_factor(run, method):
    """Step-size factor from the last two error estimates (Gustafsson's predictive controller), with safety."""
    if run.error == 0.0:
        return MAX_FACTOR
    trend = 1.0
    if method.past_error > 0.0:
        trend = min(1.0, abs(run.h) / abs(method.past_h) * (method.past_error / run.error) ** 0.25)
    safety = SAFETY * (2 * ITERATIONS + 1) / (2 * ITERATIONS + method.iterated)
    return safety * trend * run.error**-0.25


@compiled_callback(allocates=False)
def attempt_radau(out, inp, context):
    """One implicit step; see :class:`~pendula.numerics.steppers.stepper.Stepper`."""
    run = run_at(context)
    method = method_at(run.method)
    solved = _solve(run, method)
    if solved != SOLVED:
        run.code, run.factor = BAD_VALUE if solved == BAD else NO_SOLUTION, AFTER_DIVERGENCE
        return
    run.code, run.factor = GO_ON, _predicted_factor(run, method)
    if run.error < 1.0 and not _keep_polynomial(run, method):
        run.code = BAD_VALUE


@compiled_callback(allocates=False)
def settle_radau(out, inp, context):
    """After a step: the next step size, whether to keep the Jacobian, and the data for the next prediction."""
    run = run_at(context)
    method = method_at(run.method)
    if run.code != GO_ON:
        method.factored_h = 0.0
        run.factor = min(run.factor, SAFETY)
        return
    slow = method.iterated > 2 and method.rate > SLOW_RATE
    method.state = NONE if slow or run.jumps == 1 else OLD
    factor = min(MAX_FACTOR, run.factor)
    if run.retrying > 0:
        factor = min(1.0, factor)
    if not slow and 1.0 <= factor < WORTH_A_CHANGE:
        factor = 1.0
    if factor > 1.0:
        factor = allowed_growth(run, method, run.h, factor)
    run.h_abs = abs(run.h) * factor
    method.has_past = 0 if run.jumps == 1 else 1
    method.past_h = run.h
    method.past_error = 0.0 if run.jumps == 1 else max(LEAST_PAST_ERROR, run.error)
