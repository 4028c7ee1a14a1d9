"""The story of Newton-Euler: accelerations outward, free-body diagrams, and balances of momentum inward."""

from __future__ import annotations

import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.equations import PARTS, Transmitted, acceleration_symbols
from pendula.equations.formulations.newton_euler import NewtonEulerDerivation
from pendula.equations.outward import BIAS, Form
from pendula.equations.printing.form import WORDS
from pendula.equations.shares import Book, Terms
from pendula.equations.story.ending import force_steps, mass_step
from pendula.equations.story.free_body import body_picture
from pendula.equations.story.story import Chapter, Comparison, Formula, Step, scalar
from pendula.equations.story.telling import Telling, escaped, heading, listed, of_body, of_joint, upright
from pendula.equations.tape import is_zero

LEAD = (
    "The method of Newton and Euler cuts every body free, draws all forces on it, and balances forces and moments. "
    "Going outward from the ground, it finds accelerations; going inward from the tips, it finds what every joint must "
    "transmit. Along its freedom a joint transmits nothing, and this gives the equations of motion.",
)

LOOPS = (
    "A closing joint keeps distances $@g$ between two bodies at zero. A unit multiplier is a pair of opposite unit "
    "forces on the two bodies. Carried inward through the joints like every other force, it gives the rows of $@G$; "
    "$-@c$ is the second derivative of $@g$ that remains at constant speeds.",
)


def chapters(telling: Telling, d: NewtonEulerDerivation) -> list[Chapter]:
    """Chapters between the positions and the final equations."""
    return [_outward(telling, d), _balances(telling, d), _rows(telling, d)]


def _whole(telling: Telling, form: Form) -> vec.Vector:
    """A linear form written with symbols for the accelerations."""
    symbols = acceleration_symbols(telling.m.v)
    terms: list[vec.Vector] = [vec.NULL]
    for i, vector in form.items():
        if i == BIAS:
            terms.append(vector)
        elif i < len(symbols):
            terms.append(vec.scale(symbols[i], vector))
    return vec.add(*terms)


def _outward(telling: Telling, d: NewtonEulerDerivation) -> Chapter:
    steps = []
    for k in telling.told:
        link, here = telling.m.links[k], d.bodies[k]
        index, source = upright(link.body), of_body(link.body)
        where, plane = ("world" if here.flat else "body"), here.flat and telling.planar
        axes = "" if telling.planar else f" in {where} axes"
        formulas = [
            telling.angular_velocity(k, here.w, f"angular velocity{axes}", where),
            telling.spin(
                rf"\boldsymbol{{\alpha}}_{{{index}}}",
                _whole(telling, here.alpha),
                f"angular acceleration{axes}",
                source=source,
                compared=Comparison(
                    "the second derivative of the orientation, with accelerations of another formulation",
                    ("alpha", link.body, where),
                ),
            ),
        ]
        if not vec.all_zero(_whole(telling, here.a)):
            formulas.append(
                telling.vector(
                    rf"\boldsymbol{{a}}_{{{index}}}",
                    _whole(telling, here.a),
                    f"acceleration of the origin{axes}",
                    plane=plane,
                    source=source,
                    compared=Comparison(
                        "the second derivative of the position, with accelerations of another formulation",
                        ("origin acceleration", link.body, where),
                    ),
                )
            )
        steps.append(Step(heading(link.body), formulas=tuple(formulas), folded=telling.folded(k)))
    words = (
        "From the ground to the tips, each joint adds its own rate and acceleration to the motion of the body "
        "before it. A point at a distance $\\boldsymbol{d}$ from the origin is accelerated by "
        "$\\boldsymbol{\\alpha} \\times \\boldsymbol{d} + \\boldsymbol{\\omega} \\times (\\boldsymbol{\\omega} "
        "\\times \\boldsymbol{d})$ more than the origin. The accelerations $\\dot @v$ are not known yet; they stay "
        "in the formulas as symbols.",
        *telling.rest,
    )
    return Chapter("Velocities and accelerations, outward", words, tuple(steps))


def _balances(telling: Telling, d: NewtonEulerDerivation) -> Chapter:
    steps = []
    for k in reversed(telling.told):
        link = telling.m.links[k]
        index, source = upright(link.body), of_body(link.body)
        flat = d.bodies[k].flat
        where, plane = ("world" if flat else "body"), flat and telling.planar
        formulas = [
            telling.vector(
                rf"\dot{{\boldsymbol{{p}}}}_{{{index}}}",
                _whole(telling, d.rates[k].force),
                "rate of momentum, $m\\, \\boldsymbol{a}_C$",
                plane=plane,
                source=source,
                compared=Comparison(
                    "mass times the acceleration of the mass centre, by another formulation",
                    ("momentum rate", link.body, where),
                ),
            ),
            telling.spin(
                rf"\dot{{\boldsymbol{{L}}}}_{{{index}}}",
                _whole(telling, d.rates[k].moment),
                "rate of angular momentum about the origin",
                source=source,
                compared=Comparison(
                    "the same from numbers and the accelerations by another formulation",
                    ("spin momentum rate", link.body, where),
                ),
            ),
        ]
        for part in PARTS[1:]:
            wrench = d.own[k].get(part)
            if wrench is None:
                continue
            force, moment = _whole(telling, wrench.force), _whole(telling, wrench.moment)
            letter = upright(part)
            if not vec.all_zero(force):
                formulas.append(
                    telling.vector(
                        rf"\boldsymbol{{F}}^{{{letter}}}_{{{index}}}", force, f"force: {WORDS[part]}", plane=plane,
                        source=source,
                    )
                )  # fmt: skip
            if not vec.all_zero(moment):
                formulas.append(
                    telling.spin(
                        rf"\boldsymbol{{T}}^{{{letter}}}_{{{index}}}",
                        moment,
                        f"moment about the origin: {WORDS[part]}",
                        source=source,
                    )
                )
        steps.append(
            Step(
                heading(link.body),
                (_acting(telling, k),),
                (),
                tuple(formulas),
                body_picture(telling, d.loads, k),
                telling.folded(k),
            )
        )
    law = (
        r"\boldsymbol{F}_i = \dot{\boldsymbol{p}}_i - \boldsymbol{F}_i^{\mathrm{loads}} + \sum_{\mathrm{children}} "
        r"\boldsymbol{F}_c",
        r"\boldsymbol{T}_i = \dot{\boldsymbol{L}}_i - \boldsymbol{T}_i^{\mathrm{loads}} + \sum_{\mathrm{children}} "
        r"\left( \boldsymbol{T}_c + \boldsymbol{d}_c \times \boldsymbol{F}_c \right)",
    )
    words = (
        "Each body is cut free. The joint by which it hangs exerts a force $\\boldsymbol{F}_i$ and a moment "
        "$\\boldsymbol{T}_i$ on it; the joints of the bodies that hang on it (its children) exert the opposite of "
        "what they transmit, at a distance $\\boldsymbol{d}_c$. The balance of forces and moments, taken from the "
        "tips to the ground, gives what every joint must transmit.",
        *telling.rest,
    )
    return Chapter("Free bodies and balances, inward", words, (Step("The balance of a body", (), law), *steps))


def _acting(telling: Telling, k: int) -> str:
    """The joints that act on a body, in words."""
    link = telling.m.links[k]
    children = [escaped(other.joint.name) for other in telling.m.links if other.parent == k]
    text = f"It hangs on joint {escaped(link.joint.name)}."
    if len(children) == 1:
        text += f" Joint {children[0]} hangs on it and pulls with the opposite of what it transmits."
    elif children:
        text += f" Joints {listed(children)} hang on it and pull with the opposite of what they transmit."
    return text


def _rows(telling: Telling, d: NewtonEulerDerivation) -> Chapter:
    n = len(telling.m.v)
    assert d.balanced is not None  # the story asks for a traced derivation
    empty = Book(traced=True).row
    mass = [[d.balanced.get(("inertia", i, j), empty()) for j in range(n)] for i in range(n)]
    forces: dict[str, list[Terms]] = {}
    for part in PARTS:
        rows = []
        for i in range(n):
            book = Book(traced=True)
            row = book.row()
            for source, values in d.balanced.get((part, i, BIAS), empty()).by_source().items():
                book.source = source
                row += [-x if part == "inertia" else x for x in values]
            for source, values in d.inside[part][i].by_source().items():
                book.source = source
                row += values
            rows.append(row)
        forces[part] = rows
    laws = {part: () for part in PARTS}
    words = {
        "inertia": "What the joint would have to transmit along its freedom at constant speeds, with a minus sign: "
        "centrifugal and Coriolis terms of all bodies outboard of it.",
        "gravity": "The weight of all bodies outboard of a joint, along its freedom.",
        "springs": "Springs outboard of a joint, and those inside it.",
        "dissipation": "Friction and dampers, likewise.",
        "applied": "Applied forces and torques, likewise.",
    }
    step = mass_step(
        telling,
        mass,
        "The coefficients of the accelerations in these balances are the entries of the mass matrix. Each term is "
        "traced to the joint along whose freedom the balance of all bodies outboard of it was taken.",
        (
            r"\boldsymbol{\sigma}_k \cdot \boldsymbol{T}_i + \boldsymbol{\delta}_k \cdot \boldsymbol{F}_i = "
            r"Q_k^{\mathrm{inside\ the\ joint}}",
        ),
        "joint",
    )
    intro: tuple[str, ...] = (
        "Let $\\boldsymbol{\\sigma}_k$ and $\\boldsymbol{\\delta}_k$ be the angular and the linear velocity that a "
        "unit of speed $k$ gives to the child of a joint: its freedom. An ideal joint transmits nothing along it "
        "but the springs, dampers and drives inside the joint. Each freedom thus gives one equation of motion.",
    )
    if any(link.absolute_turn is not None and link.parent >= 0 for link in telling.m.links):
        intro = (
            *intro,
            "Some angles are measured from the ground. The speed of such an angle turns the body's own joint "
            "forwards and the joint of the next body backwards, so both joints contribute to its equation.",
        )
    return Chapter("Along the freedoms of the joints", intro, (step, *force_steps(telling, forces, laws, words)))


def reactions(telling: Telling, d: NewtonEulerDerivation) -> list[Chapter]:
    """The chapter about forces in joints."""
    words = (
        "What remains of the transmitted force and moment is the reaction of the joint. With the accelerations "
        "from the equations of motion it follows from the same balances, without further equations."
    )
    return [reactions_chapter(telling, (words,))]


def reactions_chapter(telling: Telling, words: tuple[str, ...]) -> Chapter:
    """The wrench that every joint transmits, as compiled."""
    formulas = []
    joints = {link.joint.name: k for k, link in enumerate(telling.m.links)}
    for one in telling.eq.transmitted:
        k = joints.get(one.joint, 0)
        if one.joint in joints and k not in telling.told:
            continue
        formulas += _wrench(telling, one)
    step = Step(
        "Transmitted force and torque",
        ("What the joint exerts on its child body, at the joint's point of that body, in world axes.", *telling.rest),
        (),
        tuple(formulas),
    )
    return Chapter("Forces in the joints", words, (step,))


def _wrench(telling: Telling, one: Transmitted) -> list[Formula]:
    index, source = upright(one.joint), of_joint(one.joint)
    plane = telling.planar and is_zero(se.sympify(one.force[2]))
    compared = Comparison("the reaction by another formulation", ("reaction force", one.joint))
    formulas = [
        telling.vector(
            rf"\boldsymbol{{F}}_{{{index}}}",
            one.force,
            f"force in joint {escaped(one.joint)}",
            plane=plane,
            source=source,
            compared=compared,
        )
    ]
    if any(not is_zero(se.sympify(x)) for x in one.torque):
        if telling.planar:
            formulas.append(
                Formula(
                    rf"T_{{{index}}}", scalar(one.torque[2]), f"torque about z in joint {escaped(one.joint)}", source
                )
            )
        else:
            formulas.append(
                telling.vector(
                    rf"\boldsymbol{{T}}_{{{index}}}", one.torque, f"torque in joint {escaped(one.joint)}", source=source
                )
            )
    return formulas
