"""The appendix: h1 and i33 as printed, against the code of figure 3 and against the corrected derivation."""

from __future__ import annotations

import re

import numpy as np
import sympy as sp

import pendula
from pendula.papers.gupta_saha.method import (
    ANGLES,
    DATA,
    DIAMETER,
    LENGTH,
    MASS,
    PRINTED_THIRD,
    RATES,
    THIRD,
    Array,
    inertia_matrix,
    shortened,
    velocity_terms,
)
from pendula.papers.gupta_saha.printed import H1, I33, code_h1, code_i33, mended
from pendula.papers.judge import claim
from pendula.papers.types import Finding, Line, Table
from pendula.words import counted

EXACT = 1e-10
RATE_IN_TWO = re.compile(r"(th\d)\*d")
"""a rate as A.1 prints it: th1*d for th1d"""


def _states(count: int) -> Array:
    return np.random.default_rng(2).uniform(-2, 2, (count, 6))


def _values(expression: sp.Expr, states: Array) -> Array:
    data = {k: v for k, v in DATA.items()}
    function = sp.lambdify((*ANGLES, *RATES), sp.sympify(expression).subs(data), cse=True)
    return np.array([float(function(*x)) for x in states])


def terms(states: int) -> Finding:
    """The printed terms at random states, and how many terms there are before and after simplification."""
    points = _states(states)
    code = inertia_matrix("code", PRINTED_THIRD)
    h1 = velocity_terms(code)[0]
    corrected = inertia_matrix("body", sp.Rational(1, 12))
    right = velocity_terms(corrected)[0]
    table, count = _counts(code, corrected)
    return Finding(
        lines=(
            count,
            _h1(h1, points),
            _cyclic(h1, right, points),
            _i33_long(code, points),
            _i33(code, points),
            _asymmetric(points),
        ),
        tables=(table, _stages()),
    )


def _stages() -> Table:
    """The same rod derived in stages by the program."""
    found = pendula.derivation.stages(pendula.library.spatial_rod())
    rows = tuple(
        (x.name, None if x.raw is None else x.raw.terms, x.before.terms, x.after.terms, f"{x.change:.1g}")
        for x in found.stages
    )
    head = ("Stage", "Terms, nothing simplified", "Terms before", "Terms after", "Largest change of a value")
    return Table("The corrected rod, derived in stages; each step is checked at random points", head, rows)


def _read(text: str, states: Array) -> Array:
    """Values of an expression of the appendix."""
    return _values(sp.sympify(text.replace("^", "**")), states)


def _h1(code: sp.Expr, points: Array) -> Line:
    truth = _values(code, points)
    scale = float(np.max(np.abs(truth)))
    with_rates = RATE_IN_TWO.sub(r"\1d", H1)
    signed = "-" + with_rates.replace("(1250", "(-1250", 1)
    literal, rates, signs, all_mended = (
        float(np.max(np.abs(_read(text, points) - truth)) / scale) for text in (H1, with_rates, signed, code_h1())
    )
    apart, missing = len(RATE_IN_TWO.findall(H1)), code_h1().count("*d^2") - with_rates.count("*d^2")
    lost = mended(with_rates, code_h1()).signs
    return claim(
        "A.1, after simplification",
        "h₁ = 1/10000*m*(1250*th1*d*th2*d^2*cos(th2)*cos(th3)^2*sin(th2)+...)",
        f"it holds no rates as it stands, since each th1d is printed th1*d ({apart} times), and differs from the h₁ of "
        f"the paper's own code (figure 3) by {literal:.2g} times its size; with the rates restored by {rates:.2g}, "
        f"with {lost} minus signs as well by {signs:.2g}, and with {missing} factors d as well by {all_mended:.1g}",
        literal < EXACT,
        evidence={
            "difference from the code, as printed": literal,
            "with rates": rates,
            "with rates and signs": signs,
            "all mended": all_mended,
            "rates printed as products": apart,
            "minus signs lost": lost,
            "factors d lost": missing,
        },
        reason="letters and signs are damaged, in print or by the scan: th1*d for th1d, th3*d^2 for th3d*d^2, and a "
        "minus is lost in front and in the first term",
        corrected="h₁ = −1/10000 m (−1250 th1d th2d d² cos th2 …), as far as the code goes",
        effect="the printed h₁ cannot be computed with; with its rates restored it has the wrong sign",
        severity="wrong",
    )


def _cyclic(code: sp.Expr, right: sp.Expr, points: Array) -> Line:
    turned = points + np.array([0.8, 0, 0, 0, 0, 0])
    printed_change, right_change = (
        float(np.max(np.abs(_values(x, turned) - _values(x, points)))) for x in (code, right)
    )
    return claim(
        "A.1, angle th1",
        "h₁ contains sin th1 and cos th1",
        "turning the pendulum by 0.8 rad about the vertical changes the h₁ of the code by up to "
        f"{printed_change:.3g}; the corrected one by {right_change:.1g}",
        printed_change < EXACT,
        evidence={"change of the printed h1": printed_change, "change of the corrected h1": right_change},
        reason="φ is cyclic: nothing depends on where the horizontal axes point; the terms come from i₂ taken in the "
        "fixed frame",
        corrected="no component of h contains th1",
        effect="the motion would depend on the compass direction",
        severity="wrong",
    )


def _i33_long(code: sp.Matrix, points: Array) -> Line:
    found = mended(I33, code_i33())
    truth = _values(code[2, 2], points)
    least, full = (float(np.max(np.abs(_read(text, points) - truth))) for text in (found.least, found.full))
    opened, closed = sum(map(I33.count, "([")), sum(map(I33.count, ")]"))
    return claim(
        "A.2, long form",
        "i₃₃ before simplification: 1/4*m*a^2*cos(th1)^2*sin(th2)^2+...+cos(th2)^2*(1/16*m*d^2+3333/10000*m*a^2))"
        "*cos(th2)]",
        f"it cannot be read as it stands: {opened} brackets open and {closed} close, one of them a ] that nothing "
        f"opened, and {counted(found.bare, 'pair')} of factors have no operator between them. With these places alone "
        f"mended it differs from the paper's own code (figure 3) by up to {least:.2g} kg m²; with {found.signs} minus "
        f"signs restored in all by {full:.1g}",
        least < EXACT,
        evidence={
            "brackets that open": opened,
            "brackets that close": closed,
            "factors without an operator": found.bare,
            "brackets to put in or take out": found.brackets,
            "minus signs lost": found.signs,
            "difference, readable": least,
            "difference, all mended": full,
        },
        reason=f"{found.signs} minus signs and {found.brackets} brackets are damaged, in print or by the scan; one of "
        "the signs is that of 1/4 m a² cos th1 sin th2 cos th2, which eq. 10 subtracts",
        corrected="the text that the code gives (and its terms in cos th1 vanish with the correct i₂)",
        effect="the expression cannot be used; the short form below is the one that the code gives",
        severity="wrong",
    )


def _i33(code: sp.Matrix, points: Array) -> Line:
    right = inertia_matrix("body", sp.Rational(1, 12))[2, 2]
    found, truth = _values(code[2, 2], points), _values(right, points)
    constant = float(DATA[MASS] * (DATA[LENGTH] ** 2 / 3 + DATA[DIAMETER] ** 2 / 16))
    spread = float(np.ptp(found))
    return claim(
        "A.2, short form",
        "i₃₃ = −1/10000 m (2500 a² cos th1 sin th2 cos th2 − 5833 a² − 625 d²)",
        f"reproduced from the paper's code, but it varies by {spread:.3g} kg m² over the states; the corrected i₃₃ is "
        f"{truth.mean():.6f} kg m² everywhere "
        f"(m a²/3 + m d²/16 = {constant:.6f}, varies by {np.ptp(truth):.1g})",
        spread < EXACT,
        evidence={
            "variation as printed": spread,
            "corrected": float(truth.mean()),
            "closed form": constant,
            "variation corrected": float(np.ptp(truth)),
        },
        reason="the third angle turns the rod about a fixed axis of the rod, across it: its inertia is a constant. "
        "5833/10000 is 1/4 + 1/3, with the inertia about the end "
        "counted as that about the centre",
        corrected="i₃₃ = m a²/3 + m d²/16",
        effect=f"{found.mean() / constant:.3g} times too large on average",
        severity="wrong",
    )


def _asymmetric(points: Array) -> Line:
    th1, th2, _ = ANGLES
    I = inertia_matrix("code", THIRD)
    gap = _values(I[0, 2] - I[2, 0], points)
    closed = _values(-MASS * LENGTH**2 / 4 * (0 - sp.sin(th2) * sp.cos(th1)), points)
    off = float(np.max(np.abs(np.abs(gap) - np.abs(closed))))
    size = float(np.max(np.abs(gap)))
    return claim(
        "figure 3, code",
        "[1;0;0]*[0 0 1] for i₂ i₂ᵀ",
        f"the inertia matrix is not symmetric: |I₁₃ − I₃₁| is up to {size:.3g} kg m²; it equals (m a²/4) |sin th2 "
        f"cos th1| (largest difference {off:.1g})",
        size < EXACT,
        evidence={"largest difference": size, "difference from the closed form": off},
        reason="i₂ i₂ᵀ is a symmetric matrix; the code has two different vectors",
        corrected="[1;0;0]*[1 0 0] in frame 2, that is Q e₁ e₁ᵀ Qᵀ",
        effect="a kinetic energy that no mass distribution has",
        severity="wrong",
    )


def _counts(code: sp.Matrix, right: sp.Matrix) -> tuple[Table, Line]:
    """Number of terms of h1, multiplied out, through the stages of the paper."""
    rows: list[tuple[str, int | None, int | None, int]] = []
    for name, inertia in (("code of figure 3", code), ("corrected", right)):
        shorter = inertia.applyfunc(shortened)  # stages 1 to 3: Q, I^c and the inertia matrix
        raw, middle = (velocity_terms(x)[0] for x in (inertia, shorter))
        counts = [_multiplied_out(raw), _multiplied_out(middle), _multiplied_out(shortened(middle))]
        rows.append((name, counts[0], counts[1], counts[2]))
    printed = len(sp.Add.make_args(sp.expand(sp.sympify(code_h1().replace("^", "**")))))
    rows.append(("printed in A.1", None, None, printed))
    first, last = int(rows[0][1] or 0), rows[0][3]
    head = ("Derivation", "Before", "Inertia matrix simplified (stages 1-3)", "h simplified (stage 4)")
    line = claim(
        "A.1, number of terms",
        "h₁ has more than 1000 terms before and less than 100 after four stages of simplification",
        f"multiplied out without collecting {first} before, {rows[0][2]} after three and {last} after four stages; "
        f"the appendix prints {printed}; "
        f"the corrected h₁ needs {rows[1][3]}",
        first > 1000 and last < 100,
        evidence={
            "before": first,
            "after four stages": last,
            "printed": printed,
            "corrected": rows[1][3],
        },
        reason="the counts differ",
        corrected=f"{first} and {last}",
        severity="incomplete",
    )
    return Table("Terms of h₁, multiplied out", head, tuple(rows)), line


def _multiplied_out(expression: sp.Expr) -> int:
    """Number of products that appear when all brackets are removed, without collecting equal ones."""
    if expression.is_Add:
        return sum(_multiplied_out(x) for x in expression.args)
    if expression.is_Mul:
        return int(np.prod([_multiplied_out(x) for x in expression.args]))
    if expression.is_Pow and expression.exp.is_Integer and expression.exp > 0:
        return int(_multiplied_out(expression.base) ** int(expression.exp))
    return 1
