"""The first chapters of every story: the mechanism with its frames and coordinates, and the positions of its bodies."""

from __future__ import annotations

from typing import assert_never

import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.equations import drive_definitions
from pendula.equations.mechanism.parts import WORLD, Shift, Step, Turn
from pendula.equations.orientation.symbols import TurnBall
from pendula.equations.story.story import Chapter, Comparison, Formula, Picture, matrix, scalar
from pendula.equations.story.story import Step as StoryStep
from pendula.equations.story.telling import Telling, escaped, heading, listed, of_body, place, upright
from pendula.equations.tape import Expr, is_zero
from pendula.words import counted


def mechanism_chapter(telling: Telling) -> Chapter:
    """Bodies, joints, coordinates and mass properties, with a drawing."""
    model = telling.m.model
    bodies = counted(len(model.bodies), "body", "bodies")
    joints = counted(len(model.joints), "joint")
    loops = f", {len(model.closures)} of them closing a loop" if model.closures else ""
    words = [f"The mechanism has {bodies} and {joints}{loops}."]
    gravity = telling.m.constants_of(model.gravity)
    if not vec.all_zero(gravity):
        words.append(
            f"Gravity accelerates every mass by $({', '.join(telling.tex(x) for x in gravity)})$ in the world frame."
        )
    steps = [_frames_step(telling), _coordinates_step(telling), *_mass_steps(telling)]
    if telling.m.drives:
        steps.append(_drives_step(telling))
    if telling.m.quaternions:
        steps.append(_quaternions_step(telling))
    return Chapter("The mechanism, its frames and its coordinates", tuple(words), tuple(steps))


def _frames_step(telling: Telling) -> StoryStep:
    planar = telling.planar
    axes = "x to the right, y upwards, z towards you" if planar else "x, y and z"
    words = [
        f"The world frame is fixed to the ground, with axes {axes}. Every body carries its own frame; the "
        "drawing shows its origin and its axes. A point of a body has constant coordinates in that frame.",
    ]
    if not telling.m.joints_place_bodies:
        words.append(
            "In this formulation the joints do not place the bodies: each body has its own coordinates, the "
            "position of its mass centre and its orientation, as if it were free. The joints come in later, as "
            "constraints."
        )
    picture = Picture("mechanism", caption="Frames of the bodies, and the coordinates of the joints.")
    return StoryStep("Frames", tuple(words), picture=picture)


def _coordinates_step(telling: Telling) -> StoryStep:
    units = telling.m.model.unit_names
    items = []
    for c in telling.eq.coordinates:
        unit = units.coordinate(c.kind)
        items.append(rf"${telling.name(c.name)}$" + (f" [{unit}]" if unit else ""))
    speeds = [rf"${telling.name(s.name)}$ [{units.speed(s.kind)}]" for s in telling.eq.speeds]
    words = [f"The coordinates are {listed(items)}.", f"The speeds $@v$ are {listed(speeds)}."]
    if not telling.m.quaternions:
        words.append(
            "The rates of the coordinates follow from the speeds."
            if telling.eq.other_rates
            else "Each speed is the rate of its coordinate, $\\dot @q = @v$."
        )
    return StoryStep("Coordinates and speeds", tuple(words))


def _mass_steps(telling: Telling) -> list[StoryStep]:
    formulas: list[Formula] = []
    for k in telling.told:
        link = telling.m.links[k]
        body, index = of_body(link.body), upright(link.body)
        formulas.append(Formula(rf"m_{{{index}}}", scalar(link.mass), "mass", body))
        if not vec.all_zero(link.com):
            formulas.append(
                telling.vector(
                    rf"\boldsymbol{{c}}_{{{index}}}",
                    link.com,
                    "mass centre in body axes",
                    plane=telling.planar,
                    source=body,
                )
            )
        if any(not is_zero(x) for row in link.inertia for x in row):
            if telling.planar:
                about = Formula(
                    rf"I_{{{index}}}", scalar(link.inertia[2][2]), "moment of inertia about z, at the mass centre", body
                )
            else:
                about = Formula(
                    rf"I_{{{index}}}", matrix(link.inertia), "inertia about the mass centre, body axes", body
                )
            formulas.append(about)
    words = (
        "Each body enters with its mass $m$, the position $\\boldsymbol{c}$ of its mass centre C in its own frame, and "
        "its inertia $I$ about C. A body without a moment of inertia is a point mass.",
        *telling.rest,
    )
    return [StoryStep("Masses", words, formulas=tuple(formulas))]


def _drives_step(telling: Telling) -> StoryStep:
    formulas = []
    table = dict(drive_definitions(telling.m))
    for drive in telling.m.drives:
        for symbol, what in (
            (drive.position, "prescribed motion"),
            (drive.rate, "its rate"),
            (drive.acceleration, "its acceleration"),
        ):
            formulas.append(Formula(telling.name(symbol), scalar(table[symbol]), what))
    words = (
        "Some motions are prescribed as functions of time. They are not unknowns: their values, rates and "
        "accelerations are known at all times and enter the equations of the other coordinates.",
    )
    return StoryStep("Prescribed motions", words, formulas=tuple(formulas))


def _quaternions_step(telling: Telling) -> StoryStep:
    formulas = []
    for q, rate in telling.eq.other_rates:
        name = telling.name(q)
        left = rf"\dot {name}" if len(name) == 1 else rf"\dfrac{{d}}{{dt}}{name}"
        formulas.append(Formula(left, scalar(rate), "rate of a quaternion component"))
    words = (
        "An orientation is given by a unit quaternion: four numbers $(q_0, q_1, q_2, q_3)$ with $q_0^2 + q_1^2 + "
        "q_2^2 + q_3^2 = 1$, which describe every orientation without a singularity. The speeds are the components "
        "of the angular velocity $\\boldsymbol{\\omega}$ in the rotated axes. They are not rates of coordinates; "
        "the rates follow from the product of quaternions $\\dot q = \\frac{1}{2}\\, q \\circ (0, "
        "\\boldsymbol{\\omega})$.",
    )
    return StoryStep("Quaternions", words, formulas=tuple(formulas))


# -- positions --------------------------------------------------------------------------------------


def positions_chapter(telling: Telling) -> Chapter:
    """Orientation, origin and mass centre of every body."""
    words = [
        "Starting from the ground, each joint determines the frame of the next body from the frame before it. "
        "This gives the rotation matrix $R$, from body axes to world axes, and the origin $\\boldsymbol{r}$ of every "
        "body; the mass centre is then at $\\boldsymbol{r}_C = \\boldsymbol{r} + R\\,\\boldsymbol{c}$.",
    ]
    if not telling.m.joints_place_bodies:
        words = [
            "The coordinates of a body are the position of its mass centre and its orientation. The rotation matrix "
            "$R$ follows from the orientation, and the origin of the body's frame lies at $\\boldsymbol{r} = "
            "\\boldsymbol{r}_C - R\\,\\boldsymbol{c}$.",
        ]
    elif telling.planar:
        words.append(
            "All rotations are about z, so one absolute angle $\\vartheta$ describes the orientation of a body: "
            "$R = \\begin{bmatrix} \\cos\\vartheta & -\\sin\\vartheta \\\\ \\sin\\vartheta & \\cos\\vartheta "
            "\\end{bmatrix}$ in the plane."
        )
    steps = [_position_step(telling, k) for k in telling.told]
    return Chapter("Positions", (*words, *telling.rest), tuple(steps))


def _position_step(telling: Telling, k: int) -> StoryStep:
    link, pose = telling.m.links[k], telling.m.poses[k]
    body, index = of_body(link.body), upright(link.body)
    numbers = "the same position found with numbers alone, matrix by matrix along the joints"
    formulas = []
    if pose.theta is not None:
        formulas.append(
            Formula(
                rf"\vartheta_{{{index}}}",
                scalar(pose.theta),
                "absolute angle",
                body,
                compared=Comparison(numbers.replace("position", "angle"), ("angle", link.body)),
            )
        )
    else:
        formulas.append(
            Formula(
                rf"R_{{{index}}}",
                matrix(pose.R),
                "rotation from body axes to world axes",
                body,
                compared=Comparison(numbers.replace("position", "rotation"), ("rotation", link.body)),
            )
        )
    plane = telling.planar
    if not vec.all_zero(pose.r):
        formulas.append(
            telling.vector(
                rf"\boldsymbol{{r}}_{{{index}}}",
                pose.r,
                "origin",
                plane=plane,
                source=body,
                compared=Comparison(numbers, ("origin", link.body)),
            )
        )
    center = telling.m.point(link.body, link.com)
    if not vec.all_zero(link.com) and telling.m.joints_place_bodies:
        formulas.append(
            telling.vector(
                rf"\boldsymbol{{r}}_{{C,{index}}}",
                center,
                "mass centre",
                plane=plane,
                source=body,
                compared=Comparison(numbers, ("center", link.body)),
            )
        )
    words = (_walk(telling, k),) if telling.m.joints_place_bodies else ()
    return StoryStep(heading(link.body), words, formulas=tuple(formulas), folded=telling.folded(k))


def _walk(telling: Telling, k: int) -> str:
    """How the frame of a body follows from that of its parent, in words."""
    link = telling.m.links[k]
    parent = telling.m.poses[link.parent] if link.parent >= 0 else WORLD
    frame = telling.m.follow(parent, link.before, link.body)
    steps = (*link.before, *telling.m.relative_motion(k, frame), *link.after)
    told = [text for step in steps if (text := _step(telling, step))]
    start = place(telling.m.links[link.parent].body if link.parent >= 0 else "ground")
    joint = f"Joint {escaped(link.joint.name)} is {_article(link.joint.type)} joint"
    if not told:
        return f"{joint}. The frame of the body coincides with that of {start}."
    away = ""
    if link.absolute_turn is not None and link.parent >= 0:
        away = " (Angles are measured from the ground, so the rotation relative to the parent is a difference.)"
    return f"{joint}. Start from the frame of {start}, {', then '.join(told)}.{away}"


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _step(telling: Telling, step: Step) -> str:
    match step:
        case Shift(vector):
            return "" if vec.all_zero(vector) else f"move by $({', '.join(map(telling.tex, vector))})$ in its axes"
        case Turn(axis, angle):
            if is_zero(se.sympify(angle)):
                return ""
            return f"turn about {_axis(telling, axis)} by ${telling.tex(angle)}$"
        case TurnBall(template=template):
            names = ", ".join(telling.name(se.Symbol(name)) for name in template.coordinates)
            what = f"{template.chart} angles" if template.chart.is_sequence else f"{template.chart}"
            return f"turn by the {what} $({names})$"
        case _:
            assert_never(step)


def _axis(telling: Telling, axis: tuple[Expr, ...]) -> str:
    numbers = [x if isinstance(x, (int, float)) else None for x in axis]
    for k, letter in enumerate("xyz"):
        if None not in numbers and all(abs(float(x or 0) - (j == k)) < 1e-15 for j, x in enumerate(numbers)):
            return f"its {letter} axis"
    return f"the axis $({', '.join(map(telling.tex, axis))})$"
