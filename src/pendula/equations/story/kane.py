"""The story of Kane's equations: partial velocities, accelerations, inertia forces and active forces."""

from __future__ import annotations

from collections.abc import Mapping

from pendula.equations import vectors as vec
from pendula.equations.formulations.kane import KaneDerivation
from pendula.equations.story.ending import force_steps, mass_step
from pendula.equations.story.story import Chapter, Comparison, Entries, Formula, Step, matrix
from pendula.equations.story.telling import Telling, heading, listed, of_body, upright
from pendula.equations.tape import is_zero

LEAD = (
    "Kane's method differentiates no energies. Velocities are linear in the speeds; their coefficients, the partial "
    "velocities, say how fast each body moves per unit of each speed. The forces on every body and its inertia forces "
    "are projected on them, and forces in ideal joints drop out because they do no work.",
)

LOOPS = (
    "A closing joint keeps distances $@g$ between two bodies at zero. Their rates are relative velocities of the two "
    "bodies, so the rows of the Jacobian $@G$ consist of partial velocities; $-@c$ is the relative acceleration that "
    "remains at constant speeds.",
)


def chapters(telling: Telling, d: KaneDerivation) -> list[Chapter]:
    """Chapters between the positions and the final equations."""
    return [_velocities(telling, d), _accelerations(telling, d), _equations(telling, d)]


def reactions(telling: Telling, d: KaneDerivation) -> list[Chapter]:
    """No chapter: forces in ideal joints never appear."""
    return []


def _velocities(telling: Telling, d: KaneDerivation) -> Chapter:
    steps = []
    for k in telling.told:
        link, body, center = telling.m.links[k], d.bodies[k], d.centers[k]
        index, source = upright(link.body), of_body(link.body)
        plane = telling.planar
        formulas = [
            telling.angular_velocity(k, body.w, "angular velocity", "world"),
            telling.center_velocity(k, center.v, "velocity of the mass centre", "world", plane=plane),
        ]
        for letter, name, columns, key in (
            ("W", "partial angular velocities", body.W, "partial spins"),
            ("V", "partial velocities of the mass centre", center.V, "partial velocities"),
        ):
            rates = sorted(i for i, x in columns.items() if not vec.all_zero(x))
            if rates:
                formulas.append(
                    Formula(
                        rf"\boldsymbol{{{letter}}}_{{{index}}}",
                        _columns(columns, rates, plane, letter),
                        f"{name}, a column each for {listed([f'${telling.rate(i)}$' for i in rates])}",
                        source,
                        compared=Comparison(
                            "the difference of the velocities at two speeds, exact because they are linear",
                            (key, link.body, tuple(rates), plane),
                        ),
                    )
                )
        steps.append(Step(heading(link.body), formulas=tuple(formulas), folded=telling.folded(k)))
    words = (
        "Velocities follow from body to body. A turn by an angle adds its rate to the angular velocity "
        "$\\boldsymbol{\\omega}$; a point at a distance $\\boldsymbol{d}$ from the origin moves by "
        "$\\boldsymbol{\\omega} \\times \\boldsymbol{d}$ faster than the origin. All components are in world axes.",
        "The coefficient of $@v_k$ in $\\boldsymbol{v}_C$ is the partial velocity $\\boldsymbol{V}_k$, that in "
        "$\\boldsymbol{\\omega}$ the partial angular velocity $\\boldsymbol{W}_k$. They are found along with the "
        "velocities, without differentiating them.",
        *telling.rest,
    )
    law = (
        r"\boldsymbol{v}_C = \sum_k \boldsymbol{V}_k\, @v_k, \qquad \boldsymbol{\omega} = \sum_k \boldsymbol{W}_k\, "
        r"@v_k",
    )
    first = Step("Partial velocities", words[1:], law)
    return Chapter("Velocities and partial velocities", words[:1], (first, *steps))


def _columns(columns: Mapping[int, vec.Vector], rates: list[int], plane: bool, letter: str) -> Entries:
    """Columns side by side; in the plane only the components that matter."""
    rows = range(3) if not plane else range(2, 3) if letter == "W" else range(2)
    return matrix([[columns[i][r] for i in rates] for r in rows])


def _accelerations(telling: Telling, d: KaneDerivation) -> Chapter:
    steps = []
    for k in telling.told:
        link, body, center = telling.m.links[k], d.bodies[k], d.centers[k]
        index, source, plane = upright(link.body), of_body(link.body), telling.planar
        formulas = []
        exact = "the second time derivative of the position at constant speeds"
        if not vec.all_zero(body.alpha):
            formulas.append(
                telling.spin(
                    rf"\boldsymbol{{\alpha}}^0_{{{index}}}",
                    body.alpha,
                    "angular acceleration at constant speeds",
                    source=source,
                    compared=Comparison(exact.replace("position", "orientation"), ("alpha0", link.body)),
                )
            )
        formulas.append(
            telling.vector(
                rf"\boldsymbol{{a}}^0_{{C,{index}}}",
                center.a,
                "acceleration of the mass centre at constant speeds",
                plane=plane,
                source=source,
                compared=Comparison(exact, ("a0", link.body)),
            )
        )
        if not telling.flat(k) and any(not is_zero(x) for row in d.inertias[k] for x in row):
            formulas.append(
                Formula(
                    rf"I^{{\mathrm{{world}}}}_{{{index}}}",
                    matrix(d.inertias[k]),
                    "inertia about the mass centre in world axes, $R I R^T$",
                    source,
                    compared=Comparison("the same product of matrices of numbers", ("world inertia", link.body)),
                )
            )
        if not vec.all_zero(d.twists[k]):
            formulas.append(
                telling.vector(
                    rf"\boldsymbol{{\tau}}^0_{{{index}}}",
                    d.twists[k],
                    "rate of angular momentum at constant speeds, $I \\boldsymbol{\\alpha}^0 + \\boldsymbol{\\omega} "
                    "\\times I \\boldsymbol{\\omega}$",
                    source=source,
                    compared=Comparison("the same from numbers alone", ("twist0", link.body)),
                )
            )
        steps.append(Step(heading(link.body), formulas=tuple(formulas), folded=telling.folded(k)))
    words = (
        "An acceleration consists of a part linear in $\\dot @v$, with the partial velocities as coefficients, and a "
        "part that remains at constant speeds. The latter is found from body to body: centripetal acceleration "
        "$\\boldsymbol{\\omega} \\times (\\boldsymbol{\\omega} \\times \\boldsymbol{d})$, Coriolis acceleration "
        "$2\\, \\boldsymbol{\\omega} \\times \\boldsymbol{v}_{\\mathrm{rel}}$, and prescribed accelerations.",
        *telling.rest,
    )
    law = (r"\boldsymbol{a}_C = \sum_k \boldsymbol{V}_k\, \dot @v_k + \boldsymbol{a}^0_C",)
    return Chapter("Accelerations at constant speeds", words, (Step("", (), law), *steps))


def _equations(telling: Telling, d: KaneDerivation) -> Chapter:
    laws = {
        "inertia": (
            r"-\sum_{\mathrm{bodies}} \left( m\, \boldsymbol{V}_k \cdot \boldsymbol{a}^0_C + \boldsymbol{W}_k \cdot "
            r"\boldsymbol{\tau}^0 \right)",
        ),
        "gravity": (r"\sum_{\mathrm{bodies}} \boldsymbol{V}_k \cdot m\, \boldsymbol{g}",),
        "springs": (r"\sum \boldsymbol{V}_k \cdot \boldsymbol{F}_{\mathrm{spring}}",),
        "dissipation": (r"\sum \boldsymbol{V}_k \cdot \boldsymbol{F} + \boldsymbol{W}_k \cdot \boldsymbol{T}",),
        "applied": (r"\sum \boldsymbol{V}_k \cdot \boldsymbol{F} + \boldsymbol{W}_k \cdot \boldsymbol{T}",),
    }
    words = {
        "inertia": "Inertia forces at constant speeds: centrifugal and Coriolis terms, projected on each speed.",
        "gravity": "Weight acts at every mass centre.",
        "springs": "A spring pulls at its two points with opposite forces; in a joint it acts on the relative motion.",
        "dissipation": "Friction and dampers act like springs, against the relative motion.",
        "applied": "Applied forces act at their points, torques on their bodies.",
    }
    mass = mass_step(
        telling,
        d.mass_terms,
        "The inertia forces of the accelerations $\\dot @v_j$, projected on the partial velocities of speed $k$, give "
        "the entries of the mass matrix.",
        (
            r"@M_{kj} = \sum_{\mathrm{bodies}} \left( m\, \boldsymbol{V}_k \cdot \boldsymbol{V}_j + \boldsymbol{W}_k "
            r"\cdot I\, \boldsymbol{W}_j \right)",
        ),
    )
    intro = (
        "For every speed, active forces and inertia forces balance: each force times the partial velocity of its "
        "point, each torque times the partial angular velocity of its body, summed over the mechanism, gives zero.",
    )
    return Chapter("Projection on the partial velocities", intro, (mass, *force_steps(telling, d.forces, laws, words)))
