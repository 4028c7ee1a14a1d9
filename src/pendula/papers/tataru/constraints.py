"""Constraint matrices: their sizes, their null space, and their rates."""

from __future__ import annotations

import numpy as np

from pendula.papers.judge import claim
from pendula.papers.tataru.equality import words
from pendula.papers.tataru.method import Array, cross, data, matrices, turn
from pendula.papers.types import Finding, Line

ROUNDING = 1e-12


def sizes(angles: list[float], rates: list[float]) -> Finding:
    """Sizes of the blocks, and what the constraint matrix annihilates."""
    one = matrices(np.array(angles), np.array(rates), data())
    v = one.tau @ one.rates
    annihilated = float(np.max(np.abs(one.tau.T @ one.L.T)))
    consistent = float(np.max(np.abs(one.extended @ v - one.A @ one.rates)))
    rows = f"row 6 = {words(one.A[5])}, row 12 = {words(one.A[11])}"
    lines = (
        _introduction(one.L),
        claim(
            "eqs. 33-36, 57",
            "L_τᵀ L_λᵀ = 0, and v = L_τ q'",
            f"largest entry of the product {annihilated:.1g}; constraints at v = L_τ q' left over {consistent:.1g}",
            annihilated < ROUNDING and consistent < ROUNDING,
            evidence={"largest entry": annihilated, "left over": consistent},
        ),
        _equation_22(angles, rates),
        _columns(
            "eq. 21",
            "lower right block R_i³³",
            "[R_1³³, 0]: the index is 1, and a zero column belongs beside it",
        ),
        _between_hinges(angles, rates),
        claim(
            "eqs. 30-32",
            "A₁ and A₂ are marked 2 × 5",
            f"L^extended v has {one.extended.shape[0]} rows and q' has {one.A.shape[1]}, so A is {one.A.shape[0]} by "
            f"{one.A.shape[1]}: {rows}; "
            f"with it L^extended v = A q' holds to {consistent:.1g}",
            one.A.shape == (10, 2),
            evidence={"rows": one.A.shape[0], "columns": one.A.shape[1], "left over": consistent},
            reason="five zero rows and one more make six rows for each body; 2 × 5 is the size of the zero block alone",
            corrected="A is 12 × 2: zero but for row 6 = [1 0] and row 12 = [1 −1]",
            effect="the product in eq. 24 does not exist",
            severity="incomplete",
        ),
        _zero_blocks(one.M),
        _relation_55(one.tau, one.L),
    )
    return Finding(lines=lines)


def _introduction(L: Array) -> Line:
    """Whom the hinge O2 joins, by the rows of the constraint matrix that belong to it."""
    speeds, hinge = L.shape[1], L[5:]
    free = speeds - int(np.linalg.matrix_rank(L))
    alone = speeds - int(np.linalg.matrix_rank(L[:5]))  # a body hinged to itself is not constrained
    reach = [int(np.linalg.matrix_rank(hinge[:, 6 * k : 6 * k + 6])) for k in range(2)]
    return claim(
        "1, introduction",
        "body 2 is connected with body 2 by the hinge O₂",
        f"a hinge of a body with itself constrains nothing and would leave {alone} degrees of freedom; the rows of "
        f"O₂ in eqs. 21 and 22 have rank {reach[0]} in the speeds of body 1 and {reach[1]} in those of body 2, and "
        f"leave the {free} of the title",
        alone == free,
        evidence={
            "degrees of freedom as printed": alone,
            "degrees of freedom": free,
            "rank in body 1": reach[0],
            "rank in body 2": reach[1],
        },
        reason="a slip of the pen: the hinge joins body 1 with body 2",
        corrected="body 1 is connected with body 2 by the hinge O₂",
        severity="harmless",
    )


def _between_hinges(angles: list[float], rates: list[float]) -> Line:
    """Readings of [O1O2], which no equation defines, by the velocity of O2 that they give."""
    p = data()
    l, w = p["l1"], np.array([0.0, 0.0, rates[0]])
    h = 1e-6
    before, after = (turn(angles[0] + k * h * rates[0]) @ np.array([l, 0.0, 0.0]) for k in (-1, 1))
    true = (after - before) / (2 * h)
    readings = {"like [r_i]": cross(l, 0.0, 0.0), "with the opposite sign": cross(-l, 0.0, 0.0)}
    off = {name: float(np.linalg.norm(turn(angles[0]) @ M.T @ w - true)) for name, M in readings.items()}
    column = np.array([[l], [0.0], [0.0]]).T
    return claim(
        "eqs. 21, 28, 40",
        "[O₁O₂] is used and never defined",
        f"as a column its transpose is {column.shape[0]} × {column.shape[1]} and R_1 · [O₁O₂]ᵀ does not exist; as a "
        "matrix like [r_i] of eq. 12, with the distance O₁O₂, it gives the velocity of O₂ to "
        f"{off['like [r_i]']:.1g} m/s, with the opposite sign it is off by {off['with the opposite sign']:.3g} m/s",
        column.shape[0] == 3,
        evidence={f"error of the velocity [m/s], {name}": x for name, x in off.items()}
        | {"rows of the transposed column": column.shape[0]},
        reason="the matrix is neither stated nor in the list of symbols",
        corrected="[O₁O₂] = [[0, 0, 0], [0, 0, −O₁O₂], [0, O₁O₂, 0]]",
        effect="the constraint of the second hinge cannot be written down without a guess",
        severity="incomplete",
    )


def _equation_22(angles: list[float], rates: list[float]) -> Line:
    p = data()
    right, wrong = (matrices(np.array(angles), np.array(rates), p, which) for which in ((), ("22",)))
    kept = float(np.max(np.abs(wrong.L @ wrong.tau)))
    same = float(np.max(np.abs(right.L.T @ right.multipliers - wrong.L.T @ wrong.multipliers)))
    return claim(
        "eq. 22, lower right",
        "+R_2³³",
        f"with the printed sign L_λ L_τ is {kept:.1g} and the constraint forces change by {same:.1g} N: nothing "
        "changes; eq. 29 has a minus",
        bool(np.allclose(wrong.L, right.L)),
        evidence={"L tau as printed": kept, "change of the constraint forces": same},
        reason="both angular velocities about x and y vanish, so their sum vanishes as well as their difference; but a "
        "constraint is the difference, and the zero column is missing",
        corrected="[−R_2³³, 0]",
        severity="harmless",
    )


def _columns(where: str, says: str, corrected: str) -> Line:
    printed, needed = 3 + 2, 6
    return claim(
        where,
        says,
        f"a block of 2 × 3 zeros beside one of 2 × 2 has {printed} columns; the speeds of a body are {needed}",
        printed == needed,
        evidence={"columns as printed": printed, "columns needed": needed},
        reason="one column is missing, and the index i may be 1 or 2; the block belongs to body 1",
        corrected=corrected,
        effect="blocks that do not fit together",
        severity="incomplete",
    )


def _zero_blocks(M: Array) -> Line:
    own = M[:6, :6]
    try:
        size = np.block([[own, np.zeros((3, 3))], [np.zeros((3, 3)), own]]).shape[0]
    except ValueError:
        size = 0
    return claim(
        "eqs. 52, 53",
        "zero blocks of 3 × 3 beside [M_O1] and [M_O2]",
        f"blocks of {own.shape[0]} and 3 rows do not form a matrix; with 6 × 6 zeros M is {M.shape[0]} by {M.shape[1]}",
        size == 12,
        evidence={
            "rows of a diagonal block": own.shape[0],
            "rows of a zero block as printed": 3,
            "size of M": M.shape[0],
        },
        reason="each body has six speeds",
        corrected="zero blocks of 6 × 6",
        effect="the matrices cannot be formed",
        severity="incomplete",
    )


def _relation_55(tau: Array, L: Array) -> Line:
    columns, length = tau.T.shape[1], L.shape[0]
    return claim(
        "before eqs. 56 and 71",
        "multiply the relation (55) by L_τᵀ",
        f"L_τᵀ has {columns} columns, and (55) is the column of {length} multipliers; relation (45) has "
        f"{tau.shape[0]} rows",
        columns == length,
        evidence={"columns of the factor": columns, "multipliers in (55)": length, "rows of (45)": tau.shape[0]},
        reason="(55) only lists the multipliers; the equations of motion are (45)",
        corrected="multiply the relation (45)",
        effect="the product does not exist",
        severity="incomplete",
    )


# -- rates --------------------------------------------------------------------------------------------


def differentiated(angles: list[float], rates: list[float]) -> Finding:
    """Equations 37 to 43: each tried as printed and corrected."""
    p = data()
    q, w = np.array(angles), np.array(rates)
    one, wrong = matrices(q, w, p), matrices(q, w, p, ("41",))
    v, v_rate = one.body_rates
    target = one.A @ one.accelerations
    good = float(np.max(np.abs(one.extended @ v_rate + one.extended_rate @ v - target)))
    bad = float(np.max(np.abs(one.extended_rate @ v_rate + one.extended_rate @ v - target)))
    h = 1e-6
    numeric = (matrices(q + h * w, w, p).extended - matrices(q - h * w, w, p).extended) / (2 * h)
    rate_right, rate_wrong = (float(np.max(np.abs(x.extended_rate - numeric))) for x in (one, wrong))
    by_angles = one.tau @ one.accelerations + one.tau_rate @ q
    off = float(np.max(np.abs(by_angles - v_rate)))
    gap = float(np.max(np.abs(one.accelerations - wrong.accelerations)))
    lines = (
        claim(
            "eq. 37, first term",
            "L̇^extended v' + L̇^extended v = A q''",
            f"left over {bad:.3g} as printed, {good:.1g} with L^extended v' first (the dot may be damage of the scan)",
            bad < ROUNDING,
            evidence={"left over as printed": bad, "left over corrected": good},
            reason="the derivative of a product has each factor differentiated once",
            corrected="L^extended v' + L̇^extended v = A q''",
            effect="accelerations would be missing from the constraints",
            severity="wrong",
        ),
        _order(),
        claim(
            "eq. 41, upper left",
            "−R_1 ω_1",
            f"accelerations {words(wrong.accelerations)} instead of {words(one.accelerations)} rad/s²; the printed "
            "rate differs from the "
            f"central difference of eq. 29 by {rate_wrong:.3g}, the corrected one by {rate_right:.1g}",
            gap < ROUNDING,
            evidence={
                "difference of accelerations [rad/s^2]": gap,
                "phi1'' as printed": wrong.accelerations[0],
                "phi2'' as printed": wrong.accelerations[1],
                "phi1''": one.accelerations[0],
                "phi2''": one.accelerations[1],
                "error of the rate as printed": rate_wrong,
            },
            reason="the block is the rate of −R_2",
            corrected="−R_2 ω_2",
            effect=f"accelerations wrong by up to {gap:.3g} rad/s² at this state, nothing at rest",
            severity="wrong",
        ),
        claim(
            "eq. 42",
            "v' = L_τ q'' + L̇_τ q",
            f"off by {off:.3g} from the rates that satisfy the constraints; with q' by 0",
            off < ROUNDING,
            evidence={"error as printed": off},
            reason="the rate of L_τ q' is L_τ q'' + L̇_τ q'; eq. 79 has it",
            corrected="v' = L_τ q'' + L̇_τ q'",
            effect="velocity terms would depend on where an angle is counted from",
            severity="wrong",
        ),
    )
    return Finding(lines=lines)


def _order() -> Line:
    """Rates of rotation matrices: R omega with body components, in the plane and in space."""
    plane, spin = (
        np.array([[np.cos(0.7), -np.sin(0.7), 0], [np.sin(0.7), np.cos(0.7), 0], [0, 0, 1.0]]),
        cross(0, 0, 1.3),
    )
    in_plane = float(np.max(np.abs(spin @ plane - plane @ spin)))
    c, s = np.cos(0.7), np.sin(0.7)
    space = plane @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    body = cross(0.4, -0.9, 1.3)
    h = 1e-6
    step, eye = h * body, np.eye(3)
    turned = [space @ (eye + k * step + step @ step / 2) for k in (1, -1)]
    numeric = (turned[0] - turned[1]) / (2 * h)
    wrong, right = (float(np.max(np.abs(x - numeric))) for x in (body @ space, space @ body))
    return claim(
        "eqs. 38, 40, 41, lower blocks",
        "ω R as the rate of R",
        f"about one axis ω R − R ω is {in_plane:.1g}; in space, with components in body axes, ω R is off by "
        f"{wrong:.2f} and R ω by {right:.1g}",
        wrong < 1e-8,
        evidence={"in the plane": in_plane, "in space, omega R": wrong, "in space, R omega": right},
        reason="ω has components in body axes, so the rate of R is R ω; rotations about one axis commute",
        corrected="R ω",
        effect="none for this pendulum; wrong accelerations if the method is extended to space, as the abstract "
        "suggests",
        severity="harmless",
    )
