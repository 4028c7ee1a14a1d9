"""Equations as a Python module on NumPy."""

from __future__ import annotations

from dataclasses import replace

from pendula.equations.equations import Equations
from pendula.equations.printing import code
from pendula.equations.printing.programs.listing import Body, Listing

_RESERVED = "math np len range float list tuple dict ValueError constraints"
PYTHON = replace(code.PYTHON, reserved=frozenset(_RESERVED.split()))


def write_python(eq: Equations) -> str:
    """Equations as a Python module: ``rhs(t, y, p, u)`` is the derivative of the state."""
    listing = Listing(eq, PYTHON)
    lines = ['"""', *listing.head()]
    lines[:2] = [f'"""{lines[1]}']
    lines += ['"""', "", "import math", "", "import numpy as np", ""]
    values = ", ".join(f'"{name}": {value!r}' for name, value in listing.independent.items())
    lines += [f"PARAMETERS = {{{values}}}", "", ""]
    body = listing.dynamics()
    results = ", ".join(body.sizes)
    lines += [f"def dynamics({', '.join(listing.arguments)}):", f'    """Lists {results}; matrices by rows."""']
    lines += [*_body(body), f"    return {results}", "", ""]
    lines += [*_parameters(listing), *_solve(listing)]
    return "\n".join([*lines, *(["", "", *_residuals(listing)] if listing.gaps else [])])


def _body(body: Body) -> list[str]:
    lines = [f"    {name} = {array}[{k}]" for name, array, k in body.unpacked]
    lines += [f"    {name} = {text}" for name, text in body.definitions]
    lines += [f"    {array} = [0.0] * {size}" for array, size in body.sizes.items()]
    return [*lines, *(f"    {array}[{k}] = {text}" for array, k, text in body.stored)]


def _parameters(listing: Listing) -> list[str]:
    """The function that returns all parameters and the inputs."""
    # Names with two underscores cannot be those of the model.
    given, values = "changes__", "values__"
    lines = [f"def parameters_and_inputs(t, {given}=None):"]
    lines.append('    """All parameters in their order, and the inputs at a time; changes: values by name."""')
    lines += [f"    {values} = {{**PARAMETERS, **({given} or {{}})}}", f"    if len({values}) > len(PARAMETERS):"]
    lines.append(f'        raise ValueError(f"unknown parameters: {{set({values}) - set(PARAMETERS)}}")')
    lines += [f'    {listing.name(n)} = {values}["{n}"]' for n in listing.independent]
    lines += [f"    {name} = {text}" for name, text in listing.derived]
    lines.append(f"    return [{', '.join(listing.all_parameters)}], [{', '.join(listing.inputs)}]")
    return [*lines, "", ""]


def _solve(listing: Listing) -> list[str]:
    """The functions for integrators."""
    n, k, m = len(listing.eq.v), len(listing.eq.q), listing.eq.loop_rows
    lines = [
        "def solve(t, y, p=None, u=None):",
        '    """q\', v\' and the multipliers lam at the time t; arguments as for rhs."""',
        "    parameters, given = parameters_and_inputs(t, p)",
        f"    M, f, qdot, G, c = dynamics(t, y[:{k}], y[{k}:], given if u is None else u, parameters)",
        f"    M, f = np.reshape(M, ({n}, {n})), np.array(f)",
    ]
    if not m:
        lines.append("    return np.array(qdot), np.linalg.solve(M, f), np.zeros(0)")
    else:
        lines += [
            f"    G, c = np.reshape(G, ({m}, {n})), np.array(c)",
            "    # [M -G^T; G 0] (v', lam) = (f, c), scaled; rows of G may depend on each other.",
            "    size, rows = np.abs(M).max(), np.abs(G).max(axis=1)",
            "    rows[rows <= 1e-13 * rows.max()] = rows.max()  # rounding is not scaled up",
            "    G, c = G / rows[:, None], c / rows",
            f"    matrix = np.block([[M / size, -G.T], [G, np.zeros(({m}, {m}))]])",
            "    unknowns = np.linalg.lstsq(matrix, np.concatenate([f / size, c]), rcond=1e-12)[0]",
            f"    return np.array(qdot), unknowns[:{n}], size * unknowns[{n}:] / rows",
        ]
    return [
        *lines,
        "",
        "",
        "def rhs(t, y, p=None, u=None):",
        '    """y\' at the time t; p: parameters by name that differ from PARAMETERS, u: inputs in their order."""',
        "    return np.concatenate(solve(t, y, p, u)[:2])",
    ]


def _residuals(listing: Listing) -> list[str]:
    """The function that measures how well the constraints hold."""
    eq, body = listing.eq, listing.residuals()
    n, k, m = len(eq.v), len(eq.q), eq.loop_rows
    results = ", ".join(body.sizes)
    return [
        f"def constraints({', '.join(listing.arguments)}):",
        f'    """Lists {results}; the matrix by rows."""',
        *_body(body),
        f"    return {results}",
        "",
        "",
        "def residuals(t, y, p=None):",
        '    """g and G v - b, which are zero where the constraints hold; arguments as for rhs."""',
        "    parameters, given = parameters_and_inputs(t, p)",
        f"    g, G, b = constraints(t, y[:{k}], y[{k}:], given, parameters)",
        f"    return np.array(g), np.reshape(G, ({m}, {n})) @ y[{k}:] - b",
    ]
