"""The eigenproblems of modal analysis: symmetric if forces have a potential, quadratic otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pendula.analysis.linear.clusters import APART, find_clusters, root_errors
from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.quadratic import symmetric_problem
from pendula.system.layout import Array
from pendula.words import readable

OSCILLATION, RIGID, UNSTABLE = "oscillation", "rigid body", "unstable"
DECAY, FLUTTER = "decay", "growing oscillation"

STILL = 1e-10
"""a modal stiffness up to this, relative to the terms of its sum, is zero: a rigid-body mode"""
ROUNDING = 1e-13
"""an eigenvalue up to this, relative to the largest, is a rounding error"""
SAME = 1e-12
"""frequencies whose squares differ by less than this, relatively, are equal up to rounding"""
DOUBLE = 1e-7
"""a pair of roots this close to each other and to the real axis, relatively, is one double real root"""
NEGLIGIBLE = 1e-9
"""entries of a shape below this, relative to its largest, are printed as zero"""
LEADING = 1e-3
"""a shape is scaled by the first of its entries that is at least this fraction of its largest"""
SKEW = 1e-12
"""gyroscopic and circulatory parts below this, relative to the matrix, are rounding errors"""


def all_names(linear: LinearModel) -> tuple[str, ...]:
    """Names of the rows of N Z e: coordinates of the system, or of the regular chart that replaces a singular one."""
    return linear.coordinates if linear.chart else linear.at.layout.coordinates


@readable
@dataclass(frozen=True)
class Mode:
    """One mode of a linear model.

    Attributes:
        number: from 1: growing modes, rigid-body modes, then the others by increasing |eigenvalue|.
        kind: ``oscillation``; ``rigid body`` (no restoring force, frequency zero); ``unstable`` (negative stiffness, or
            a positive real root: grows without oscillating); ``growing oscillation``; ``decay`` (a negative real root:
            decays without oscillating).
        eigenvalue: s of e(t) = shape exp(s t) [1/time]; for a pair, the one with positive imaginary part.
        roots: number of the 2n eigenvalues that belong to it: 2 for a pair, 1 for a single real root.
        shape: in independent coordinates, mass-normalized (shape^H M shape = 1); complex if phases differ.
        scaled: the same shape, scaled so that its first entry that is not small beside the largest is 1.
        everywhere: changes of all coordinates (``all_names``) for ``scaled``: N Z scaled.
        repeated: numbers of all modes with this eigenvalue, if there are several; any combination of their shapes
            is a shape, too.
        defective: whether those modes have fewer independent shapes than roots, so that motions grow by powers of t.
        residual: of (s^2 M + s C + K) shape = 0, relative to its terms.
        time_unit: name of the unit of time.
        description: the mode in one sentence.

    Example:
        >>> import pendula
        >>> mode = pendula.modes("pendulum", {"theta": 0})[1]
        >>> mode.kind, round(mode.frequency, 3)
        ('oscillation', 3.836)
    """

    number: int
    kind: str
    eigenvalue: complex
    roots: int
    shape: Array
    scaled: Array
    everywhere: Array
    repeated: tuple[int, ...]
    defective: bool
    residual: float
    time_unit: str
    description: str = ""

    @property
    def frequency(self) -> float | None:
        """|s| [rad/time]: without damping the natural frequency; None unless the mode oscillates and does not grow.

        With damping it is the frequency without damping only if all damping is proportional, C = a M + b K, or if there
        is one coordinate. In general, ask for the undamped modes.
        """
        return abs(self.eigenvalue) if self.kind == OSCILLATION else None

    @property
    def hertz(self) -> float | None:
        """The same in cycles per time unit."""
        return None if self.frequency is None else self.frequency / (2 * np.pi)

    @property
    def damped_frequency(self) -> float | None:
        """Damped frequency Im s [rad/time]."""
        return self.eigenvalue.imag if self.kind == OSCILLATION else None

    @property
    def damped_hertz(self) -> float | None:
        """The same in cycles per time unit."""
        return None if self.damped_frequency is None else self.damped_frequency / (2 * np.pi)

    @property
    def period(self) -> float | None:
        """Period of the damped oscillation."""
        return None if self.damped_frequency is None else 2 * np.pi / self.damped_frequency

    @property
    def damping_ratio(self) -> float | None:
        """Damping ratio -Re s/|s|; None if the mode does not oscillate."""
        if self.kind != OSCILLATION:
            return None
        return 0.0 if self.eigenvalue.real == 0 else -self.eigenvalue.real / abs(self.eigenvalue)

    def __str__(self) -> str:
        speed = "" if self.damped_frequency is None else f" at {self.damped_frequency:.6g} rad/{self.time_unit}"
        return f"mode {self.number}: {self.kind}{speed}" + (f"\n{self.description}" if self.description else "")


# --- the two eigenproblems ------------------------------------------------------------------------


def negligible(part: Array, whole: Array) -> bool:
    """Whether a part of a matrix is a rounding error."""
    return bool(np.abs(part).max(initial=0.0) <= SKEW * np.abs(whole).max(initial=0.0))


def symmetric_modes(linear: LinearModel) -> tuple[list[Mode], tuple[float, float]]:
    """Modes of K e = lambda M e with symmetric K and M."""
    M, K = (linear.M + linear.M.T) / 2, linear.conservative
    squares, shapes = symmetric_problem(M, K)
    E = _plain_bases(squares, shapes, M)
    largest = float(np.abs(squares).max())
    terms = np.einsum("ik,ij,jk->k", np.abs(E), np.abs(K), np.abs(E))
    still = np.abs(squares) <= np.maximum(STILL * terms, ROUNDING * largest)
    found = []
    for k, square in enumerate(squares.tolist()):
        if still[k]:
            kind, s = RIGID, 0j
        elif square < 0:
            kind, s = UNSTABLE, complex(np.sqrt(-square))
        else:
            kind, s = OSCILLATION, 1j * np.sqrt(square)
        found.append(_mode(linear, np.zeros_like(M), kind, s, 2, E[:, k]))
    mass = float(np.abs(E.T @ M @ E - np.eye(len(M))).max())
    stiff = float(np.abs(E.T @ K @ E - np.diag(squares)).max() / (largest or 1.0))
    return found, (mass, stiff)


def _plain_bases(squares: Array, E: Array, M: Array) -> Array:
    """The same shapes; for a repeated frequency, a basis that separates the coordinates as far as possible.

    The first shape is the M-orthogonal projection onto the eigenspace of the unit vector with the longest projection;
    the rest of the eigenspace is treated in the same way.
    """
    E = E.copy()
    for group in _runs(squares, _resolution(squares)):
        basis = E[:, group]
        for k in range(len(group) - 1):
            weights = (basis[:, k:].T @ M) / np.sqrt(np.diag(M))  # of M-normalized unit vectors
            turn = np.linalg.qr(weights[:, [int(np.argmax(np.linalg.norm(weights, axis=0)))]], mode="complete")[0]
            basis[:, k:] = basis[:, k:] @ turn
        E[:, group] = basis
    return E


def _resolution(squares: Array) -> Array:
    """Squares nearer than this are equal: rounding of the matrices moves each by a part of it and of the largest."""
    sizes = np.abs(squares)
    return np.asarray(SAME * sizes + ROUNDING * sizes.max())


def _runs(values: Array, tolerance: Array) -> list[list[int]]:
    """Groups of two or more equal neighbours in a sorted list."""
    groups: list[list[int]] = [[0]]
    for k in range(1, len(values)):
        if abs(values[k] - values[k - 1]) <= tolerance[k]:
            groups[-1].append(k)
        else:
            groups.append([k])
    return [g for g in groups if len(g) > 1]


def quadratic_modes(linear: LinearModel, C: Array) -> list[Mode]:
    """Modes of (s^2 M + s C + K) e = 0."""
    n = len(linear.M)
    root = np.linalg.cholesky((linear.M + linear.M.T) / 2)
    unit_C, unit_K = (np.linalg.solve(root, np.linalg.solve(root, X).T).T for X in (C, linear.K))
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [-unit_K, -unit_C]])
    roots, vectors = np.linalg.eig(matrix)
    roots = roots.astype(complex)
    for cluster in find_clusters(matrix, roots):
        if abs(cluster.mean.imag) > DOUBLE * abs(cluster.mean):  # others are double real roots, or rigid bodies
            roots[list(cluster.members)] = cluster.mean
    vectors = np.linalg.solve(root.T, vectors[:n])
    largest = float(np.abs(roots).max())
    found, zero = _rigid_modes(linear, C, root, unit_C, unit_K, roots)
    for k in np.flatnonzero(~zero):
        s = complex(roots[k])
        off_axis = abs(s.real) > 1e-9 * abs(s) + ROUNDING * largest
        if s.imag == 0:
            found.append(_mode(linear, C, UNSTABLE if s.real > 0 else DECAY, complex(s.real), 1, vectors[:, k].real))
        elif s.imag > 0 and s.imag <= DOUBLE * abs(s):
            # Rounding splits only a defective double real root this far into a pair.
            kind = UNSTABLE if s.real > 0 else DECAY
            turned = vectors[:, k] / vectors[int(np.argmax(np.abs(vectors[:, k]))), k]
            found.append(replace(_mode(linear, C, kind, complex(s.real), 2, turned.real), defective=True))
        elif s.imag > 0:
            kind = FLUTTER if off_axis and s.real > 0 else OSCILLATION
            s = s if off_axis else complex(0.0, s.imag)
            found.append(_mode(linear, C, kind, s, 2, vectors[:, k]))
    rank = {UNSTABLE: 0, FLUTTER: 0, RIGID: 1}
    return sorted(found, key=lambda m: (rank.get(m.kind, 2), abs(m.eigenvalue), m.eigenvalue.real))


def _rigid_modes(
    linear: LinearModel, C: Array, root: Array, unit_C: Array, unit_K: Array, roots: Array
) -> tuple[list[Mode], Array]:
    """Rigid-body modes from the null space of K, and their roots (rounding moves a double zero to +-1e-8)."""
    largest = float(np.abs(roots).max())
    left, sizes, right = np.linalg.svd(unit_K)
    null = sizes <= STILL * max(float(sizes[0]), ROUNDING * largest**2)
    zero = np.zeros(len(roots), dtype=bool)
    if not null.any():
        return [], zero
    # With damping along a null direction, zero is a single root; without, a double one.
    _, resistance, turn = np.linalg.svd(left[:, null].T @ unit_C @ right[null].T)
    single = resistance > 1e-9 * max(float(np.abs(unit_C).max()), ROUNDING * largest)
    shapes = np.linalg.solve(root.T, right[null].T @ turn.T)
    counts = np.where(single, 1, 2)
    smallest = np.argsort(np.abs(roots))[: int(counts.sum())]
    zero[smallest[np.abs(roots[smallest]) <= 1e-6 * max(largest, 1e-300)]] = True
    return [_mode(linear, C, RIGID, 0j, int(n), shapes[:, k]) for k, n in enumerate(counts)], zero


def _mode(linear: LinearModel, C: Array, kind: str, s: complex, roots: int, shape: Array) -> Mode:
    """A mode with its shape in both scalings."""
    shape = shape / np.sqrt(np.real(np.conj(shape) @ (linear.M @ shape)))
    sizes = np.abs(shape)
    first = int(np.flatnonzero(sizes > LEADING * sizes.max())[0])
    scaled = shape / shape[first]
    if np.iscomplexobj(scaled) and np.abs(scaled.imag).max() <= 1e-9 * np.abs(scaled).max():
        scaled = scaled.real
    shape = scaled * abs(shape[first])
    scaled = np.where(np.abs(scaled) <= 1e-15 * np.abs(scaled).max(), 0.0, scaled)
    everywhere = linear.N @ (linear.Z @ scaled)
    residual = _residual(linear, C, s, shape)
    return Mode(0, kind, s, roots, shape, scaled, everywhere, (), False, residual, linear.at.layout.time_unit)


def _residual(linear: LinearModel, C: Array, s: complex, shape: Array) -> float:
    """Residual of (s^2 M + s C + K) shape = 0, relative to the size of its terms."""
    terms = [s**2 * (linear.M @ shape), s * (C @ shape), linear.K @ shape]
    sizes = [abs(s) ** 2 * np.abs(linear.M).max(), abs(s) * np.abs(C).max(), np.abs(linear.K).max()]
    size = sum(sizes) * np.abs(shape).max()
    return float(np.abs(sum(terms)).max() / size) if size > 0 else 0.0


def with_groups(found: list[Mode], linear: LinearModel, *, real: bool) -> list[Mode]:
    """The modes, each with the numbers of those that share its eigenvalue."""
    result = list(found)
    values = np.array([m.eigenvalue for m in found])
    if real:
        values, resolution = values**2, _resolution(values**2)
    else:  # a state matrix can be far from normal, so each root has its own accuracy
        resolution = APART * root_errors(linear.A, values)
    for k, mode in enumerate(found):
        near = np.abs(values - values[k]) <= np.maximum(resolution, resolution[k])
        same = [j for j in np.flatnonzero(near).tolist() if found[j].kind == mode.kind]
        if len(same) > 1:
            shapes = np.stack([found[j].shape for j in same], axis=1)
            gram = np.linalg.cholesky((linear.M + linear.M.T) / 2).T @ shapes
            rank = int(np.sum(np.linalg.svd(gram, compute_uv=False) > 1e-5))
            result[k] = replace(mode, repeated=tuple(j + 1 for j in same), defective=rank < len(same))
    return result
