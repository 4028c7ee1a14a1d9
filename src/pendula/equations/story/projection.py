"""The story of the projection method: free bodies, the complement L_tau of the joint constraints, and the multipliers.

Symbols follow Tataru: L, A, L_tau, Omega, lambda; see ``formulations/projection.py`` for corrections to the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

from pendula.equations import vectors as vec
from pendula.equations.equations import PARTS
from pendula.equations.formulations.projection import ProjectionDerivation
from pendula.equations.free_bodies import Columns, FreeBody
from pendula.equations.story.ending import WIDEST, force_steps, mass_step
from pendula.equations.story.free_body import body_picture
from pendula.equations.story.newton_euler import reactions_chapter
from pendula.equations.story.story import Chapter, Comparison, Entries, Formula, Step, column, matrix
from pendula.equations.story.telling import Telling, escaped, heading, listed, of_body, place, upright
from pendula.equations.tape import Expr, is_zero

LEAD = (
    "The projection method writes the equations of every body as if it were free, with unknown forces in the joints. "
    "The velocities that the joints allow form a matrix $L_\\tau$. Forces in joints do no work on such velocities, so "
    "multiplying all equations by $L_\\tau^T$ removes them and leaves the equations of motion.",
)

LOOPS = (
    "Closing joints are conditions on the velocities of the free bodies, too: $@G_{\\mathrm{free}} V = @b$. With $V = "
    "L_\\tau @v$ they become rows for the speeds, $@G = @G_{\\mathrm{free}} L_\\tau$, and $@c = -(@G_{\\mathrm{free}} "
    "\\dot L_\\tau @v + \\dot @G_{\\mathrm{free}} V)$.",
)


def chapters(telling: Telling, d: ProjectionDerivation) -> list[Chapter]:
    """Chapters between the positions and the final equations."""
    told = _Projection(telling, d)
    return [told.free_bodies(), told.joints(), told.complement(), told.projected()]


def reactions(telling: Telling, d: ProjectionDerivation) -> list[Chapter]:
    """The chapter about multipliers and forces in joints."""
    return [_Projection(telling, d).multipliers()]


def blocks(a: vec.Matrix, b: vec.Matrix, c: vec.Matrix, d: vec.Matrix) -> list[list[Expr]]:
    """A 6 x 6 matrix from four blocks."""
    top = [[*left, *right] for left, right in zip(a, b, strict=True)]
    return top + [[*left, *right] for left, right in zip(c, d, strict=True)]


_ZERO: vec.Matrix = (vec.NULL,) * 3


class _Projection:
    def __init__(self, telling: Telling, derivation: ProjectionDerivation) -> None:
        self.t, self.d, self.m = telling, derivation, telling.m
        # in the plane only v_x, v_y and omega_z matter
        self.kept: Sequence[int] = (0, 1, 5) if telling.planar else range(6)
        self.n = len(telling.m.v)

    def _cut(self, rows: Sequence[Sequence[Expr]], *, columns: bool = True) -> list[list[Expr]]:
        """The rows (and columns) that matter."""
        return [[rows[i][j] for j in self.kept] if columns else list(rows[i]) for i in self.kept]

    def _stacked(self, linear: Columns, angular: Columns, rates: Sequence[int]) -> list[list[Expr]]:
        """Columns of six rows for some rates."""
        rows = [[linear.get(k, vec.NULL)[i] for k in rates] for i in range(3)]
        rows += [[angular.get(k, vec.NULL)[i] for k in rates] for i in range(3)]
        return self._cut(rows, columns=False)

    # -- free bodies ----------------------------------------------------------------------------

    def free_bodies(self) -> Chapter:
        """M_i, Omega_i and Q_i of every body."""
        steps = [self._free_body(k) for k in self.t.told]
        three = " In the plane only $v_x$, $v_y$ and $\\omega_z$ differ from zero, so three rows are shown."
        words = (
            "The reference point O of a body is its point in the joint that connects it to its parent. The velocity "
            "of O and the angular velocity together are $V_i = (\\boldsymbol{v}_O, \\boldsymbol{\\omega})$."
            + (three if self.t.planar else ""),
            "Here $S = m\\, \\overrightarrow{OC}$ is the static moment, $J$ the inertia about O, and "
            "$[\\boldsymbol{a}]$ the matrix of the vector product, $[\\boldsymbol{a}]\\, \\boldsymbol{b} = "
            "\\boldsymbol{a} \\times \\boldsymbol{b}$. "
            + (
                "Components are in world axes, which do not rotate; the terms of $\\Omega_i$ that multiply "
                "$\\boldsymbol{v}_O$ vanish in them."
                if self.t.planar
                else "Components are in body axes; for bodies that rotate about z only they are in world axes, and the "
                "columns of $J$ that such rotations do not need are left out."
            ),
            *self.t.rest,
        )
        first = r"m\,[\boldsymbol{\omega}]" if not self.t.planar else "0"
        second = r"[S][\boldsymbol{\omega}]" if not self.t.planar else "0"
        law = (
            r"M_i \dot V_i + \Omega_i V_i = Q_i + R_i",
            r"M_i = \begin{bmatrix} m\,1 & -[S] \\ [S] & J \end{bmatrix}",
            r"\Omega_i = \begin{bmatrix} "
            rf"{first} & -[\boldsymbol{{\omega}}][S] \\ {second} & [\boldsymbol{{\omega}}] J \end{{bmatrix}}",
        )
        intro = Step("The equations of a free body", words, law)
        return Chapter("Free bodies", (), (intro, *steps))

    def _free_body(self, k: int) -> Step:
        body, link = self.d.bodies[k], self.m.links[k]
        index, source = upright(link.body), of_body(link.body)
        formulas = [
            Formula(
                f"M_{{{index}}}",
                matrix(self._cut(self._mass(body))),
                "mass matrix of the free body",
                source,
                compared=Comparison("mass, static moment and inertia as numbers", ("free mass", link.body)),
            ),
            Formula(
                rf"\Omega_{{{index}}}",
                matrix(self._cut(self._omega(body))),
                "matrix of the terms quadratic in the velocity",
                source,
                compared=Comparison(
                    "the rate of momentum by another formulation, which $M_i \\dot V_i + \\Omega_i V_i$ must equal",
                    ("free body", link.body, f"M_{{{index}}}"),
                ),
            ),
        ]
        for part in PARTS[1:]:
            wrench = self.d.wrenches[part].get(k)
            if wrench is not None:
                entries = column([(*wrench.force, *wrench.moment)[i] for i in self.kept])
                compared = None
                if part == "gravity":
                    compared = Comparison("weight and its moment as numbers", ("weight wrench", link.body))
                formulas.append(
                    Formula(
                        rf"Q^{{{upright(part)}}}_{{{index}}}", entries, f"forces and moments: {part}", source,
                        compared=compared,
                    )
                )  # fmt: skip
        return Step(
            heading(link.body),
            (),
            (),
            tuple(formulas),
            body_picture(self.t, self.d.loads, k),
            self.t.folded(k),
        )

    def _mass(self, body: FreeBody) -> list[list[Expr]]:
        unit = [[body.mass if i == j else 0 for j in range(3)] for i in range(3)]
        S = vec.skew(body.S)
        return blocks(unit, [[-x for x in row] for row in S], S, body.J)

    def _omega(self, body: FreeBody) -> list[list[Expr]]:
        w, S = vec.skew(body.w), vec.skew(body.S)
        sweep = [[-x for x in row] for row in vec.product(w, S)]
        if body.flat:
            return blocks(_ZERO, sweep, _ZERO, vec.product(w, body.J))
        turned = [vec.scale(body.mass, row) for row in w]
        return blocks(turned, sweep, vec.product(S, w), vec.product(w, body.J))

    # -- joints ---------------------------------------------------------------------------------

    def joints(self) -> Chapter:
        """L and A: the velocities of neighbouring bodies in a joint."""
        steps = [self._joint(k) for k in self.t.told]
        if len(self.m.links) * len(self.kept) <= WIDEST + 1:
            steps.append(self._whole())
        words = (
            "A joint relates the velocity of a body to that of its parent $p$ and to the motion in the joint itself. "
            "The relation is linear in the velocities and in the speeds $@v$. In it, $T$ is the rotation from the "
            "body's axes to those of the parent, and $\\boldsymbol{d}$ the vector from the parent's reference point "
            "to the body's.",
            "All such conditions together are $L V = A @v$. The matrix $L$ has ones on its diagonal, and below it a "
            "block $-X_i$ for each body that hangs on another one."
            + (" Here all axes are parallel, so $T = 1$." if self.t.planar else ""),
            *self.t.rest,
        )
        law = (
            r"V_i - X_i V_p = A_i @v",
            r"X_i = \begin{bmatrix} T^T & -T^T [\boldsymbol{d}] \\ 0 & T^T "
            r"\end{bmatrix}",
        )
        return Chapter("Conditions of the joints: L and A", words, (Step("", (), law), *steps))

    def _own(self, k: int) -> Entries:
        """A_i: the joint's own motion per unit of each free speed."""
        motion = self.d.joint_motions[k]
        back = vec.transposed(motion.turn)
        slides = {j: vec.times(back, x) for j, x in motion.slides.items()}
        return matrix(self._stacked(slides, motion.spins, range(self.n)))

    def _carry(self, k: int) -> Entries:
        """X_i: the velocity that the parent passes on."""
        motion = self.d.joint_motions[k]
        back = vec.transposed(motion.turn)
        arm = [[-x for x in row] for row in vec.product(back, vec.skew(motion.arm))]
        return matrix(self._cut(blocks(back, arm, _ZERO, back)))

    def _joint(self, k: int) -> Step:
        link = self.m.links[k]
        index, source = upright(link.body), of_body(link.body)
        formulas = []
        words = f"{heading(link.body)} hangs on the ground, so no velocity is passed on to it."
        if link.parent >= 0:
            parent = self.m.links[link.parent].body
            words = f"{heading(link.body)} hangs on {place(parent)}."
            formulas.append(Formula(f"X_{{{index}}}", self._carry(k), "passes on the parent's velocity", source))
        speeds = listed([f"${self.t.rate(j)}$" for j in range(self.n)])
        formulas.append(Formula(f"A_{{{index}}}", self._own(k), f"motion in the joint; columns for {speeds}", source))
        return Step(f"Joint {escaped(link.joint.name)}", (words,), (), tuple(formulas), folded=self.t.folded(k))

    def _whole(self) -> Step:
        """L and A of the whole mechanism, and the rows of L that allow no motion."""
        size, count = len(self.kept), len(self.m.links)
        L: list[list[Expr]] = [[1 if i == j else 0 for j in range(size * count)] for i in range(size * count)]
        A: list[list[Expr]] = []
        for k, link in enumerate(self.m.links):
            A += [list(row) for row in self._own(k)]
            if link.parent >= 0:
                for i, row in enumerate(self._carry(k)):
                    for j, x in enumerate(row):
                        L[size * k + i][size * link.parent + j] = 0 if is_zero(x) else -x
        formulas = [
            Formula("L", matrix(L), "conditions of all joints"),
            Formula("A", matrix(A), "motion in all joints"),
        ]
        still = [all(is_zero(x) for x in row) for row in A]
        held = [L[i] for i, zero in enumerate(still) if zero]
        # each joint moves along as many rows as it has speeds, so no combination of moving rows is held
        plain = all(
            size - sum(still[size * k : size * (k + 1)]) == len(link.joint.speeds())
            for k, link in enumerate(self.m.links)
        )
        words = "All joints together."
        if held and plain and not self.m.drives:
            words += " The rows in which $A$ is zero allow no motion. They form $L_\\lambda$, with $L_\\lambda V = 0$."
            formulas.append(
                Formula(
                    r"L_\lambda",
                    matrix(held),
                    "rows that allow no motion",
                    compared=Comparison("the velocities $V$ at random states: $L_\\lambda V = 0$", ("held rows",)),
                )
            )
        return Step("The whole mechanism", (words,), (), tuple(formulas))

    # -- complement -----------------------------------------------------------------------------

    def complement(self) -> Chapter:
        """L_tau and its rate, body by body."""
        steps = []
        for k in self.t.told:
            body, link = self.d.bodies[k], self.m.links[k]
            index, source = upright(link.body), of_body(link.body)
            rates = range(self.n)
            formulas = [
                Formula(
                    rf"L_{{\tau,{index}}}",
                    matrix(self._stacked(body.V, body.W, rates)),
                    "its rows of $L_\\tau$",
                    source,
                    compared=Comparison(
                        "the difference of the velocities at two speeds, exact because they are linear",
                        ("complement", link.body),
                    ),
                ),
                Formula(
                    f"V_{{{index}}}",
                    column([(*body.v, *body.w)[i] for i in self.kept]),
                    "its velocities, $L_\\tau @v$" + (" and the prescribed part" if self.m.drives else ""),
                    source,
                    compared=Comparison("the time derivative of the position", ("velocities at O", link.body)),
                ),
                Formula(
                    rf"\dot L_{{\tau,{index}}}\, @v",
                    column([(*body.dv, *body.dw)[i] for i in self.kept]),
                    "what remains of $\\dot V$ at constant speeds",
                    source,
                    compared=Comparison(
                        "the second derivative of the position at constant speeds", ("rates at O", link.body)
                    ),
                ),
            ]
            steps.append(Step(heading(link.body), (), (), tuple(formulas), folded=self.t.folded(k)))
        words = (
            "Solving $L V = A @v$ for the velocities gives $V = L_\\tau @v$. Because $L$ has ones on its diagonal, no "
            "matrix is inverted: the columns of $L_\\tau$ follow from body to body, $V_i = X_i V_p + A_i @v$.",
            *self.t.rest,
        )
        law = (r"V = L_\tau @v, \qquad L_\tau = L^{-1} A", r"\dot V = L_\tau \dot @v + \dot L_\tau @v")
        return Chapter("Velocities that the joints allow", words, (Step("", (), law), *steps))

    # -- projection -----------------------------------------------------------------------------

    def projected(self) -> Chapter:
        """The mass matrix and the generalized forces."""
        laws = {part: (r"\sum_i L_{\tau,i}^T\, Q_i",) for part in PARTS}
        laws["inertia"] = (r"-\sum_i L_{\tau,i}^T \left( \Omega_i V_i + M_i \dot L_{\tau,i}\, @v \right)",)
        words = {
            "inertia": "They consist of the terms of each body that are quadratic in its velocity, and of its "
            "acceleration at constant speeds.",
            "gravity": "The weights of the free bodies are projected in the same way.",
            "springs": "Springs pull on the free bodies; springs inside a joint act directly on its speeds.",
            "dissipation": "Friction and dampers, likewise.",
            "applied": "Applied forces and torques, likewise.",
        }
        mass = mass_step(
            self.t,
            self.d.mass_terms,
            "Inserting $\\dot V$ and multiplying by $L_\\tau^T$ gives the mass matrix, a sum over the bodies.",
            (r"@M = \sum_i L_{\tau,i}^T\, M_i\, L_{\tau,i}",),
        )
        intro = (
            "The forces in the joints are $R = L_\\lambda^T @lam$. On velocities that the joints allow they do "
            "no work, $L_\\tau^T L_\\lambda^T = 0$, so that they drop out when the equations of all free bodies are "
            "multiplied by $L_\\tau^T$.",
        )
        return Chapter("Projection", intro, (mass, *force_steps(self.t, self.d.forces, laws, words)))

    def multipliers(self) -> Chapter:
        """Multipliers and forces in the joints."""
        words = (
            "With the accelerations known, the equations of the free bodies give the multipliers and the forces in "
            "the joints. For a tree of bodies this needs no inverse either: from the tips to the ground, each joint "
            "supplies what its body needs, $M_i \\dot V_i + \\Omega_i V_i - Q_i$, plus what the bodies beyond it "
            "pass on.",
        )
        chapter = reactions_chapter(self.t, words)
        law = (
            r"@lam = \left( L_\lambda L_\lambda^T \right)^{-1} L_\lambda B, \qquad R = L_\lambda^T @lam",
            r"B_i = M_i \dot V_i + \Omega_i V_i - Q_i",
        )
        compared = Comparison(
            "$@lam$ by this formula with numbers, against the forces in the joints by Newton-Euler",
            ("multipliers",),
        )
        first = Step("Multipliers", (), law, compared=compared)
        return Chapter("Multipliers and forces in the joints", chapter.words, (first, *chapter.steps))
