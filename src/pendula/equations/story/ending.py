"""Steps that every story ends with: mass matrix, generalized forces by part, constraints, equations of motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pendula.equations.equations import PARTS, Equations
from pendula.equations.matrix import entries
from pendula.equations.printing.form import WORDS
from pendula.equations.shares import Terms
from pendula.equations.story.story import Chapter, Comparison, Formula, Step, column, matrix, scalar
from pendula.equations.story.telling import Telling, escaped, of_joint
from pendula.equations.tape import is_zero

MOST_ENTRIES = 28
"""Largest number of entries of the mass matrix that a story lists one by one; six speeds have 21."""

MOST_ROWS = 8
"""Largest number of rows of generalized forces that a story lists one by one."""

MOST_SPEEDS = 40
"""Largest number of speeds whose equations are shown in full at the end."""

WIDEST = 8
"""Largest number of columns of a matrix that is shown as a whole."""

SYMBOLS = {
    "inertia": r"@f^{\mathrm{inertia}}",
    "gravity": r"@f^{\mathrm{gravity}}",
    "springs": r"@f^{\mathrm{spring}}",
    "dissipation": r"@f^{\mathrm{damping}}",
    "applied": r"@f^{\mathrm{applied}}",
}


def mass_step(
    telling: Telling, terms: Sequence[Sequence[Terms]], words: str, law: tuple[str, ...], by: str = "body"
) -> Step:
    """The entries of the mass matrix on and below the diagonal, each with the bodies (or joints) it comes from."""
    formulas: list[Formula] = []
    left = 0
    n = len(telling.m.v)
    for k in range(n):
        for j in range(k + 1):
            if is_zero(telling.eq.M[k][j]):
                continue
            if len(formulas) == MOST_ENTRIES:
                left += 1
                continue
            formulas.append(
                telling.total(
                    rf"@M_{{{k + 1}{j + 1}}}" if n < 10 else rf"@M_{{{k + 1},{j + 1}}}",
                    terms[k][j],
                    compared=Comparison("the mass matrix by another formulation", ("mass entry", k, j)),
                )
            )
    more = (f"{left} further entries follow the same pattern; the final equations contain them all.",) if left else ()
    return Step(f"Mass matrix, {by} by {by}", (words, *more), law, tuple(formulas))


def force_steps(
    telling: Telling,
    rows: Mapping[str, Sequence[Terms]],
    laws: Mapping[str, tuple[str, ...]],
    words: Mapping[str, str],
) -> list[Step]:
    """Generalized forces, one step for each part that is not zero, each row with its sources."""
    steps = []
    for part in PARTS:
        formulas = []
        for k in range(len(telling.m.v)):
            if not is_zero(telling.eq.parts.free[part][k]):
                formulas.append(
                    telling.total(
                        rf"{SYMBOLS[part]}_{{{k + 1}}}",
                        rows[part][k],
                        rf"equation of ${telling.rate(k)}$",
                        compared=Comparison("the same part by another formulation", ("part", part, k)),
                    )
                )
        if formulas:
            left = len(formulas) - MOST_ROWS
            more = (f"{left} further rows follow the same pattern.",) if left > 0 else ()
            title = f"{WORDS[part][0].upper()}{WORDS[part][1:]}"
            if not telling.m.drives:
                title = title.partition(" (")[0]
            steps.append(Step(title, (words[part], *more), laws[part], tuple(formulas[:MOST_ROWS])))
    return steps


# -- constraints ------------------------------------------------------------------------------------


def constraints_chapter(telling: Telling, words: tuple[str, ...]) -> Chapter | None:
    """The closing joints: constraints, their Jacobian and the right-hand side of their second derivative."""
    eq = telling.eq
    first = eq.nodes[-1].rows[1] if eq.nodes else 0
    if first == eq.loop_rows:
        return None
    steps = []
    for joint in telling.m.model.closures:
        rows = [r for r in range(first, eq.loop_rows) if eq.constraint_names[r].partition(": ")[0] == joint.name]
        if rows:
            steps.append(row_step(telling, joint.name, rows, "closes the loop"))
    if not telling.m.drives:
        words = tuple(text.replace(" (minus $@b$ if motions are prescribed)", "") for text in words)
    return Chapter("Closed loops", words, tuple(steps))


def row_step(telling: Telling, joint: str, rows: Sequence[int], does: str, folded: bool = False) -> Step:
    """Constraint rows of one joint: gaps, their rows of G and of c."""
    eq = telling.eq
    source = of_joint(joint)
    formulas = []
    for r in rows:
        what = eq.constraint_names[r].partition(": ")[2]
        formulas.append(
            Formula(
                f"@g_{{{r + 1}}}",
                scalar(eq.g[r]),
                escaped(what),
                source,
                compared=Comparison("zero, at random closed states", ("gap", r)),
            )
        )
        row = [(j, x) for i, j, x in entries(eq.G) if i == r]
        if len(eq.v) <= WIDEST:
            formulas.append(
                Formula(
                    f"@G_{{{r + 1}}}",
                    matrix([eq.G[r]]),
                    "its row of the Jacobian",
                    source,
                    compared=Comparison(
                        "the rate of the constraint: $@G @v = @b$ at random states that satisfy it", ("row rate", r)
                    ),
                )
            )
        else:
            formulas += [
                Formula(f"@G_{{{r + 1},{j + 1}}}", scalar(x), f"factor of ${telling.name(eq.v[j])}$", source)
                for j, x in row
            ]
        if not is_zero(eq.b[r]):
            formulas.append(Formula(f"@b_{{{r + 1}}}", scalar(eq.b[r]), "due to prescribed motions", source))
        formulas.append(
            Formula(
                f"@c_{{{r + 1}}}",
                scalar(eq.c[r]),
                "minus its second derivative at constant speeds",
                source,
                compared=Comparison(
                    "$@G \\dot @v$ with the accelerations by another formulation", ("row acceleration", r)
                ),
            )
        )
    words = (f"Joint {escaped(joint)} {does}.",)
    return Step(f"Joint {escaped(joint)}", words, (), tuple(formulas), folded=folded)


# -- equations of motion ----------------------------------------------------------------------------


def final_chapter(telling: Telling) -> Chapter:
    """M, f, G and c as compiled, and the comparison of the accelerations."""
    eq = telling.eq
    n, loops = len(eq.v), bool(eq.loop_rows)
    law = [r"@M \dot @v = @f + @G^T @lam, \qquad @G \dot @v = @c" if loops else r"@M \dot @v = @f"]
    speeds = r" & ".join(telling.name(v) for v in eq.v[:WIDEST]) + (r" & \cdots" if n > WIDEST else "")
    law.append(rf"@v^T = \begin{{bmatrix}} {speeds} \end{{bmatrix}}")
    formulas = _first_rows(eq) if n > MOST_SPEEDS else _blocks(eq)
    words = ["Collecting the terms with accelerations on the left gives the equations of motion."]
    if n > MOST_SPEEDS:
        words.append(
            f"They have {n} rows, too many for a page. The first {WIDEST} rows and columns are shown; print_equations "
            "writes all of them."
        )
    if loops:
        words.append(
            "The multipliers $@lam$ are the constraint forces. They are unknowns, like the accelerations; each "
            "constraint adds one unknown and one equation."
        )
    if eq.formulation == "maximal":
        words.append("The joint coordinates are read from the coordinates of the bodies afterwards.")
    compared = Comparison("the accelerations by another formulation", ("accelerations",))
    step = Step("Equations of motion", tuple(words), tuple(law), tuple(formulas), compared=compared)
    return Chapter("The equations of motion", (), (step,))


def _blocks(eq: Equations) -> list[Formula]:
    """M, f, G and c."""
    formulas = [
        Formula("@M", matrix(eq.M), "mass matrix", key="M", compared=_compared(eq, "mass matrix", "M")),
        Formula(
            "@f",
            column(eq.f),
            "generalized forces: the sum of all parts",
            key="f",
            compared=_compared(eq, "generalized forces", "f"),
        ),
    ]
    if eq.loop_rows:
        formulas.append(Formula("@G", matrix(eq.G), "constraint Jacobian", key="G"))
        formulas.append(Formula("@c", column(eq.c), "right-hand side of the constraints", key="c"))
    return formulas


def _first_rows(eq: Equations) -> list[Formula]:
    """The beginning of M and f."""
    rows = [eq.M[i][:WIDEST] for i in range(WIDEST)]
    return [
        Formula("@M", matrix(rows), "mass matrix, its first rows and columns"),
        Formula("@f", column(eq.f[:WIDEST]), "generalized forces, the first rows"),
    ]


def _compared(eq: Equations, what: str, key: str) -> Comparison | None:
    if eq.nodes:  # other coordinates than those of all other formulations
        return None
    return Comparison(f"the {what} by another formulation", (key,))
