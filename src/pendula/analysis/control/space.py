"""State spaces with names: x' = A x + B u, y = C x + D u, or the same from sample to sample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.analysis.linear.clusters import EPS, ROUNDINGS, find_clusters, root_errors
from pendula.arguments import read_complex_numbers, read_name_or_names, read_numbers, read_positive
from pendula.errors import UsageError
from pendula.model.names import suggestion
from pendula.system.layout import Array
from pendula.words import readable, some

if TYPE_CHECKING:
    from pendula.analysis.control.margins import Margins
    from pendula.analysis.control.responses import Bode, RootLocus, StepResponse
    from pendula.analysis.linear.model import LinearModel

DECAYS = 1e-9
"""a pole decays if its real part is below minus this times the largest pole"""


@readable
@dataclass(frozen=True, eq=False)
class StateSpace:
    """A linear system with named states, inputs and outputs, in continuous or discrete time.

    Attributes:
        A, B, C, D: its matrices.
        states, inputs, outputs: names of the entries of x, u and y: changes from the equilibrium.
        units: unit of every name; "" if it has none.
        time_unit: unit of time.
        dt: time between samples; None in continuous time.
        linear: the linear model that it belongs to, if any.

    Example:
        >>> import pendula
        >>> space = pendula.linearize("cart-pole", {"theta": 0}).state_space(["x", "pole.tip.x"])
        >>> print(space)
        state space in continuous time: 4 states (x, theta, x_dot, theta_dot)
        inputs F; outputs x, pole.tip.x
        >>> space.C.tolist()
        [[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: dict[str, str]
    time_unit: str = "s"
    dt: float | None = None
    linear: LinearModel | None = None

    @property
    def poles(self) -> Array:
        """Eigenvalues of A, sorted by real part, largest first; see :func:`poles_of`."""
        found = poles_of(self.A)
        return found[np.lexsort((found.imag, -found.real))]

    @property
    def stable(self) -> bool:
        """Whether all poles decay."""
        return matrix_decays(self.A, self.dt)

    def discrete(self, every: float) -> StateSpace:
        """The same system seen at sampling times, with inputs held in between (zero-order hold); exact.

        Example:
            >>> import pendula
            >>> space = pendula.linearize("pendulum", {"theta": 0}).state_space().discrete(0.1)
            >>> abs(space.poles).round(12).tolist()  # cos and sin of 0.1 w: undamped
            [1.0, 1.0]
        """
        from scipy.linalg import expm  # slow to load

        if self.dt is not None:
            raise UsageError(f"the system is discrete already, with samples every {self.dt:g} {self.time_unit}")
        every = read_positive(every, "the sampling time")
        n, m = self.B.shape
        block = np.zeros((n + m, n + m))
        block[:n, :n], block[:n, n:] = self.A, self.B
        found = expm(block * every)
        return replace(self, A=found[:n, :n], B=found[:n, n:], dt=every)

    def fed_back(self, K: Array) -> StateSpace:
        """The system with u = r - K x; its inputs are then r."""
        K = read_numbers(K, "K")
        if K.shape != (len(self.inputs), len(self.A)):
            raise UsageError(f"K has the shape {K.shape}, not {(len(self.inputs), len(self.A))} (inputs, states)")
        return replace(self, A=self.A - self.B @ K, C=self.C - self.D @ K)

    def response(self, s: Any) -> Array:
        """C (s I - A)^-1 B + D at complex numbers s, shape (..., outputs, inputs).

        Raises:
            UsageError: s is exactly a pole, where the response is infinite.
        """
        s = read_complex_numbers(s, "s")
        left = s[..., None, None] * np.eye(len(self.A)) - self.A
        try:
            return np.asarray(self.C @ np.linalg.solve(left, self.B.astype(complex)) + self.D)
        except np.linalg.LinAlgError:
            raise UsageError("s is exactly a pole, where the response is infinite") from None

    def selected(
        self, outputs: Sequence[str] | str | None = None, inputs: Sequence[str] | str | None = None
    ) -> StateSpace:
        """Some outputs and inputs by name; default: all."""
        rows, columns = _places(outputs, self.outputs, "output"), _places(inputs, self.inputs, "input")
        return replace(
            self, B=self.B[:, columns], C=self.C[rows], D=self.D[np.ix_(rows, columns)],
            inputs=tuple(self.inputs[k] for k in columns), outputs=tuple(self.outputs[k] for k in rows),
        )  # fmt: skip

    def bode(self, *, frequencies: Any = None) -> Bode:
        """Frequency response of every pair of output and input; see :meth:`pendula.results.LinearModel.bode`."""
        from pendula.analysis.control.responses import bode_of

        return bode_of(self, frequencies)

    def step(self, *, duration: float | None = None, samples: int = 501) -> StepResponse:
        """Response to a unit step of every input; see :meth:`pendula.results.LinearModel.step`."""
        from pendula.analysis.control.responses import step_of

        return step_of(self, duration, samples)

    def root_locus(self, *, gains: Any = None) -> RootLocus:
        """Poles under u = -k y; see :meth:`pendula.results.LinearModel.root_locus`."""
        from pendula.analysis.control.responses import locus_of

        return locus_of(self, gains)

    def margins(self, *, gain: float = 1.0) -> Margins:
        """Margins of the loop u = -gain*y of the only input and output.

        Example:
            >>> import numpy as np
            >>> A, B = np.array([[0.0, 1, 0], [0, 0, 1], [0, -2, -3]]), np.array([[0.0], [0], [1]])
            >>> C, D = np.array([[1.0, 0, 0]]), np.zeros((1, 1))
            >>> third = StateSpace(A, B, C, D, ("a", "b", "c"), ("u",), ("y",), {})  # 1/(s (s + 1) (s + 2))
            >>> round(third.margins().gain_margin, 9), round(third.margins(gain=12.0).stable_gains[0][1], 9)
            (6.0, 0.5)
        """
        from pendula.analysis.control.margins import margins_of

        return margins_of(self, gain)

    def to_control(self) -> Any:
        """The system as a ``StateSpace`` of python-control, with the same names (which allow no dots there: ``a_b``).

        Raises:
            UsageError: the package ``control`` is not installed.
        """
        from pendula.analysis.linear.output import control_package

        return control_package("to_control()").ss(
            self.A, self.B, self.C, self.D, 0 if self.dt is None else self.dt, states=list(self.states),
            inputs=list(self.inputs), outputs=[re.sub(r"\W+", "_", name) for name in self.outputs],
        )  # fmt: skip

    def __str__(self) -> str:
        time = "continuous time" if self.dt is None else f"discrete time, every {self.dt:g} {self.time_unit}"
        head = f"state space in {time}: {len(self.states)} states ({some(self.states)})"
        return f"{head}\ninputs {some(self.inputs) or 'none'}; outputs {some(self.outputs) or 'none'}"


def poles_of(A: Array) -> Array:
    """Eigenvalues; those that are one multiple eigenvalue, scattered by rounding, are replaced by their mean.

    Example:
        >>> import numpy as np
        >>> T = np.array([[1.0, 2.0], [3.0, 5.0]])
        >>> bool(abs(poles_of(T @ [[0.0, 1.0], [0.0, 0.0]] @ np.linalg.inv(T))).max() < 1e-14)  # a double zero
        True
    """
    return poles_with_errors(A)[0]


def poles_with_errors(A: Array) -> tuple[Array, Array]:
    """The poles as :func:`poles_of` gives them, and how far rounding may have moved each of them.

    Example:
        >>> import numpy as np
        >>> A = np.diag(np.arange(20.0, 0.0, -1)) + np.diag(np.full(19, 20.0), 1)  # Wilkinson: 1, 2, ... 20
        >>> bool(1e-3 < poles_with_errors(A)[1].max() < 1e-2)  # those in the middle are known to two digits only
        True
    """
    from scipy.linalg import matrix_balance  # slow to load

    values = np.linalg.eigvals(A).astype(complex)
    if not len(values) or not np.isfinite(values).all():
        return values, np.zeros(len(values))
    balanced = matrix_balance(A, permute=False)[0]  # as eigvals does: the same roots, far less sensitive to rounding
    errors, size = root_errors(balanced, values), float(np.linalg.norm(balanced, 2))
    for cluster in find_clusters(balanced, values, at_zero=True):
        mine, known_to = list(cluster.members), EPS * size * cluster.condition
        values[mine], errors[mine] = _real(cluster.mean, known_to), known_to
    return values, errors


def _real(value: complex, rounding: float) -> complex:
    return complex(value.real) if abs(value.imag) <= ROUNDINGS * rounding else value


def decaying(poles: Array, dt: float | None, size: float = 0.0, errors: Array | float = 0.0) -> Array:
    """Which of these poles decay, beyond rounding: those of an undamped mechanism do not.

    Args:
        poles: all poles of a system, or some of them.
        dt: time between samples; None in continuous time.
        size: magnitude of the largest pole of the system, if ``poles`` are some of them.
        errors: how far rounding may have moved each of them.
    """
    if dt is not None:
        return np.asarray(np.abs(poles) + errors < 1 - DECAYS)
    return np.asarray(poles.real + errors < -DECAYS * max(float(np.abs(poles).max(initial=0.0)), size, 1e-300))


def decays(poles: Array, dt: float | None, errors: Array | float = 0.0) -> bool:
    """Whether all of these poles decay, beyond rounding.

    Example:
        >>> import numpy as np
        >>> decays(np.array([-1e-17 + 3j, -1e-17 - 3j]), None), decays(np.array([-0.1 + 3j, -0.1 - 3j]), None)
        (False, True)
    """
    return bool(decaying(poles, dt, errors=errors).all())


def matrix_decays(A: Array, dt: float | None) -> bool:
    """Whether all motion of x' = A x (or from sample to sample) decays, whatever rounding did to the poles."""
    poles, errors = poles_with_errors(A)
    return decays(poles, dt, errors)


def closed_by(space: StateSpace, gain: float) -> Array:
    """The matrix of the closed loop u = -gain*y of the only input and output."""
    fed = gain / (1.0 + gain * space.D[0, 0])
    return np.asarray(space.A - fed * space.B @ space.C)


def _places(wanted: Sequence[str] | str | None, known: tuple[str, ...], what: str) -> list[int]:
    if wanted is None:
        return list(range(len(known)))
    names = read_name_or_names(wanted, f"{what}s")
    for name in names:
        if name not in known:
            raise UsageError(f'there is no {what} "{name}"; {suggestion(name, known)}')
    return [known.index(name) for name in names]


def state_space(linear: LinearModel, outputs: Sequence[str] | str | None = None) -> StateSpace:
    """The linear model as a state space; see :meth:`pendula.results.LinearModel.state_space`."""
    from pendula.analysis.control.outputs import output_rows

    n = len(linear.M)
    names, C, units = output_rows(linear, outputs)
    time = linear.at.layout.time_unit
    known = {name: linear.units.get(name, "") for name in (*linear.coordinates, *linear.speeds)} | units
    for name in linear.inputs:
        known.setdefault(name, input_unit(linear, name))
    return StateSpace(
        linear.A, linear.B.reshape(2 * n, -1), C, np.zeros((len(C), linear.F.shape[1])),
        (*linear.coordinates, *linear.speeds), linear.inputs, names, known, time, None, linear,
    )  # fmt: skip


def input_unit(linear: LinearModel, name: str) -> str:
    """The unit of an input, where checks of the model determine it; "" otherwise."""
    from pendula.model.checks.parameter_units import input_units

    system = linear.system
    return "" if system is None else input_units(system.model).get(name, "")
