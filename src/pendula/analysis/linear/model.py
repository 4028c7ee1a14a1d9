"""A linear model about an equilibrium, with names and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium
from pendula.analysis.linear.quick.cut import CutMatrices
from pendula.errors import UsageError
from pendula.system.layout import Array
from pendula.system.orientation.singularities import Nearest
from pendula.system.parameters import typical_length
from pendula.system.system import System
from pendula.tables.tabular import Tabular
from pendula.words import readable

if TYPE_CHECKING:
    from pendula.analysis.control.estimators import Estimator
    from pendula.analysis.control.gains import Gain
    from pendula.analysis.control.margins import Margins
    from pendula.analysis.control.reach import Reach
    from pendula.analysis.control.responses import Bode, RootLocus, StepResponse
    from pendula.analysis.control.space import StateSpace


@dataclass(frozen=True)
class Matrices:
    """The matrices of a linear model; see :class:`LinearModel`."""

    M: Array
    C: Array
    K: Array
    F: Array
    Z: Array
    N: Array
    method: str = "exact"
    error: float = 0.0
    residual: float = 0.0


@dataclass(frozen=True)
class Basis:
    """Names and units of the entries of e, e' and u; see :class:`LinearModel`."""

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    inputs: tuple[str, ...]
    units: dict[str, str]
    rows: int = 0
    chart: str = ""
    undetermined: int = 0
    twin: bool = False
    remark: str = ""


@readable
@dataclass(frozen=True)
class Motions:
    """Prescribed motions as inputs of a linear model: their small changes y act as D y + D1 y' + D2 y''.

    Attributes:
        names: of the motions; for a moving point on ground, the joint's name with ``__x``, ``__y`` or ``__z``.
        held: values about which the motions vary.
        D, D1, D2: generalized force per unit displacement, rate and acceleration, shape (coordinates e, motions) each.
        Y: ds = Z e + Y y, how dependent coordinates of closed loops follow the motions, shape (speeds, motions).
        units: of every motion.
        gaps: how far loops open per unit displacement, whatever else moves, shape (rows, motions); zero unless loops
            join motions to each other.

    Example:
        >>> import pendula
        >>> shaken = pendula.library.driven_chain(links=1, kind="point")
        >>> pendula.linear.linearize_motions(shaken).motions.held.round(6).tolist()  # the amplitude alpha at t = 0
        [0.05, 0.0]
    """

    names: tuple[str, ...]
    held: Array
    D: Array
    D1: Array
    D2: Array
    Y: Array
    units: dict[str, str]
    gaps: Array

    def refuse_open(self, shares: Array) -> None:
        """Raises UsageError if loops do not allow motions with these shares, shape (motions,) or (motions, inputs)."""
        most = float(np.abs(self.gaps).max(initial=0.0)) * float(np.abs(shares).max(initial=0.0))
        if np.abs(self.gaps @ shares).max(initial=0.0) > 1e-9 * most:
            joined = [name for name, gap in zip(self.names, self.gaps.T, strict=True) if gap.any()]
            shared = ", ".join(f'"{name}": ...' for name in joined)
            raise UsageError(
                f"loops join the prescribed motions {', '.join(joined)}: they cannot move independently.\n"
                f"  Try: shares that keep the loops closed, {{{shared}}}, or one motion fewer in the model."
            )

    def force(self, omega: float) -> Array:
        """Complex force per unit of a harmonic motion Re(y exp(i omega t)): D + i omega D1 - omega^2 D2."""
        return self.D + 1j * omega * self.D1 - omega**2 * self.D2

    def state_space(self, linear: LinearModel) -> tuple[Array, Array]:
        """A and B of x' = A x + B y'' with the states x = (e, e', y, y')."""
        n, d = self.D.shape
        self.refuse_open(np.eye(d))
        solved = np.linalg.solve(linear.M, np.hstack([self.D, self.D1, self.D2]))
        A = np.zeros((2 * n + 2 * d, 2 * n + 2 * d))
        A[: 2 * n, : 2 * n] = linear.A
        A[n : 2 * n, 2 * n :] = solved[:, : 2 * d]
        A[2 * n : 2 * n + d, 2 * n + d :] = np.eye(d)
        B = np.zeros((2 * n + 2 * d, d))
        B[n : 2 * n], B[2 * n + d :] = solved[:, 2 * d :], np.eye(d)
        return A, B

    def __str__(self) -> str:
        held = ", ".join(f"{n} = {x:.6g} {self.units[n]}".rstrip() for n, x in zip(self.names, self.held, strict=True))
        return f"prescribed motions as inputs, about {held}"


@readable
@dataclass(frozen=True)
class LinearModel(Tabular):
    """M dv' + C dv + K ds = F du near an equilibrium, with ds' = dv and, for coordinates, dq = N ds.

    Constrained mechanisms use independent coordinates e: ds = Z e, where the columns of Z span the null space of the
    constraint Jacobian. Without constraints Z is the identity, and e are changes of the coordinates themselves.

    Attributes:
        at: the equilibrium.
        basis: names and units of the entries of e, e' and u.
        matrices: holds M, C, K, F, Z and N.
        motions: prescribed motions as inputs; None unless ``linearize_motions`` made the model.

    ``matrices`` has M, C, K, F (mass, damping and gyroscopic, stiffness and input matrix; Kamman, unit 8, eq. 13), Z
    (independent directions, shape (speeds of the system, freedoms)), N (dq = N ds, shape (coordinates of the system,
    speeds of the system)), ``method`` (of the derivatives, ``exact`` or ``differences``), ``error`` (largest difference
    of any entry of M^-1 [K C F] from the exact one, relative to the largest) and ``residual`` (largest unbalanced force
    at the point, as a fraction of a typical force).

    ``basis`` has coordinates, speeds, inputs, units, rows (number of independent constraint rows, each of which gives
    three infinite eigenvalues of the full equations), chart (empty, or a description of the coordinates e if the
    system's own are singular), undetermined (number of speeds that the system's own coordinates leave undetermined at
    the point), twin (whether ``system`` is then the same mechanism in regular coordinates, quaternions) and remark
    (empty, or why ``at`` belongs to the same mechanism in quaternions).

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> model = pendula.linearize(system, {"theta": 0})
        >>> model.coordinates, model.K.round(3).tolist()  # a rod: m g l/2
        (('theta',), [[4.905]])
    """

    at: Equilibrium
    basis: Basis
    matrices: Matrices | CutMatrices
    motions: Motions | None = None

    def with_matrices(self, **changes: Any) -> LinearModel:
        """The same model with some fields of its matrices changed, by name."""
        names = [f.name for f in fields(Matrices)]
        return replace(self, matrices=Matrices(**{name: getattr(self, name) for name in names} | changes))

    @property
    def system(self) -> System | None:
        """The system; None if only the matrices are known."""
        return self.at.system

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the entries of e."""
        return self.basis.coordinates

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the entries of e'."""
        return self.basis.speeds

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the entries of u."""
        return self.basis.inputs

    @property
    def units(self) -> dict[str, str]:
        """Unit of every name."""
        return self.basis.units

    @property
    def rows(self) -> int:
        """Number of independent constraint rows."""
        return self.basis.rows

    @property
    def chart(self) -> str:
        """Empty, or a description of the coordinates e if the system's own are singular."""
        return self.basis.chart

    @property
    def displacements(self) -> str:
        """Empty, or a description of the coordinates e if these are no coordinates of ``system``."""
        return "" if self.basis.twin else self.basis.chart

    @property
    def nearest_singularity(self) -> Nearest | None:
        """How near to a singularity of its coordinates the point is; None if they have none."""
        return self.at.nearest_singularity

    @property
    def undetermined(self) -> int:
        """Number of speeds that the system's own coordinates leave undetermined at the point."""
        return self.basis.undetermined

    @property
    def method(self) -> str:
        """Method of the derivatives, ``exact`` or ``differences``."""
        return self.matrices.method

    @property
    def error(self) -> float:
        """Largest difference of any entry of M^-1 [K C F] from the exact one, relative to the largest; 0 if exact."""
        return self.matrices.error

    @property
    def residual(self) -> float:
        """Largest unbalanced force at the point, as a fraction of a typical force."""
        return self.matrices.residual

    @property
    def M(self) -> Array:
        """Mass matrix."""
        return self.matrices.M

    @property
    def C(self) -> Array:
        """Damping and gyroscopic matrix."""
        return self.matrices.C

    @property
    def K(self) -> Array:
        """Stiffness matrix."""
        return self.matrices.K

    @property
    def F(self) -> Array:
        """Input matrix: generalized force per unit input."""
        return self.matrices.F

    @property
    def Z(self) -> Array:
        """Independent directions: ds = Z e."""
        return self.matrices.Z

    @property
    def N(self) -> Array:
        """Kinematic matrix: dq = N ds."""
        return self.matrices.N

    @cached_property
    def sizes(self) -> Array:
        """Typical sizes of the coordinates e: a radian for angles, a typical length for all others."""
        if self.system is None:
            return np.ones(len(self.M))
        angles = [self.units.get(name) == "rad" for name in self.coordinates]
        return np.where(angles, 1.0, typical_length(self.system, self.at.parameters))

    @property
    def damping(self) -> Array:
        """The symmetric part of C, which dissipates (or adds) energy."""
        return (self.C + self.C.T) / 2

    @property
    def gyroscopic(self) -> Array:
        """The skew part of C, which does no work."""
        return (self.C - self.C.T) / 2

    @property
    def conservative(self) -> Array:
        """The symmetric part of K, which has a potential."""
        return (self.K + self.K.T) / 2

    @property
    def circulatory(self) -> Array:
        """The skew part of K, whose forces have no potential."""
        return (self.K - self.K.T) / 2

    @cached_property
    def A1(self) -> Array:
        """-M^-1 K; Kamman, unit 8, eq. 25."""
        return -np.linalg.solve(self.M, self.K)

    @cached_property
    def A2(self) -> Array:
        """-M^-1 C; Kamman, unit 8, eq. 25."""
        return -np.linalg.solve(self.M, self.C)

    @cached_property
    def A(self) -> Array:
        """State matrix of (e, e')."""
        n = len(self.M)
        return np.block([[np.zeros((n, n)), np.eye(n)], [self.A1, self.A2]])

    @cached_property
    def B(self) -> Array:
        """Input matrix of (e, e')."""
        return np.vstack([np.zeros_like(self.F), np.linalg.solve(self.M, self.F)])

    def to_control(self) -> Any:
        """The model as a ``StateSpace`` of python-control: states are e and e', outputs are e.

        Raises:
            UsageError: the package ``control`` is not installed.
        """
        from pendula.analysis.linear.output import as_control

        return as_control(self)

    # -- control ----------------------------------------------------------------------------------

    def state_space(self, outputs: Sequence[str] | str | None = None) -> StateSpace:
        """x' = A x + B u, y = C x with the states x = (e, e') and named outputs.

        Args:
            outputs: coordinates and speeds of the model, expressions ("x + l*sin(theta)"), parts of points of bodies
                ("pole.tip.x", "pole.tip.vx"); derivatives are exact. Default: the coordinates e.
        """
        from pendula.analysis.control.space import state_space

        return state_space(self, outputs)

    def lqr(self, Q: Any, R: Any = 1.0, *, cross: Any = None, every: float | None = None) -> Gain:
        """The linear-quadratic regulator: u = -K x minimizes the integral of x^T Q x + u^T R u.

        Args:
            Q: weights of the states (e, e'): by name (others zero), as a diagonal, a matrix, or one number.
            R: weights of the inputs, likewise.
            cross: weight N of the term 2 x^T N u, shape (states, inputs).
            every: sampling time; the gain is then for samples with zero-order hold, and the cost is a sum over them.

        Raises:
            UsageError: a motion that does not decay is out of reach of the inputs; the message names it.
            ComputationError: the weights leave such a motion without cost.
        """
        from pendula.analysis.control.gains import lqr

        return lqr(self, Q, R, cross=cross, every=every)

    def place(self, poles: Sequence[complex] | Array, *, every: float | None = None) -> Gain:
        """State feedback with these poles p of the closed loop [1/time]; with a sampling time, exp(p*every)."""
        from pendula.analysis.control.gains import place

        return place(self, poles, every=every)

    def kalman(
        self,
        outputs: Sequence[str] | str | None = None,
        *,
        process: Any = 1.0,
        measurement: Any = 1.0,
        every: float | None = None,
    ) -> Estimator:
        """The stationary Kalman filter of noisy outputs.

        Args:
            outputs: as in :meth:`state_space`.
            process: intensity of white noise: by names of inputs (forces that nobody measures) or of states; one number
                means that of all inputs.
            measurement: intensity of the white noise of the outputs, by name, as a diagonal, a matrix, or one number.
            every: sampling time. The noise of a sample then has the variance measurement/every, and the process noise
                adds up between samples.

        Raises:
            UsageError: the outputs do not show a motion that does not decay; the message names it.
        """
        from pendula.analysis.control.estimators import kalman

        return kalman(self, outputs, process, measurement, every)

    def bode(
        self, outputs: Sequence[str] | str | None = None, inputs: Sequence[str] | str | None = None, *,
        frequencies: Any = None,
    ) -> Bode:  # fmt: skip
        """Frequency response of outputs (as in :meth:`state_space`) to inputs, at ``frequencies`` [rad/time]."""
        return self.state_space(outputs).selected(None, inputs).bode(frequencies=frequencies)

    def step(
        self, outputs: Sequence[str] | str | None = None, inputs: Sequence[str] | str | None = None, *,
        duration: float | None = None, samples: int = 501,
    ) -> StepResponse:  # fmt: skip
        """Outputs (as in :meth:`state_space`) after a unit step of each input, exact at the samples."""
        return self.state_space(outputs).selected(None, inputs).step(duration=duration, samples=samples)

    def root_locus(self, output: str, input: str | None = None, *, gains: Any = None) -> RootLocus:
        """Poles of the closed loop ``input = -k*output`` over the gain k; default: small to large effects."""
        return self.state_space([output]).selected(None, input).root_locus(gains=gains)

    def margins(self, output: str, input: str | None = None, *, gain: float = 1.0) -> Margins:
        """Gain, phase and delay margins of the loop ``input = -gain*output``.

        For the loop of a designed gain, see :meth:`pendula.results.Gain.margins`.
        """
        return self.state_space([output]).selected(None, input).margins(gain=gain)

    def controllability(self) -> Reach:
        """Whether the inputs reach all motions; those that they do not reach, in words."""
        from pendula.analysis.control.reach import controllability

        return controllability(self)

    def observability(self, outputs: Sequence[str] | str | None = None) -> Reach:
        """Whether outputs (as in :meth:`state_space`) show all motions; those that they do not show, in words."""
        from pendula.analysis.control.reach import observability

        return observability(self, outputs)

    def latex(self, digits: int = 6) -> str:
        """The equations M e'' + C e' + K e = F u with their numbers, as LaTeX."""
        from pendula.analysis.linear.output import as_latex

        return as_latex(self, digits)

    def __str__(self) -> str:
        from pendula.analysis.linear.output import as_text

        return as_text(self)
