"""The planar chain in SymPy, written as its documentation teaches it, and SciPy around any right-hand side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sm
import sympy.physics.mechanics as me
from sympy.core.cache import clear_cache

Rhs = Callable[[float, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class SympyChain:
    """Frames, points, bodies and loads of ``library.chain(links=n)``: equal rods, absolute angles."""

    frame: Any
    q: list[Any]
    u: list[Any]
    parameters: tuple[Any, Any, Any]
    """m, l, g: the order of the parameters of our chain"""
    bodies: list[Any]
    loads: list[Any]


@dataclass(frozen=True)
class SympyEquations:
    """mass_matrix u' = forcing."""

    chain: SympyChain
    mass_matrix: Any
    forcing: Any


def sympy_chain(links: int) -> SympyChain:
    """The mechanism, before any equation is formed. Starts with SymPy's cache empty."""
    clear_cache()
    m, l, g = sm.symbols("m l g", positive=True)
    q, u = list(me.dynamicsymbols(f"q:{links}")), list(me.dynamicsymbols(f"u:{links}"))
    world, top = me.ReferenceFrame("N"), me.Point("O")
    top.set_vel(world, 0)
    bodies, loads = [], []
    for k in range(links):
        link = world.orientnew(f"A{k}", "Axis", [q[k], world.z])  # -link.y points along the rod
        link.set_ang_vel(world, u[k] * world.z)
        center = top.locatenew(f"C{k}", -l / 2 * link.y)
        center.v2pt_theory(top, world, link)
        tip = top.locatenew(f"P{k}", -l * link.y)
        tip.v2pt_theory(top, world, link)
        inertia = me.inertia(link, 0, 0, m * l**2 / 12)
        bodies.append(me.RigidBody(f"B{k}", center, link, m, (inertia, center)))
        loads.append((center, -m * g * world.y))
        top = tip
    return SympyChain(world, q, u, (m, l, g), bodies, loads)


def sympy_kane(chain: SympyChain) -> SympyEquations:
    """Kane's equations by SymPy."""
    time = me.dynamicsymbols._t
    rates = [q.diff(time) - u for q, u in zip(chain.q, chain.u, strict=True)]
    method = me.KanesMethod(chain.frame, q_ind=chain.q, u_ind=chain.u, kd_eqs=rates)
    method.kanes_equations(chain.bodies, chain.loads)
    return SympyEquations(chain, method.mass_matrix, method.forcing)


def operations(equations: SympyEquations) -> int:
    """Operations of mass matrix and forcing with common subexpressions shared, as lambdify writes them."""
    shared, blocks = sm.cse([equations.mass_matrix, equations.forcing])
    return int(sum(sm.count_ops(e) for _, e in shared) + sum(sm.count_ops(e) for e in blocks))


def sympy_rhs(equations: SympyEquations, parameters: np.ndarray) -> Rhs:
    """[q, u] -> [q', u'] by lambdify with common subexpressions and a dense solve."""
    chain = equations.chain
    n = len(chain.q)
    y = sm.symbols(f"y:{2 * n}")
    plain = dict(zip([*chain.q, *chain.u], y, strict=True))
    blocks = [equations.mass_matrix.xreplace(plain), equations.forcing.xreplace(plain)]
    function = sm.lambdify([y, chain.parameters], blocks, cse=True)
    values = tuple(float(x) for x in parameters)

    def rhs(t: float, state: np.ndarray) -> np.ndarray:
        mass, force = function(state, values)
        out = np.empty(2 * n)
        out[:n] = state[n:]
        out[n:] = np.linalg.solve(mass, force[:, 0])
        return out

    return rhs


def scipy_run(rhs: Rhs, y0: np.ndarray, duration: float, tol: float) -> Any:
    """SciPy's DOP853 at the same tolerances as ours."""
    from scipy.integrate import solve_ivp

    return solve_ivp(rhs, (0.0, duration), y0, method="DOP853", rtol=tol, atol=tol)
