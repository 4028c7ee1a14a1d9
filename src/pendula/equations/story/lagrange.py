"""The story of Lagrange's equations: velocities, energies, momenta, and their derivatives."""

from __future__ import annotations

from pendula.equations import vectors as vec
from pendula.equations.formulations.lagrange import LagrangeDerivation
from pendula.equations.shares import Source
from pendula.equations.story.ending import MOST_ROWS, force_steps, mass_step
from pendula.equations.story.free_body import load_index
from pendula.equations.story.story import Chapter, Comparison, Formula, Step, Term, scalar
from pendula.equations.story.telling import Telling, heading, of_body, upright
from pendula.equations.tape import is_zero

LEAD = (
    "Lagrange's method needs no forces in the joints. It starts from the kinetic energy $T$ and the potential energy "
    "$V$ of the whole mechanism; the equations of motion follow by differentiation.",
)

LOOPS = (
    "A closing joint keeps the distances $@g$ between points of two bodies at zero. Differentiating them along the "
    "motion of each speed gives the rows of the Jacobian $@G$: $\\dot @g = @G @v$ (minus $@b$ if motions are "
    "prescribed). The second derivative contains the accelerations. It must vanish too, so $@G \\dot @v = @c$, where "
    "$-@c$ is the part of it that remains at constant speeds.",
    "The constraint forces enter Lagrange's equations as $@G^T @lam$, with one multiplier for each constraint.",
)


def chapters(telling: Telling, d: LagrangeDerivation) -> list[Chapter]:
    """Chapters between the positions and the final equations."""
    return [_velocities(telling, d), _energies(telling, d), _momenta(telling, d), _forces(telling, d)]


def reactions(telling: Telling, d: LagrangeDerivation) -> list[Chapter]:
    """No chapter: forces in ideal joints never appear."""
    return []


def _velocities(telling: Telling, d: LagrangeDerivation) -> Chapter:
    steps = []
    for k in telling.told:
        link, here = telling.m.links[k], d.velocities[k]
        plane = here.flat and telling.planar
        where = "world" if here.flat else "body"
        formulas = [
            telling.angular_velocity(
                k, here.w, "angular velocity" if plane else f"angular velocity in {where} axes", where
            ),
            telling.center_velocity(
                k, d.centers[k], f"velocity of the mass centre in {where} axes", where, plane=plane
            ),
        ]
        steps.append(Step(heading(link.body), formulas=tuple(formulas), folded=telling.folded(k)))
    words = (
        "Velocities follow from body to body, like positions. A turn by an angle adds its rate to the angular velocity "
        "$\\boldsymbol{\\omega}$; a point at a distance $\\boldsymbol{d}$ from the origin moves by "
        "$\\boldsymbol{\\omega} \\times \\boldsymbol{d}$ faster than the origin.",
        "Components are in world axes for bodies that rotate about z only, and in body axes otherwise, where inertia "
        "is constant."
        if not telling.planar
        else "All components are in world axes.",
        *telling.rest,
    )
    return Chapter("Velocities", words, tuple(steps))


def _energies(telling: Telling, d: LagrangeDerivation) -> Chapter:
    kinetic, potential = [], []
    for k in telling.told:
        link = telling.m.links[k]
        index, body = upright(link.body), of_body(link.body)
        kinetic.append(
            Formula(
                rf"T_{{{index}}}",
                scalar(d.kinetic[k]),
                "kinetic energy",
                body,
                compared=Comparison("half of mass times squared velocity, with numbers alone", ("kinetic", link.body)),
            )
        )
        potential.append(Formula(rf"V_{{{index}}}", scalar(d.weights[k]), "potential energy of its weight", body))
    spring_terms = [Term(Source("force", str(number)), V) for number, V in d.spring_energies]
    for number, V in d.spring_energies:
        name = load_index(telling, number)
        potential.append(Formula(rf"V_{{{name}}}", scalar(V), "potential energy", Source("force", str(number))))
    other = "the kinetic energy by another formulation"
    steps = [
        Step(
            "Kinetic energy",
            (
                "Each body contributes the energy of its mass centre's motion and of its rotation.",
                *telling.rest,
            ),
            (
                r"T_i = \tfrac{1}{2} m_i\, \boldsymbol{v}_{C,i} \cdot \boldsymbol{v}_{C,i} + \tfrac{1}{2}\, "
                r"\boldsymbol{\omega}_i \cdot I_i\, \boldsymbol{\omega}_i",
            ),
            (
                *kinetic,
                Formula(
                    "T",
                    scalar(telling.eq.kinetic),
                    "total kinetic energy",
                    terms=tuple(Term(of_body(link.body), T) for link, T in zip(telling.m.links, d.kinetic, strict=True))
                    if len(telling.m.links) <= len(telling.told)
                    else (),
                    compared=Comparison(other, ("total kinetic",)),
                ),
            ),
        ),
        Step(
            "Potential energy",
            (
                "The potential energy of a weight is $-m\\,\\boldsymbol{g} \\cdot \\boldsymbol{r}_C$, that of a spring "
                "is the energy stored in it.",
            ),
            (),
            (
                *(f for f in potential if not is_zero(f.entries[0][0])),
                Formula(
                    "V",
                    scalar(telling.eq.potential),
                    "total potential energy",
                    terms=tuple(
                        [Term(of_body(k.body), V) for k, V in zip(telling.m.links, d.weights, strict=True)]
                        + spring_terms
                    )
                    if len(telling.m.links) <= len(telling.told)
                    else (),
                    compared=Comparison("the potential energy by another formulation", ("total potential",)),
                ),
            ),
        ),
    ]
    return Chapter("Energies", (), tuple(steps))


def _momenta(telling: Telling, d: LagrangeDerivation) -> Chapter:
    n = d.free
    formulas = []
    for k in range(min(n, MOST_ROWS)):
        bodies = zip(telling.m.links, d.momentum[k], strict=True)
        terms = tuple(Term(of_body(link.body), p) for link, p in bodies if not is_zero(p))
        formulas.append(
            Formula(
                rf"p_{{{k + 1}}}",
                scalar(vec.total(d.momentum[k])),
                rf"momentum of ${telling.rate(k)}$",
                terms=terms,
                compared=Comparison(
                    "half the difference of $T$ by another formulation at $@v_k + 1$ and $@v_k - 1$, exact because "
                    "$T$ is quadratic",
                    ("momentum", k),
                ),
            )
        )
    steps = [
        Step(
            "Generalized momenta",
            (
                "The derivative of the kinetic energy with respect to a speed is the generalized momentum of that "
                "speed.",
            ),
            (r"p_k = \frac{\partial T}{\partial @v_k}",),
            tuple(formulas),
        ),
        mass_step(
            telling,
            d.mass_terms,
            "A momentum is linear in the speeds. Its coefficients, found by differentiating once more, are the entries "
            "of the mass matrix: they multiply the accelerations in $\\dot p_k$.",
            (r"@M_{kj} = \frac{\partial p_k}{\partial @v_j} = \frac{\partial^2 T}{\partial @v_k\, \partial @v_j}",),
        ),
    ]
    return Chapter("Momenta and mass matrix", (), tuple(steps))


def _forces(telling: Telling, d: LagrangeDerivation) -> Chapter:
    inertia = (
        "Two more inertia terms come from the rate of the momentum at constant speeds and from the change of $T$ with "
        "position: the centrifugal and Coriolis terms, quadratic in the speeds. They move to the right-hand side and "
        "change sign."
    )
    if d.m.balls:
        inertia += (
            " Angular velocities are not rates of coordinates, so for them the term $\\boldsymbol{\\omega} \\times "
            "\\partial T/\\partial \\boldsymbol{\\omega}$ is added (Boltzmann and Hamel)."
        )
    laws: dict[str, tuple[str, ...]] = {
        "inertia": (
            r"\frac{\partial T}{\partial s_k} - \left.\frac{d}{dt} \frac{\partial T}{\partial @v_k}\right|_{\dot @v "
            r"= 0}",
        ),
        "gravity": (r"-\frac{\partial V_{\mathrm{weight}}}{\partial s_k}",),
        "springs": (r"-\frac{\partial V_{\mathrm{springs}}}{\partial s_k}",),
        "dissipation": (r"Q_k = \sum \boldsymbol{F} \cdot \frac{\partial \boldsymbol{v}}{\partial @v_k}",),
        "applied": (r"Q_k = \sum \boldsymbol{F} \cdot \frac{\partial \boldsymbol{v}}{\partial @v_k}",),
    }
    words = {
        "inertia": inertia,
        "gravity": "The generalized force of a weight is minus the derivative of its potential.",
        "springs": "Springs act in the same way.",
        "dissipation": "Friction and dampers have no potential. Their generalized force is the power of their forces "
        "at unit speed (virtual work).",
        "applied": "The generalized force of applied forces and torques is their power at unit speed (virtual work).",
    }
    rates = not telling.m.drives and not telling.eq.other_rates
    along = "" if rates else ", where $\\partial/\\partial s_k$ is the derivative along the motion of that speed alone"
    intro = (
        "Lagrange's equation of speed $k$ is $\\dot p_k - \\partial T/\\partial s_k + \\partial V/\\partial s_k = "
        f"Q_k${along}. Every term without an acceleration moves to the right-hand side $@f_k$.",
    )
    if rates:
        intro = (intro[0].replace("s_k", "@q_k"),)
        laws = {part: tuple(law.replace("s_k", "@q_k") for law in found) for part, found in laws.items()}
    return Chapter("Generalized forces", intro, tuple(force_steps(telling, d.forces, laws, words)))
