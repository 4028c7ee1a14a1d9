"""Forward dynamics for many calls from Python: native code bound to arrays that the caller fills and reads.

A call that takes arrays has to find out, every time, what they are; for a double pendulum that takes several times as
long as the accelerations themselves. Here code and arrays belong together from the start, so that a call has no
arguments and nothing to check.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, final

import numpy as np

from pendula.errors import ComputationError, NotSupported, PendulaError, SingularPose, UsageError
from pendula.system import kernels as kn
from pendula.system import refusals
from pendula.system.code.module import build_module
from pendula.system.dynamics import first_coordinates
from pendula.system.layout import Array
from pendula.system.parameters import Parameters, parameter_vector

if TYPE_CHECKING:
    from pendula.numerics.compiled.native import Callback
    from pendula.system.system import System


@final
class ForwardDynamics:
    """q' and v' at one state at a time, read from arrays and written to arrays.

    Write the state into ``t``, ``q``, ``v`` and ``inputs``, call ``evaluate()``, and read ``rates`` and
    ``accelerations``. Assign to the entries (``forward.q[:] = ...``): the arrays themselves stay the same.
    They start with the model's initial state. :func:`System.forward_dynamics` makes it; each one has its own memory, so
    several can be used at the same time.

    Attributes:
        evaluate: a native function without arguments. At a singular state it writes NaN, and ``failure`` says why.
        t: time, an array of one entry.
        q, v: coordinates and speeds, in the order of the layout.
        inputs: the inputs; read-only if the model defines them over time, because it then evaluates them itself.
        rates: q'.
        accelerations: v'.

    Example:
        >>> import pendula
        >>> forward = pendula.compile_system("pendulum").forward_dynamics()
        >>> forward.q[:], forward.v[:] = 0.5, 0.0
        >>> forward.evaluate()
        >>> forward.accelerations.round(3)
        array([-7.055])
        >>> forward.rhs(0.0, [0.5, 2.0]).round(3)  # [q', v'], for integrators such as SciPy's
        array([ 2.   , -7.055])
    """

    def __init__(self, system: System, parameters: Parameters = None) -> None:
        if system.inputs.over_time:
            raise NotSupported(refusals.FORWARD_OVER_TIME)
        nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
        vector = parameter_vector(system, parameters)
        self._layout, self._dynamics = system.layout, system.dynamics(vector)
        self._state, self._out = np.zeros(2 + nq + nv), np.zeros(nq + nv + 1)  # [t, q, v, work] and [q', v', power]
        self.t, self.q, self.v = self._state[:1], self._state[1 : 1 + nq], self._state[1 + nq : 1 + nq + nv]
        self.rates, self.accelerations = self._out[:nq], self._out[nq : nq + nv]
        self._y, self._y_rates = self._state[1 : 1 + nq + nv], self._out[: nq + nv]
        self._zeros = np.zeros(nq + nv)
        self.inputs = self._dynamics.workspace.context.x[1 + nq + nv :]
        self.inputs.flags.writeable = not system.inputs.in_time
        start = system.initial_state(vector)
        self.t[0], self.q[:], self.v[:] = start.t, start.q, start.v
        self.evaluate = _bound(self._dynamics.rhs, self._out, self._state)

    @property
    def failure(self) -> str | None:
        """Why the last evaluation gave no accelerations; None if it did."""
        return None if np.isfinite(self._y_rates).all() else self._reason()[1]

    def _reason(self) -> tuple[type[PendulaError], str]:
        """Why the rates at the present state are not finite."""
        if not np.isfinite(self._state[:-1]).all():
            return ComputationError, "the state is not finite"
        self._dynamics.workspace.context.status = kn.FINE  # an earlier failure may have left another
        self.evaluate()
        status = self._dynamics.workspace.failure
        return (SingularPose, status) if status else (ComputationError, "a force or a motion is not finite there")

    def rhs(self, t: float, y: Array) -> Array:
        """[q', v'] at y = [q, v] as a new array: the right-hand side for an integrator from outside.

        Raises:
            SingularPose: the mass matrix or the constraints lose rank there.
            ComputationError: the rates are not finite for another reason.
            UsageError: y does not have one entry for every coordinate and speed.
        """
        y = np.asarray(y, dtype=float)
        if y.shape != self._y.shape:
            raise UsageError(
                f"y must hold {len(self.q)} coordinates and {len(self.v)} speeds, so {self._y.size} numbers; "
                f"got an array of shape {y.shape}"
            )
        self.t[0], self._y[:] = t, y
        self.evaluate()
        if self._zeros.dot(self._y_rates) != 0.0:  # something is not finite; faster than asking every entry
            kind, reason = self._reason()
            where = first_coordinates(self._layout, self._state)
            raise kind(f"the accelerations are not determined at {where}: {reason}")
        return self._y_rates.copy()

    def __repr__(self) -> str:
        return f"<ForwardDynamics: {len(self.q)} coordinates, {len(self.v)} speeds>"


def _bound(callback: Callback, out: Array, state: Array) -> Callable[[], None]:
    """A native function without arguments that calls another on fixed arrays.

    ``PYFUNCTYPE`` keeps the interpreter's lock, whose release would take longer than a small mechanism.
    """
    given = ", ".join(f"i64 {at}" for at in (out.ctypes.data, state.ctypes.data, callback.context))
    code = build_module(
        f"define void @evaluate() {{\n  call void inttoptr (i64 {callback.address} to ptr)({given})\n  ret void\n}}", 0
    )
    evaluate = ctypes.PYFUNCTYPE(None)(code.get_function_address("evaluate"))
    evaluate.keeps = code, callback, out, state  # type: ignore[attr-defined]  # a caller may hold the function alone
    return evaluate
