"""The story of maximal coordinates: the equations of free bodies, and the joints as constraints between them."""

from __future__ import annotations

from pendula.equations.equations import PARTS
from pendula.equations.formulations.maximal import MaximalDerivation
from pendula.equations.mechanism.body_coordinates import FreeBody
from pendula.equations.printing.form import WORDS
from pendula.equations.story.ending import SYMBOLS, row_step
from pendula.equations.story.free_body import body_picture
from pendula.equations.story.newton_euler import reactions_chapter
from pendula.equations.story.story import Chapter, Comparison, Formula, Step, matrix
from pendula.equations.story.telling import Telling, heading, listed, of_body, place, upright
from pendula.equations.tape import is_zero
from pendula.model.bodies import GROUND

LEAD = (
    "In maximal coordinates every body is cut free and gets its own coordinates. Its equations are those of Newton "
    "and Euler for a free body, short and the same for all; the joints are added as constraints, whose multipliers are "
    "the forces in them.",
)

LOOPS = (
    "Closing joints are constraints like those of the other joints; the only difference is that they define no joint "
    "coordinates.",
)


def chapters(telling: Telling, d: MaximalDerivation) -> list[Chapter]:
    """Chapters between the positions and the final equations."""
    return [_bodies(telling, d), _joints(telling, d)]


def reactions(telling: Telling, d: MaximalDerivation) -> list[Chapter]:
    """The chapter about forces in joints."""
    words = "The multipliers of a joint's rows are the force and the torque that it transmits, component by component."
    return [reactions_chapter(telling, (words,))]


def _bodies(telling: Telling, d: MaximalDerivation) -> Chapter:
    steps = []
    for k in telling.told:
        link, body = telling.m.links[k], d.m.bodies[k]
        steps.append(
            Step(
                heading(link.body),
                (_speeds(telling, body),),
                (),
                (_mass(telling, k, body), *_forces(telling, d, body)),
                body_picture(telling, d.loads, k),
                telling.folded(k),
            )
        )
    law = (
        (r"m\, \dot{\boldsymbol{v}}_C = \boldsymbol{F}, \qquad I\, \dot\omega = M_z",)
        if telling.planar
        else (
            r"m\, \dot{\boldsymbol{v}}_C = \boldsymbol{F}, \qquad I\, \dot{\boldsymbol{\omega}} + \boldsymbol{\omega} "
            r"\times I\, \boldsymbol{\omega} = \boldsymbol{T}",
        )
    )
    words = (
        "The force on a body accelerates its mass centre, and the torque about the mass centre changes its angular "
        "momentum. Forces in joints are left out for now; they come in with the constraints."
        + ("" if telling.planar else " Angular velocity and torque are in body axes, where the inertia is constant."),
        *telling.rest,
    )
    return Chapter("Free bodies", words, (Step("Newton's and Euler's equations", (), law), *steps))


def _speeds(telling: Telling, body: FreeBody) -> str:
    own = listed([f"${telling.name(telling.eq.v[i])}$" for i in body.v])
    text = f"Its speeds are {own}."
    if body.kept_v:
        kept = listed([f"${telling.name(telling.eq.v[i])}$" for i in body.kept_v])
        text += f" Its joint keeps {kept} as further speeds, which carry no mass: constraints tie them to the bodies."
    return text


def _mass(telling: Telling, k: int, body: FreeBody) -> Formula:
    M = telling.eq.M
    block = [[M[i][j] for j in body.v] for i in body.v]
    link = telling.m.links[k]
    return Formula(
        rf"M_{{{upright(link.body)}}}",
        matrix(block),
        "its block of the mass matrix, constant",
        of_body(link.body),
        compared=Comparison("mass and inertia of the body as numbers", ("body mass", link.body, body.flat)),
    )


def _forces(telling: Telling, d: MaximalDerivation, body: FreeBody) -> list[Formula]:
    formulas = []
    for part in PARTS:
        for i in (*body.v, *body.kept_v):
            if not is_zero(telling.eq.parts.free[part][i]):
                formulas.append(
                    telling.total(
                        rf"{SYMBOLS[part]}_{{{i + 1}}}",
                        d.forces[part][i],
                        rf"{WORDS[part]}, row of ${telling.name(telling.eq.v[i])}$",
                    )
                )
    return formulas


def _joints(telling: Telling, d: MaximalDerivation) -> Chapter:
    steps = []
    for k in telling.told:
        rows = range(*d.nodes[k].rows)
        link = telling.m.links[k]
        if not len(rows):
            continue
        parent = telling.m.links[link.parent].body if link.parent >= 0 else GROUND
        does = f"holds {place(link.body)} to {place(parent)}: {len(rows)} constraints"
        steps.append(row_step(telling, link.joint.name, rows, does, telling.folded(k)))
    words = (
        "A joint keeps the gap between its point on one body and its point on the other at zero, and, unless it is a "
        "pin in the plane or a ball joint, their axes parallel. Each such condition is a row of $@g = 0$. Its rate is "
        "linear in the speeds of the two bodies and gives a row of $@G$, the second derivative gives $@c$.",
        "The multiplier of a gap is the force that the joint exerts along that direction.",
        *telling.rest,
    )
    return Chapter("Joints as constraints", words, tuple(steps))
