"""Printed equations for three unequal links, as given equations for :func:`pendula.derivation.check_against`."""

from __future__ import annotations

from typing import Any

import sympy as sp

import pendula

LINKS = range(1, 4)


def three_links() -> pendula.Model:
    """Three unequal links with absolute angles, so that no error hides behind equal numbers."""
    made = pendula.library.chain(
        links=3,
        mass=[1.0, 2.0, 0.5],
        length=[0.7, 1.1, 0.6],
        com=[0.3, 0.5, 0.4],
        inertia=[0.05, 0.2, 0.03],
    )
    return made


def lagrange(*, all_links: bool) -> dict[str, Any]:
    """Equation 15 from the energies of equations 6 to 14; ``all_links`` False takes the terms of link i only."""
    m, l, d, J = (_symbols(name) for name in "mldJ")
    th = _symbols("theta")
    w, a = ({i: sp.Symbol(f"theta{i}_{dots}") for i in LINKS} for dots in ("dot", "ddot"))
    g = sp.Symbol("g")
    total = sp.Integer(0)
    for i in LINKS:
        above = range(1, i)
        y = sum(-l[j] * sp.cos(th[j]) for j in above) - d[i] * sp.cos(th[i])  # 13
        x_rate = sum(l[j] * w[j] * sp.cos(th[j]) for j in above) + d[i] * w[i] * sp.cos(th[i])  # 14
        y_rate = sum(-l[j] * w[j] * sp.sin(th[j]) for j in above) - d[i] * w[i] * sp.sin(th[i])
        total += m[i] * (x_rate**2 + y_rate**2) / 2 + J[i] * w[i] ** 2 / 2 - m[i] * g * y  # 6 to 8
    total = sp.expand(total)
    equations = []
    for i in LINKS:
        momentum = sp.diff(total, w[i])
        over = list(LINKS) if all_links else [i]
        left = sum(sp.diff(momentum, th[j]) * w[j] + sp.diff(momentum, w[j]) * a[j] for j in over) - sp.diff(
            total, th[i]
        )
        equations.append(f"{left} = 0")
    return {"equations": equations}


def _symbols(name: str) -> dict[int, sp.Symbol]:
    return {i: sp.Symbol(f"{name}{i}") for i in LINKS}


def momentum(*, below: bool = True, inertia: str = "j", weight: str = "j") -> dict[str, Any]:
    """Equations 28 and 29, one for each link i, with the kinematics of equations 16 to 26.

    Args:
        below: the sum goes over the link and those below, j = i..n; False: j = 1..i, as printed.
        inertia: "j": each link's own; "i": that of link i, as printed.
        weight: "j": each link's own mass in equation 24; "i": that of link i, as printed.
    """
    define = {"Ex0": "0", "Ey0": "0", "aEx0": "0", "aEy0": "0"}
    for i in LINKS:
        for point, length in (("G", f"d{i}"), ("E", f"l{i}")):
            define[f"{point}x{i}"] = f"Ex{i - 1} + {length}*sin(theta{i})"
            define[f"{point}y{i}"] = f"Ey{i - 1} - {length}*cos(theta{i})"
            name = "a" if point == "G" else "aE"
            turn, pull = f"{length}*theta{i}_ddot", f"{length}*theta{i}_dot**2"
            define[f"{name}x{i}"] = f"aEx{i - 1} + {turn}*cos(theta{i}) - {pull}*sin(theta{i})"
            define[f"{name}y{i}"] = f"aEy{i - 1} + {turn}*sin(theta{i}) + {pull}*cos(theta{i})"
    equations = []
    for i in LINKS:
        left, right = [], []
        for j in range(i, LINKS[-1] + 1) if below else range(1, i + 1):
            across, up = f"(Gx{j} - Ex{i - 1})", f"(Gy{j} - Ey{i - 1})"
            heavy = i if weight == "i" else j
            left.append(f"{across}*(-m{heavy}*g)")
            k = i if inertia == "i" else j
            right.append(f"{across}*m{j}*ay{j} - {up}*m{j}*ax{j} + J{k}*theta{k}_ddot")
        equations.append(f"{' + '.join(left)} = {' + '.join(right)}")
    return {"equations": equations, "define": define}
