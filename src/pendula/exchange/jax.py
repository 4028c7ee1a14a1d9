"""Equations as JAX functions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pendula.arguments import available
from pendula.equations.derive import HasEquations
from pendula.equations.equations import Equations
from pendula.errors import UsageError
from pendula.exchange.blocks import Blocks, blocks_of
from pendula.extras import needed
from pendula.model.model import Model
from pendula.system.code.interpret import Values
from pendula.words import readable


@readable
@dataclass(frozen=True)
class JaxFunctions:
    """Equations of motion as JAX functions; see :func:`to_jax`.

    All are pure functions of arrays and can be compiled, differentiated and vectorized. ``p`` holds parameters by
    name that differ from ``parameters``; ``u`` is an array of inputs, by default what the model gives.

    Attributes:
        M, f, qdot, G, c, g, b: ``M(t, q, v, p, u)``: blocks of M v' = f + G^T lam, G v' = c, g = 0, G v = b, q' = qdot.
        energies: kinetic and potential energy, with the same arguments.
        solve: ``solve(t, y, p, u)`` gives q', v' and the multipliers of ``rows``.
        rhs: ``rhs(t, y, p, u)`` gives y'.
        coordinates, speeds, input_names: names of the entries of q, v and u.
        parameters: independent parameters with their values.
        start: the initial state y, with loops closed.
        rows: rows of G in ``solve``: those that do not depend on others.
        units: by name.

    Example:
        >>> JaxFunctions.__name__
        'JaxFunctions'
    """

    model: Model
    formulation: str
    M: Callable[..., Any]
    f: Callable[..., Any]
    qdot: Callable[..., Any]
    G: Callable[..., Any]
    c: Callable[..., Any]
    g: Callable[..., Any]
    b: Callable[..., Any]
    energies: Callable[..., Any]
    solve: Callable[..., Any]
    rhs: Callable[..., Any]
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    input_names: tuple[str, ...]
    parameters: Mapping[str, float]
    start: Any
    rows: tuple[int, ...]
    units: Mapping[str, str]

    def __str__(self) -> str:
        sizes = f"{len(self.coordinates)} coordinates, {len(self.speeds)} speeds, {len(self.rows)} constraint rows"
        return f"{self.model.name}: JAX functions by {self.formulation}, {sizes}"


def to_jax(model: Model | Equations | HasEquations | str, formulation: str | None = None) -> JaxFunctions:
    """Equations of motion as JAX functions, for gradients and many runs on accelerators.

    JAX computes in single precision by default: call ``jax.config.update("jax_enable_x64", True)``
    first for the accuracy of the other engines. Of constraints that depend on each other, a largest independent set
    enters the linear system; the motion is the same. Both branches of a condition are evaluated.

    Args:
        model: a model, equations, a system, or the name of a library mechanism.
        formulation: the one that derives the equations; default: Kane's for a model; a system keeps its equations.

    Raises:
        NotSupported: JAX is not installed.

    Example:
        >>> import pendula
        >>> functions = pendula.exchange.to_jax("pendulum")  # doctest: +SKIP
        >>> jax.jacobian(functions.rhs, argnums=1)(0.0, functions.start)  # doctest: +SKIP
    """
    blocks = blocks_of(model, formulation, "to_jax")
    jnp = needed("jax.numpy", "to_jax")
    eq = blocks.equations
    several = _evaluator(jnp, blocks)

    def block(name: str) -> Callable[..., Any]:
        def function(t: Any, q: Any, v: Any, p: Any = None, u: Any = None) -> Any:
            return several([name], t, q, v, p, u)[0]

        function.__name__ = name
        return function

    solve = _solver(jnp, blocks, several)

    def rhs(t: Any, y: Any, p: Any = None, u: Any = None) -> Any:
        return jnp.concatenate(solve(t, y, p, u)[:2])

    names = ("M", "f", "qdot", "G", "c", "g", "b", "energies")
    return JaxFunctions(
        eq.model,
        eq.formulation,
        **{name: block(name) for name in names},
        solve=solve,
        rhs=rhs,
        coordinates=blocks.layout.coordinates,
        speeds=blocks.layout.speeds,
        input_names=tuple(map(str, eq.u)),
        parameters=blocks.parameters,
        start=blocks.start,
        rows=blocks.rows,
        units=blocks.layout.units,
    )


def _evaluator(jnp: Any, blocks: Blocks) -> Callable[..., list[Any]]:
    """The function that gives several blocks as arrays."""
    values = _values(jnp)

    def several(names: list[str], t: Any, q: Any, v: Any, p: Any, u: Any) -> list[Any]:
        changes = p or {}
        unknown = sorted({*changes} - {*blocks.parameters})
        if unknown:
            raise UsageError(f"unknown parameters: {', '.join(unknown)}; {available(blocks.parameters)}")
        given = [changes.get(name, value) for name, value in blocks.parameters.items()]
        q, v = jnp.asarray(q), jnp.asarray(v)
        _check_size("coordinates", q, blocks.layout.coordinates)
        _check_size("speeds", v, blocks.layout.speeds)
        if u is not None:
            _check_size("inputs", u, tuple(map(str, blocks.equations.u)))
        if u is None and blocks.equations.u:
            (u,) = blocks(["inputs"], values, t, q, v, None, given)
        found = blocks(names, values, t, q, v, u, given)
        return [
            jnp.stack([jnp.asarray(x, dtype=float) for x in entries]).reshape(blocks.shapes[name])
            if entries
            else jnp.zeros(blocks.shapes[name])
            for name, entries in zip(names, found, strict=True)
        ]

    return several


def _check_size(what: str, given: Any, names: tuple[str, ...]) -> None:
    """JAX repeats the last entry of an array that is too short instead of failing."""
    shape = given.shape if hasattr(given, "shape") else (len(given),) if hasattr(given, "__len__") else ()
    if tuple(shape) != (len(names),):
        wanted = f"{len(names)} numbers ({', '.join(names)})" if names else "none"
        raise UsageError(f"to_jax: the {what} have the shape {tuple(shape)}; expected are {wanted}")


def _solver(jnp: Any, blocks: Blocks, several: Callable[..., list[Any]]) -> Callable[..., Any]:
    k, n, m, kept = len(blocks.equations.q), len(blocks.equations.v), len(blocks.rows), list(blocks.rows)

    def solve(t: Any, y: Any, p: Any = None, u: Any = None) -> Any:
        """q', v' and the multipliers."""
        y = jnp.asarray(y)
        M, f, qdot, G, c = several(["M", "f", "qdot", "G", "c"], t, y[:k], y[k:], p, u)
        if not m:
            return qdot, jnp.linalg.solve(M, f), jnp.zeros(0)
        G, c = G[jnp.array(kept)], c[jnp.array(kept)]
        size, rows = jnp.abs(M).max(), jnp.abs(G).max(axis=1)
        G = G / rows[:, None]
        matrix = jnp.block([[M / size, -G.T], [G, jnp.zeros((m, m))]])
        unknowns = jnp.linalg.solve(matrix, jnp.concatenate([f / size, c / rows]))
        return qdot, unknowns[:n], size * unknowns[n:] / rows

    return solve


def _values(jnp: Any) -> Values:
    from jax.scipy.special import erf

    names = "sin cos tan sinh cosh tanh exp log sqrt floor ceil"
    functions = {name: getattr(jnp, name) for name in names.split()}
    for short in ("asin", "acos", "atan", "asinh", "acosh", "atanh"):
        functions[short] = getattr(jnp, short.replace("a", "arc", 1))
    functions |= {"atan2": jnp.arctan2, "erf": erf, "pow": operator.pow}
    return Values("JAX", functions, jnp.where, negate=jnp.logical_not, both=jnp.logical_and, either=jnp.logical_or)
