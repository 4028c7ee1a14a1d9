"""Free-body diagrams: which forces act on a body, and the labels of their arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from pendula.equations import loads as ld
from pendula.equations import vectors as vec
from pendula.equations.story.story import Picture
from pendula.equations.story.telling import Telling, heading, upright


def body_picture(telling: Telling, loads: Sequence[ld.Load], k: int) -> Picture:
    """The diagram of body k: weight, loads, forces in its joints."""
    m = telling.m
    link = m.links[k]
    forces: list[tuple[str, str, str]] = []
    if not vec.all_zero(m.constants_of(m.model.gravity)):
        forces.append(("weight", link.body, r"m\,\boldsymbol{g}"))
    forces.append(("joint", link.joint.name, rf"\boldsymbol{{F}}_{{{upright(link.joint.name)}}}"))
    for other in m.links:
        if other.parent == k:
            forces.append(("reaction", other.joint.name, rf"-\boldsymbol{{F}}_{{{upright(other.joint.name)}}}"))
    for closure in m.model.closures:
        for side, kind, sign in ((closure.child, "closing", ""), (closure.parent, "closing back", "-")):
            if side.body == link.body:
                forces.append((kind, closure.name, rf"{sign}\boldsymbol{{F}}_{{{upright(closure.name)}}}"))
    for load in loads:
        index = load_index(telling, load.force)
        kind = _acts(load, link.body)
        if kind:
            forces.append((kind, str(load.force), rf"\boldsymbol{{F}}_{{{index}}}"))
        inside = _inside(telling, load)
        if inside is not None:
            letter = "T" if inside[1] else "F"
            joint = m.links[inside[0]].joint.name
            if inside[0] == k:
                forces.append((f"inside {letter}", joint, rf"{letter}_{{{index}}}"))
            elif m.links[inside[0]].parent == k:
                forces.append((f"inside {letter} back", joint, rf"-{letter}_{{{index}}}"))
    caption = f"{heading(link.body)} cut free, with the forces on it."
    return Picture("body", link.body, tuple(dict.fromkeys(forces)), caption)


def load_index(telling: Telling, number: int) -> str:
    """Name of a force of the model in an index, TeX."""
    force = telling.m.model.forces[number]
    return upright(force.name) if force.name else upright(f"{force.type} {number + 1}")


def _inside(telling: Telling, load: ld.Load) -> tuple[int, bool] | None:
    """The joint in which a load acts (index of its link), and whether it is a moment."""
    match load:
        case ld.Across(k, coordinate):
            kinds = {c.name: c.kind for c in telling.m.links[k].joint.coordinates()}
            return k, kinds.get(str(coordinate)) == "angle"
        case ld.BallFriction(speeds):
            name = str(telling.m.joint_v[speeds[0]])
        case ld.OnCoordinate(rate):
            name = str(telling.m.joint_rates[rate])
        case ld.Between() | ld.ForceAt() | ld.TorqueOn() | ld.SpinForce():
            return None
        case _:
            assert_never(load)
    for k, link in enumerate(telling.m.links):
        for speed in link.joint.speeds():
            if speed.name == name:
                return k, speed.kind == "angle"
    return None


def _acts(load: ld.Load, body: str) -> str:
    match load:
        case ld.Between(start, end):
            return "pull" if start[0] == body else "pull back" if end[0] == body else ""
        case ld.ForceAt(name) | ld.SpinForce(name):
            return "push" if name == body else ""
        case ld.TorqueOn(name):
            return "torque" if name == body else ""
        case ld.Across() | ld.BallFriction() | ld.OnCoordinate():
            return ""
        case _:
            assert_never(load)
