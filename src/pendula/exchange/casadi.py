"""Equations as CasADi functions."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pendula.equations.derive import HasEquations
from pendula.equations.equations import Equations
from pendula.exchange.blocks import Blocks, blocks_of
from pendula.extras import needed
from pendula.model.model import Model
from pendula.system.code.interpret import Values
from pendula.words import readable

_ARGUMENTS = {"M": "tqp", "f": "tqvup", "qdot": "tqvp", "G": "tqp", "c": "tqvp", "g": "tqp", "b": "tqp"}
_ARGUMENTS |= {"energies": "tqvp", "inputs": "tp"}
"""what each block depends on"""


@readable
@dataclass(frozen=True)
class CasadiFunctions:
    """Equations of motion as CasADi functions; see :func:`to_casadi`.

    All have named arguments: ``t``, the coordinates ``q``, the speeds ``v``, the state ``y = (q, v)``, the parameters
    ``p`` and the inputs ``u``, as column vectors in the order of the names below.

    Attributes:
        M, f, qdot, G, c, g, b: blocks of M v' = f + G^T lam, G v' = c, g = 0, G v = b, q' = qdot.
        energies: kinetic and potential energy.
        inputs: what the model gives for u at a time.
        solve: (t, y, p, u) to q', v' and the multipliers of ``rows``.
        rhs: (t, y, p, u) to y'.
        coordinates, speeds, input_names: names of the entries of q, v and u.
        parameters: names and values of the entries of p.
        start: the initial state y, with loops closed.
        rows: rows of G in ``solve``: those that do not depend on others.
        units: by name.

    Example:
        >>> CasadiFunctions.__name__
        'CasadiFunctions'
    """

    model: Model
    formulation: str
    M: Any
    f: Any
    qdot: Any
    G: Any
    c: Any
    g: Any
    b: Any
    energies: Any
    inputs: Any
    solve: Any
    rhs: Any
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    input_names: tuple[str, ...]
    parameters: Mapping[str, float]
    start: Any
    rows: tuple[int, ...]
    units: Mapping[str, str]

    def __str__(self) -> str:
        sizes = f"{len(self.coordinates)} coordinates, {len(self.speeds)} speeds, {len(self.rows)} constraint rows"
        return f"{self.model.name}: CasADi functions by {self.formulation}, {sizes}"


def to_casadi(model: Model | Equations | HasEquations | str, formulation: str | None = None) -> CasadiFunctions:
    """Equations of motion as CasADi functions, for optimal control, estimation and code generation.

    Accelerations and multipliers follow from one linear system, which CasADi factorizes (sparse QR) and differentiates.
    Of constraints that depend on each other, a largest independent set enters it; the motion is the same.

    Args:
        model: a model, equations, a system, or the name of a library mechanism.
        formulation: the one that derives the equations; default: Kane's for a model; a system keeps its equations.

    Raises:
        NotSupported: CasADi is not installed.

    Example:
        >>> import pendula
        >>> functions = pendula.exchange.to_casadi("pendulum")  # doctest: +SKIP
        >>> functions.rhs(0, functions.start, list(functions.parameters.values()), [])  # doctest: +SKIP
        DM([0, -7.35])
    """
    blocks = blocks_of(model, formulation, "to_casadi")
    ca = needed("casadi", "to_casadi")
    eq = blocks.equations
    k, n, m = len(eq.q), len(eq.v), len(blocks.rows)
    sizes = {"t": 1, "q": k, "v": n, "u": len(eq.u), "p": len(blocks.parameters)}
    made = {name: _function(ca, blocks, name, sizes) for name in _ARGUMENTS}
    # the linear system: symbols of matrices, so that CasADi sees one solve instead of its operations
    t, y, p, u = (
        ca.MX.sym(name, size) for name, size in (("t", 1), ("y", k + n), ("p", sizes["p"]), ("u", sizes["u"]))
    )
    q, v = y[:k], y[k:]
    kept = list(blocks.rows)
    M, f = made["M"](t, q, p), made["f"](t, q, v, u, p)
    if m:
        G, c = made["G"](t, q, p)[kept, :], made["c"](t, q, v, p)[kept]
        matrix = ca.blockcat([[M, -G.T], [G, ca.MX(m, m)]])
        unknowns = ca.solve(matrix, ca.vertcat(f, c), "qr")
    else:
        unknowns = ca.solve(M, f, "qr")
    qdot, names = made["qdot"](t, q, v, p), ["t", "y", "p", "u"]
    solve = ca.Function("solve", [t, y, p, u], [qdot, unknowns[:n], unknowns[n:]], names, ["qdot", "vdot", "lam"])
    rhs = ca.Function("rhs", [t, y, p, u], [ca.vertcat(qdot, unknowns[:n])], names, ["ydot"])
    return CasadiFunctions(
        eq.model,
        eq.formulation,
        **made,
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


def _values(ca: Any) -> Values:
    names = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt erf floor ceil atan2"
    functions = {name: getattr(ca, name) for name in names.split()} | {"pow": operator.pow}
    return Values(
        "CasADi",
        functions,
        ca.if_else,
        both=ca.logic_and,
        either=ca.logic_or,
        negate=ca.logic_not,
        number=ca.SX,
    )


def _function(ca: Any, blocks: Blocks, name: str, sizes: Mapping[str, int]) -> Any:
    """One block as a function of what it depends on."""
    symbols = {x: ca.SX.sym(x, size) for x, size in sizes.items()}
    (found,) = blocks([name], _values(ca), *(symbols[x] for x in "tqvup"))
    shape = blocks.shapes[name]
    rows, columns = (shape[0], shape[1]) if len(shape) == 2 else (shape[0], 1)
    value = ca.SX(rows, columns)
    for place, entry in enumerate(found):
        if not ca.SX(entry).is_zero():
            value[place // columns, place % columns] = entry
    arguments = list(_ARGUMENTS[name])
    return ca.Function(name, [symbols[x] for x in arguments], [value], arguments, [name])
