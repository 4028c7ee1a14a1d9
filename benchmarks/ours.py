"""Our public calls as the benchmarks use them. What a version does not have is missing, with its name; nothing fails."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pendula
from benchmarks.lineup import Missing
from benchmarks.simulation import lean_rhs

Array = np.ndarray
NOT_YET = "not there yet"
STEPPERS = ("dop853", "taylor", "rk45")


@contextmanager
def refused() -> Iterator[None]:
    """What our own errors say becomes the reason why a side is missing."""
    try:
        yield
    except pendula.errors.PendulaError as error:
        raise Missing(" ".join(str(error).split())[:120]) from error


def system_of(model: Any, engine: str) -> Any:
    """A compiled system by one of the engines."""
    with refused():
        if "engine" in inspect.signature(pendula.compile_system).parameters:
            return pendula.compile_system(model, engine=engine)
        if engine != "recursive":
            return pendula.compile_system(model)
    raise Missing(f'{NOT_YET}: compile_system(engine="{engine}")')


def best_system(model: Any) -> tuple[str, Any]:
    """The recursive engine where there is one, else the symbolic one."""
    try:
        return "recursive", system_of(model, "recursive")
    except Missing:
        return "symbolic", system_of(model, "symbolic")


def forward(system: Any, q: Array, v: Array, out: Array) -> Callable[[], Any]:
    """One evaluation of the accelerations, called from Python with arrays that are there."""
    if hasattr(system, "forward_dynamics"):
        with refused():
            bound = system.forward_dynamics()
        if not hasattr(bound, "evaluate"):  # older: a function of three arrays
            return lambda: bound(q, v, out)
        bound.q[:], bound.v[:] = q, v
        bound.evaluate()
        out[:] = bound.accelerations
        return bound.evaluate
    if not hasattr(system, "dynamics"):
        raise Missing(f"{NOT_YET}: forward_dynamics")
    rates, y = rhs_of(system), np.concatenate([q, v])

    def evaluate() -> None:
        out[:] = rates(0.0, y)[q.size :]

    return evaluate


def rhs_of(system: Any) -> Callable[[float, Array], Array]:
    """The compiled right-hand side as SciPy wants it: y' of (t, y), y = [q, v], where q' = v."""
    return lean_rhs(system.dynamics().rhs, 2 * len(system.layout.speeds))


def jacobian(system: Any, q: Array, v: Array) -> Callable[[], tuple[Array, Array]]:
    """One evaluation of da/dq and da/dv."""
    if not hasattr(system, "jacobian_dynamics"):
        raise Missing(f"{NOT_YET}: jacobian_dynamics")
    with refused():
        call = system.jacobian_dynamics()
        call(q, v)
    return lambda: call(q, v)


@dataclass
class Run:
    """One of our runs: the call, its own clock, and the states at every step."""

    system: Any
    span: float
    tol: float
    stepper: str
    inner: list[float] = field(default_factory=list)
    """CPU time of the integration alone, of every call so far: its share of the wall time, of the CPU time"""

    def __post_init__(self) -> None:
        with refused():
            done = self()
        if not done.outcome.ok:
            raise Missing(f"{self.stepper} at {self.tol:g} {done.outcome}")
        self.inner.clear()

    def __call__(self) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        done = pendula.simulate(self.system, self.span, tol=self.tol, stepper=self.stepper)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self.inner.append(cpu * done.seconds / wall)
        return done

    def states(self) -> tuple[Array, Array]:
        """q and v along the run."""
        done = pendula.simulate(self.system, self.span, tol=self.tol, stepper=self.stepper)
        return done.q, done.v


def many(system: Any, q: Array, v: Array, span: float, *, tol: float, stepper: str, workers: int = 1) -> Any:
    """Many runs of one system; the states at the end are (runs, n) arrays."""
    if not hasattr(pendula, "simulate_many"):
        raise Missing(f"{NOT_YET}: simulate_many")
    with refused():
        return pendula.simulate_many(system, span, (q, v), tol=tol, stepper=stepper, workers=workers)


def last_states(found: Any) -> tuple[Array, Array]:
    """q and v at the end of every run, whether the result holds samples or only the end."""
    q, v = np.asarray(found.q), np.asarray(found.v)
    return (q[:, -1], v[:, -1]) if q.ndim == 3 else (q, v)
