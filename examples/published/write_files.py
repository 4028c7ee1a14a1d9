"""Writes the equation files of this folder: published equations as printed, and corrected.

    python examples/published/write_files.py

The equations are carried through the steps of their papers symbol by symbol, so that nothing is worked out by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import sympy as sp

HERE = Path(__file__).resolve().parent
LINKS = range(1, 4)

TURNER = "Jeremy Turner, \"I've got n problems but dynamics ain't one\""
GUPTA_SAHA = 'Vinay Gupta and S. K. Saha, "Symbolic computation and simulation of a spatial pendulum", figure 3'
TATARU = 'Vladimir Dragos Tataru, "Dynamics survey of physical pendulum with two degrees of freedom"'


def symbols(pattern: str) -> dict[int, sp.Symbol]:
    """One symbol for each link."""
    return {i: sp.Symbol(pattern.format(i)) for i in LINKS}


# -- Turner, equation 15: Lagrange's equations ---------------------------------------------------------


def turner_lagrange(*, printed: bool) -> dict[str, object]:
    """Equation 15 for three links, from the energies of equations 6 to 14.

    The time derivative of dL/d(theta_i') needs a sum over all links; as printed it has the terms of link i only.
    """
    m, L, d, I = (symbols(f"{name}{{}}") for name in "mLdI")
    th, w, a = symbols("theta{}"), symbols("theta{}_dot"), symbols("theta{}_ddot")
    g = sp.Symbol("g")
    lagrangian = 0
    for i in LINKS:
        above = range(1, i)
        y = sum(-L[j] * sp.cos(th[j]) for j in above) - d[i] * sp.cos(th[i])  # 13
        xdot = sum(L[j] * w[j] * sp.cos(th[j]) for j in above) + d[i] * w[i] * sp.cos(th[i])  # 14
        ydot = sum(-L[j] * w[j] * sp.sin(th[j]) for j in above) - d[i] * w[i] * sp.sin(th[i])
        lagrangian += m[i] * (xdot**2 + ydot**2) / 2 + I[i] * w[i] ** 2 / 2 - m[i] * g * y  # 6 to 8
    lagrangian = sp.expand(lagrangian)
    define, equations = {}, []
    for i in LINKS:
        momentum = sp.diff(lagrangian, w[i])
        over = [i] if printed else list(LINKS)
        define[f"by_angle{i}"] = text(sum(sp.diff(momentum, th[j]) * w[j] for j in over))
        define[f"by_speed{i}"] = text(sum(sp.diff(momentum, w[j]) * a[j] for j in over))
        define[f"force{i}"] = text(sp.diff(lagrangian, th[i]))
        equations.append(f"by_angle{i} + by_speed{i} - force{i} = 0")
    how = "as printed (only the terms of link i)" if printed else "corrected (sum over all links j)"
    return {"title": f"{TURNER}, equation 15, three links, {how}", "equations": equations, "define": define}


def text(expression: sp.Expr) -> str:
    """An expression in the language of model files."""
    return str(sp.collect(sp.trigsimp(expression), sp.symbols("theta1_dot theta2_dot theta3_dot g")))


# -- Turner, equations 28 and 29: angular momentum about the upper elbow of each link ------------------


def turner_newton_euler(*, printed: bool, inertia: str = "") -> dict[str, object]:
    """Equations 28 and 29 for three links, one equation for each link i, with the kinematics of 16 to 26.

    As printed, the sum goes over the links above, j = 1..i, and the inertia is that of link i; it must go over the
    link and those below, j = i..n, each with its own inertia. ``inertia`` "i" or "j" chooses that part alone.
    """
    define = turner_kinematics()
    own = inertia or ("i" if printed else "j")
    equations = []
    for i in LINKS:
        left, right = [], []
        for j in range(1, i + 1) if printed else range(i, LINKS[-1] + 1):
            arm_x, arm_y = f"(Gx{j} - Ex{i - 1})", f"(Gy{j} - Ey{i - 1})"
            left.append(f"{arm_x}*Fy{j} - {arm_y}*Fx{j}")
            k = i if own == "i" else j
            right.append(f"{arm_x}*m{j}*ay{j} - {arm_y}*m{j}*ax{j} + I{k}*theta{k}_ddot")
        equations.append(f"{' + '.join(left)} = {' + '.join(right)}")
    how = "as printed (j = 1..i, inertia of link i)" if printed else "corrected (j = i..n, inertia of link j)"
    return {"title": f"{TURNER}, equations 28 and 29, three links, {how}", "equations": equations, "define": define}


def turner_kinematics() -> dict[str, str]:
    """Mass centres G, elbows E, accelerations of G (21 to 23) and forces on each link (24, 25)."""
    define = {"Ex0": "0", "Ey0": "0", "aEx0": "0", "aEy0": "0"}
    for i in LINKS:
        for point, length in (("G", f"d{i}"), ("E", f"L{i}")):
            define[f"{point}x{i}"] = f"Ex{i - 1} + {length}*sin(theta{i})"
            define[f"{point}y{i}"] = f"Ey{i - 1} - {length}*cos(theta{i})"
            name = "a" if point == "G" else "aE"
            turn, pull = f"{length}*theta{i}_ddot", f"{length}*theta{i}_dot**2"
            define[f"{name}x{i}"] = f"aEx{i - 1} + {turn}*cos(theta{i}) - {pull}*sin(theta{i})"
            define[f"{name}y{i}"] = f"aEy{i - 1} + {turn}*sin(theta{i}) + {pull}*cos(theta{i})"
        define[f"Fx{i}"] = f"-mu*theta{i}_dot*cos(theta{i})"
        define[f"Fy{i}"] = f"-m{i}*g - mu*theta{i}_dot*sin(theta{i})"
    return define


# -- Tataru, equation 41: the constraint matrix differentiated -----------------------------------------


def tataru(*, printed: bool) -> dict[str, object]:
    """Equations 1 to 62 for two bodies, with equation 41 as printed or corrected.

    Other misprints that change the result are corrected in both: the lower left block of equation 3 is S omega.
    """
    m, c, J = (sp.symbols(f"{name}1:3") for name in "mcJ")
    l, g = sp.symbols("l g")
    phi, w = sp.symbols("phi1:3"), sp.symbols("phi1_dot phi2_dot")
    R = [sp.rot_axis3(-angle) for angle in phi]  # 13
    omega = [cross(0, 0, rate) for rate in w]  # 6
    zero = sp.zeros(3)
    M, Omega, Q = [], [], []
    for i in range(2):
        S = m[i] * cross(c[i], 0, 0)  # 4
        Ji = sp.diag(0, 0, J[i])  # 5; the other two turn nothing in the plane
        M.append(sp.Matrix(sp.BlockMatrix([[m[i] * sp.eye(3), -S], [S, Ji]])))  # 2
        Omega.append(sp.Matrix(sp.BlockMatrix([[omega[i] * m[i], -omega[i] * S], [S * omega[i], omega[i] * Ji]])))  # 3
        weight = R[i].T * sp.Matrix([m[i] * g, 0, 0])  # 11
        Q.append(sp.Matrix.vstack(weight, cross(c[i], 0, 0) * weight))  # 10, 12
    arm = cross(l, 0, 0).T
    extended = blocks(
        [[R[0], zero, zero, zero], [zero, R[0], zero, zero], [R[0], R[0] * arm, -R[1], zero], [zero, R[0], zero, -R[1]]]
    )  # 25 to 29
    turned = [R[i] * omega[i] for i in range(2)]
    upper = turned[0] if printed else turned[1]
    rate = blocks(
        [
            [turned[0], zero, zero, zero],
            [zero, turned[0], zero, zero],
            [turned[0], turned[0] * arm, -upper, zero],
            [zero, turned[0], zero, -turned[1]],
        ]
    )  # 38 to 41
    A = sp.zeros(12, 2)
    A[5, 0], A[11, 0], A[11, 1] = 1, 1, -1  # 30 to 32
    inverse = sp.simplify(extended.inv())
    tau = sp.simplify(inverse * A)  # 34
    tau_rate = -inverse * rate * tau  # 43
    masses, gyro = sp.diag(*M), sp.diag(*Omega)
    speeds = sp.Matrix(w)
    reduced = sp.simplify(tau.T * masses * tau)  # 59
    forces = sp.simplify(-tau.T * (gyro * tau + masses * tau_rate) * speeds + tau.T * sp.Matrix.vstack(*Q))  # 61, 62
    how = "as printed (-R1 omega1)" if printed else "corrected (-R2 omega2)"
    return {
        "title": f"{TATARU}, with equation 41 {how}",
        "M": [[str(x) for x in reduced.row(i)] for i in range(2)],
        "f": [str(x) for x in forces],
    }


# -- Gupta and Saha, figure 3: the code that computes I and h -------------------------------------------


def gupta_saha(*, printed: bool) -> dict[str, object]:
    """I theta'' + h + gamma = 0 by the steps of the code in figure 3, for ZYZ angles and z down.

    As printed, the code has [1;0;0]*[0 0 1] for i2 i2^T, not turned into the fixed frame, and the inertia m a^2/3 of
    the rod about its end, to which m a^2/4 is added again.
    """
    th, w = sp.symbols("th1 th2 th3"), sp.symbols("th1_dot th2_dot th3_dot")
    m, a, d, g = sp.symbols("m a d g")
    Q = _turn(th[0], 2) * _turn(th[1], 1) * _turn(th[2], 2)
    across = m * d**2 / 16 + m * a**2 / (3 if printed else 12)
    inertia = Q * sp.diag(m * d**2 / 8, across, across) * Q.T
    L = sp.Matrix(
        [
            [0, -sp.sin(th[0]), sp.sin(th[1]) * sp.cos(th[0])],
            [0, sp.cos(th[0]), sp.sin(th[1]) * sp.sin(th[0])],
            [1, 0, sp.cos(th[1])],
        ]
    )
    i2 = sp.Matrix([1, 0, 0])
    product = i2 * sp.Matrix([[0, 0, 1]]) if printed else Q * i2 * i2.T * Q.T
    GIM = sp.expand(L.T * (m * a**2 / 4 * (sp.eye(3) - product) + inertia) * L)
    GIM = GIM.applyfunc(sp.trigsimp)
    gamma = [0, m * a * g / 2 * sp.cos(th[1]) * sp.cos(th[2]), -m * a * g / 2 * sp.sin(th[1]) * sp.sin(th[2])]
    h = [
        sum(
            (sp.diff(GIM[i, j], th[k]) - sp.diff(GIM[j, k], th[i]) / 2) * w[j] * w[k]
            for j in range(3)
            for k in range(3)
        )
        for i in range(3)
    ]
    how = "as printed" if printed else "corrected (i2 = Q [1; 0; 0], inertia m a^2/12 about the mass centre)"
    return {
        "title": f"{GUPTA_SAHA}, {how}",
        "M": [[str(x) for x in GIM.row(i)] for i in range(3)],
        "f": [str(sp.expand(-(h[i] + gamma[i]))) for i in range(3)],
        "coordinates": {"th1": "phi", "th2": "theta", "th3": "psi"},
    }


def _turn(angle: sp.Symbol, axis: int) -> sp.Matrix:
    """A rotation about the y axis (1) or the z axis (2)."""
    c, s = sp.cos(angle), sp.sin(angle)
    if axis == 1:
        return sp.Matrix([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return sp.Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def cross(x: sp.Expr, y: sp.Expr, z: sp.Expr) -> sp.Matrix:
    """The matrix that multiplies like a cross product from the left."""
    return sp.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def blocks(rows: list[list[sp.Matrix]]) -> sp.Matrix:
    """One matrix from blocks."""
    return sp.Matrix.vstack(*(sp.Matrix.hstack(*row) for row in rows))


# -- files ---------------------------------------------------------------------------------------------

FILES = {
    "turner-15-printed.toml": lambda: turner_lagrange(printed=True),
    "turner-15-corrected.toml": lambda: turner_lagrange(printed=False),
    "turner-28-29-printed.toml": lambda: turner_newton_euler(printed=True),
    "turner-28-29-corrected.toml": lambda: turner_newton_euler(printed=False),
    "gupta-saha-code-printed.toml": lambda: gupta_saha(printed=True),
    "gupta-saha-code-corrected.toml": lambda: gupta_saha(printed=False),
    "tataru-41-printed.toml": lambda: tataru(printed=True),
    "tataru-41-corrected.toml": lambda: tataru(printed=False),
}


def toml(content: dict[str, object]) -> str:
    """TOML text with one entry of a list or table on each line."""
    lines = []
    for key, value in content.items():
        if isinstance(value, str):
            lines.append(f"{key} = {json.dumps(value)}")
        elif isinstance(value, list):
            lines += [f"{key} = [", *(f"    {json.dumps(entry)}," for entry in value), "]"]
        elif isinstance(value, dict):
            lines += ["", f"[{key}]", *(f"{name} = {json.dumps(entry)}" for name, entry in value.items())]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes every file."""
    for name, make in FILES.items():
        (HERE / name).write_text(toml(make()), encoding="utf-8")


if __name__ == "__main__":
    main()
