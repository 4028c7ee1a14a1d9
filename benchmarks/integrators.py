"""Runs of the planar chain by other integrators: each can be called for timing, and gives its states for the energy."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import twins
from benchmarks.lineup import Missing, need, peer

Array = np.ndarray
SCRIPT = Path(__file__).with_name("octave_chain.m")


def start(links: int) -> Array:
    """[q, v]: all links at 90 degrees, at rest."""
    return np.concatenate([np.full(links, np.pi / 2), np.zeros(links)])


class Heyoka:
    """heyoka's adaptive Taylor integrator; code is generated once, before timing.

    At some tolerances its first step from rest is far too long and the run never recovers: such a run is given up.
    """

    most = 20_000
    """steps; good runs need some hundreds"""

    def __init__(self, links: int, span: float, tol: float, *, compact: bool) -> None:
        hy = peer("heyoka")
        self.y0, self.span, self.links = start(links), span, links
        self.integrator = hy.taylor_adaptive(twins.heyoka_chain(links), list(self.y0), tol=tol, compact_mode=compact)
        if self() < self.span:
            raise Missing(f"stopped: after {self.most} steps at t = {self.integrator.time:.3g} s")

    def __call__(self) -> float:
        self._reset()
        self.integrator.propagate_until(self.span, max_steps=self.most)
        return float(self.integrator.time)

    def _reset(self) -> None:
        self.integrator.time = 0.0
        self.integrator.state[:] = self.y0

    def states(self) -> tuple[Array, Array]:
        """States at its own steps."""
        self._reset()
        found = [self.y0]
        while self.integrator.time < self.span * (1 - 1e-12):
            self.integrator.step(max_delta_t=self.span - self.integrator.time)
            found.append(self.integrator.state.copy())
        y = np.array(found)
        return y[:, : self.links], y[:, self.links :]


class Scipy:
    """SciPy's DOP853 around a compiled right-hand side."""

    def __init__(self, rhs: Callable[[float, Array], Array], links: int, span: float, tol: float) -> None:
        from scipy.integrate import solve_ivp

        self.solve, self.rhs, self.span, self.tol = solve_ivp, rhs, span, tol
        self.y0, self.links = start(links), links

    def __call__(self) -> Any:
        return self.solve(self.rhs, (0.0, self.span), self.y0, method="DOP853", rtol=self.tol, atol=self.tol)

    def states(self) -> tuple[Array, Array]:
        """States at its own steps."""
        y = self().y.T
        return y[:, : self.links], y[:, self.links :]


class Mujoco:
    """MuJoCo's fixed-step RK4, all steps inside one native call."""

    def __init__(self, links: int, span: float, step: float) -> None:
        self.mujoco = peer("mujoco")
        self.rollout = peer("mujoco.rollout")
        self.links, self.steps = links, round(span / step)
        self.model = twins.mujoco_chain(links, step)
        self.data = self.mujoco.MjData(self.model)
        kind = self.mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.first = np.zeros((1, self.mujoco.mj_stateSize(self.model, kind)))
        y0 = start(links)
        self.data.qpos[:], self.data.qvel[:] = twins.relative(y0[:links]), twins.relative(y0[links:])
        self.mujoco.mj_getState(self.model, self.data, self.first[0], kind)
        self.last: Array | None = None

    def __call__(self) -> Any:
        self.last = self.rollout.rollout(self.model, self.data, self.first, nstep=self.steps)[0][0]
        return self.last

    def states(self) -> tuple[Array, Array]:
        """States at up to 2000 of its steps, of the last run if there was one."""
        found = self.last if self.last is not None else self()
        found = np.concatenate([self.first, found[:: max(1, self.steps // 2000)]])
        n = self.links
        return np.cumsum(found[:, 1 : 1 + n], axis=1), np.cumsum(found[:, 1 + n : 1 + 2 * n], axis=1)


class Diffrax:
    """diffrax's Dopri8 with its own step control, compiled as a whole."""

    def __init__(self, links: int, span: float, tol: float, *, most: int = 65536) -> None:
        dx, jax = peer("diffrax"), peer("jax")
        a, join = twins.jax_accelerations(links), jax.numpy.concatenate
        term = dx.ODETerm(lambda t, y, _: join((y[links:], a(y))))
        control = dx.PIDController(rtol=tol, atol=tol)

        def solve(y: Any, save: Any, limit: int) -> Any:
            how = {"stepsize_controller": control, "max_steps": limit, "saveat": save}
            return dx.diffeqsolve(term, dx.Dopri8(), 0.0, span, None, y, **how)

        self.end = jax.jit(lambda y: solve(y, dx.SaveAt(t1=True), most))
        self.all = jax.jit(lambda y: solve(y, dx.SaveAt(steps=True), 8192))
        self.y0, self.links = jax.numpy.array(start(links)), links

    def __call__(self) -> Any:
        return self.end(self.y0).ys.block_until_ready()

    def states(self) -> tuple[Array, Array]:
        """States at its own steps."""
        found = self.all(self.y0)
        y = np.array(found.ys)[: int(found.stats["num_accepted_steps"])]
        y = np.concatenate([np.array(self.y0)[None], y])
        return y[:, : self.links], y[:, self.links :]


def octave_run(links: int, span: float, tol: float) -> tuple[float, float]:
    """Wall time and energy error of Octave's ode45 with the mass matrix written by hand, as one would in MATLAB."""
    need("octave")
    program = shutil.which("octave-cli")
    if program is None:
        raise Missing("octave-cli is not installed here")
    values = [str(links), repr(span), repr(tol)]
    done = subprocess.run(
        [program, "--no-gui", "--quiet", str(SCRIPT), *values], capture_output=True, text=True, check=False
    )
    found = re.search(r"wall (\S+) error (\S+)", done.stdout)
    if found is None:
        raise Missing(f"octave-cli failed: {done.stderr.strip()[-100:]}")
    return float(found[1]), float(found[2])
