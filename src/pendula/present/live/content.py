"""What a live page holds: the program, names and units, the drawing, sliders, modes to excite, and the equations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np

from pendula.analysis.equilibria.find import lowest_equilibrium
from pendula.analysis.modes.modes import modes
from pendula.analysis.modes.motion import unit_direction
from pendula.equations.equations import Equations
from pendula.equations.translate import translate
from pendula.errors import NotSupported, PendulaError
from pendula.interrupts import whole
from pendula.library.lookup import model_of
from pendula.model.checks.parameter_units import input_units, parameter_units
from pendula.model.expressions.expression import parse
from pendula.model.feedback import closed_loop
from pendula.model.model import Model
from pendula.present import refusals
from pendula.present.live.drawing import Drawing, draw
from pendula.present.player.packing import pack
from pendula.present.player.scene import Scene
from pendula.present.player.shapes import Pivot
from pendula.present.words.models import formula_groups
from pendula.simulation.beginning import energy_size, start_as_given
from pendula.simulation.events import Event, read_events, to_watch
from pendula.simulation.simulate import simulate
from pendula.system.build import compile_system
from pendula.system.layout import State
from pendula.system.live.program import LiveProgram, write_live
from pendula.system.loops.mobility import mobility
from pendula.system.parameters import parameter_vector, typical_length
from pendula.system.switches.watching import check_names, names_of
from pendula.system.system import System

MOST_BODIES = 30
"""Largest number of bodies that an ordinary machine moves smoothly: trees and planar loops, chains in space."""
MOST_WRENCHES = 12  # bodies up to which forces in joints are part of the page
MOST_MODES = 8
SLIDER_RANGE = 5.0  # a positive parameter can be divided and multiplied by this much
SEARCH_SECONDS = 15.0  # after this the search for an equilibrium is given up
LOOK_AHEAD = 4.0  # times the typical period: the motion that fits into the picture at the start


def live_content(
    model: Model | str,
    initial_state: Mapping[str, float] | None = None,
    events: Sequence[Event | str] = (),
    *,
    with_modes: bool = True,
) -> dict[str, Any]:
    """Everything that the page of a mechanism needs, as plain data; ``program`` and ``wrenches`` are JavaScript.

    Args:
        model: a model, the name of a library mechanism, or a system.
        initial_state: changes to the model's initial state by name.
        events: what the page marks, and where it stops: events, or texts that :meth:`Event.read` reads.
        with_modes: whether modes are part of it. The search for the equilibrium that they belong to is given up after
            ``SEARCH_SECONDS``, as for bodies in space with a family of equilibria; the page then has no modes.

    Raises:
        UsageError: an event cannot be read, or has an unknown name.
        LoopNotClosed: the loops cannot be closed with the given coordinates.
        NotSupported: the mechanism has more bodies than a page can move in time.
    """
    model = closed_loop(_with_gravity(model_of(model, "play", alone=True)))
    if len(model.bodies) > MOST_BODIES:
        raise NotSupported(refusals.LIVE_BODIES, most=MOST_BODIES, model=model.name, bodies=len(model.bodies))
    system = compile_system(model)
    start = start_as_given(system.in_joints.system, initial_state, 0.0, parameter_vector(system, None))
    drawing = draw(model, typical_length(system))
    scene = _scene(model, system, drawing, start)  # before the program, which computes the numbers of the drawing
    marked, watched = _events(system, events)
    live = write_live(model, geometry=drawing.scalars, events=watched, wrenches=len(model.bodies) <= MOST_WRENCHES)
    return {
        "program": live.script,
        "wrenches": live.wrenches,
        "record": {
            "title": model.name,
            "units": _units(model, live),
            "gravity": _gravity(model),
            "about": _about(model, system, live, start),
            "scene": scene,
            "sliders": _sliders(model, live),
            "modes": _modes(system) if with_modes else None,
            "events": marked,
        },
        "equations": formulas_of(live.equations),
    }


def _events(system: System, events: Sequence[Event | str]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Events as a page reads them, and the symbolic expressions whose zeros they are."""
    known, marked, watched = names_of(system), [], []
    for event in read_events(events):
        expression, way, kind = to_watch(event)
        check_names(expression, known, f'event "{event.name}"')
        watched.append(translate(expression, {name: known[name] for name in expression.names}))
        count = event.count or 1
        marked.append({"name": event.name, "way": way, "strict": kind == 2, "stop": count if event.terminal else 0})
    return marked, watched


def _with_gravity(model: Model) -> Model:
    """A model whose gravity is a parameter, so that it can be changed, if it was given by numbers."""
    values = [parse(x) for x in model.gravity]
    if any(x.names for x in values):
        return model
    numbers = [x.evaluate({}) for x in values]
    size = math.hypot(*numbers)
    if size == 0:
        return model
    taken = {*model.parameters, *model.inputs, *(c.name for c in (*model.coordinates, *model.speeds)), "t"}
    name = next(name for name in ("g", "gravity", "gravity_", "gravity__") if name not in taken)
    gravity = [f"{x / size!r}*{name}" if x else 0 for x in numbers]
    return model.with_changes(parameters={**model.parameters, name: size}, gravity=gravity)


def _gravity(model: Model) -> dict[str, Any]:
    """The strength of gravity, the parameter that sets it, and the weight of all bodies."""
    expressions = [parse(x) for x in model.gravity]
    names = {name for x in expressions for name in x.names}
    strength = math.hypot(*(x.evaluate(model.parameter_values) for x in expressions))
    mass = sum(parse(body.mass_properties().mass).evaluate(model.parameter_values) for body in model.bodies)
    return {"name": names.pop() if len(names) == 1 else "", "value": strength, "weight": strength * mass}


def _units(model: Model, live: LiveProgram) -> dict[str, Any]:
    names = model.unit_names
    known = dict(live.layout.units) | parameter_units(model) | input_units(model)
    units = {unit: getattr(names, unit) for unit in ("length", "time", "energy", "force", "torque")}
    return {**units, "of": known}


def _about(model: Model, system: System, live: LiveProgram, start: State) -> dict[str, Any]:
    """The description that the engine reads (``mechanism.js``)."""
    layout, length = live.layout, typical_length(system)
    units = [length if kind == "length" else 1.0 for kind in (*layout.coordinate_kinds, *layout.speed_kinds)]
    joints = system.in_joints.system
    return {
        "sizes": dict(live.sizes),
        "freedoms": int(mobility(system).by_rank),
        "names": {
            "coordinates": list(layout.coordinates),
            "speeds": list(layout.speeds),
            "kinds": list(layout.coordinate_kinds),
            "adjustable": list(live.adjustable),
            "values": [*model.parameters, *model.inputs],
            "prescribed": [drive.name for drive in live.equations.drives],
            "bodies": list(layout.bodies),
            "joints": list(live.joints),
        },
        "units": units,
        "adjustable": list(live.adjustable.values()),
        "start": {"q": start.q.tolist(), "v": start.v.tolist()},
        "length": length,
        "energy": energy_size(joints, start, parameter_vector(joints, None)),
    }


def _scene(model: Model, system: System, drawing: Drawing, start: State) -> dict[str, Any]:
    """The drawing, with the box that a short motion from the initial state fills."""
    from pendula.present.pictures.results import scene_of

    length = typical_length(system)
    strength = _gravity(model)["value"]
    span = LOOK_AHEAD * 2 * math.pi * math.sqrt(length / strength) if strength else 5.0
    begin = dict(zip((*start.layout.coordinates, *start.layout.speeds), (*start.q, *start.v), strict=True))
    run = whole(simulate, system, span, initial_state=begin, tol=1e-5, samples=200, max_steps=20_000)
    scene: Scene = scene_of(run)
    packed = pack(scene)
    sides = [shape.side for body in scene.bodies for shape in body.shapes if isinstance(shape, Pivot)]
    for body in drawing.bodies:
        for shape in body["shapes"]:
            if shape["kind"] == "pivot" and sides:
                shape["side"] = sides[0]
    trace = (
        None if packed.trace is None else _traced(model, drawing, scene.bodies[packed.trace[0]].name, packed.trace[1])
    )
    links, spirals = _kept_links(drawing, scene), _placed_spirals(drawing, scene)
    return {
        "planar": scene.planar,
        "up": list(scene.up),
        "low": packed.low,
        "high": packed.high,
        "radius": packed.radius,
        "halfHeight": packed.half_height,
        "trace": trace,
        "bodies": drawing.bodies,
        "links": links,
        "spirals": spirals,
        "hinges": drawing.hinges,
        "geometry": len(drawing.scalars),
    }


def _traced(model: Model, drawing: Drawing, name: str, at: Sequence[float]) -> dict[str, Any]:
    """The point that is traced at first, in terms of the lengths of the model, which may be changed on the page."""
    for shape in next((body.drawing() for body in model.bodies if body.name == name), ()):
        points = [tuple(parse(x) for x in point) for point in shape.points]
        if shape.kind == "rod":
            points.append(tuple(parse(f"(({x}) + ({y}))/2") for x, y in zip(*points, strict=True)))
        for point in points:
            if np.allclose([x.evaluate(model.parameter_values) for x in point], at, rtol=1e-12, atol=1e-12):
                return {"body": name, "at": drawing.vector([str(x) for x in point])}
    return {"body": name, "at": drawing.vector(at)}


def _placed_spirals(drawing: Drawing, scene: Scene) -> list[dict[str, Any]]:
    """Spirals, with the outer ends of those on the ground at the side of the support."""
    for spiral, shown in zip(drawing.spirals, scene.spirals, strict=True):
        spiral["outer_arm"] = spiral["outer_arm"] or drawing.vector(shown.outer_arm)
    return drawing.spirals


def _kept_links(drawing: Drawing, scene: Scene) -> list[dict[str, Any]]:
    """Links without strings of changing length, which stand for wires or curves and are not drawn."""
    strings = sum(link.kind == "string" for link in scene.links)
    wanted = [link for link in drawing.links if link["kind"] != "string"]
    return drawing.links if strings == len(drawing.links) - len(wanted) else wanted


def _sliders(model: Model, live: LiveProgram) -> list[dict[str, Any]]:
    """Range and scale of everything that may be changed and matters to the motion."""
    units, names = parameter_units(model) | input_units(model), model.unit_names
    found = []
    for name, value in live.adjustable.items():
        if name in live.idle:
            continue
        unit = units.get(name, "")
        is_input = name in model.inputs
        timeless = names.time not in unit.replace(names.mass, "").replace("/", " ").replace("^", " ").split()
        positive = unit in ("", names.length) or (names.mass in unit and timeless)  # lengths, masses, inertias
        low, high, log = _range(value, unit, is_input=is_input, positive=positive)
        found.append(
            {"name": name, "unit": unit, "value": value, "low": low, "high": high, "log": log, "input": is_input}
        )
    return found


def _range(value: float, unit: str, *, is_input: bool, positive: bool) -> tuple[float, float, bool]:
    """Lower and upper end of a slider, and whether it is logarithmic.

    Lengths, masses and inertias are multiplied and divided; gravity, stiffness, damping and rates can be switched off.
    """
    if unit == "rad":
        return min(-math.pi, value), max(math.pi, value), False
    if is_input or value < 0:
        size = 2 * abs(value) or 10.0
        return -size, size, False
    if value == 0:
        return 0.0, 1.0, False
    if positive:
        return value / SLIDER_RANGE, value * SLIDER_RANGE, True
    return 0.0, 3 * value, False


class _SearchTooLong(PendulaError):
    """The search for an equilibrium took too long for a page."""


def _modes(system: System) -> dict[str, Any] | None:
    """Poses and speeds that start a damped mode with a unit amplitude, at the equilibrium of least potential."""
    until = monotonic() + SEARCH_SECONDS

    def give_up(done: int, planned: int) -> None:
        if done < planned and monotonic() > until:
            raise _SearchTooLong(f"{done} of {planned} starts in {SEARCH_SECONDS:g} s")

    try:
        rest = lowest_equilibrium(system, on_progress=give_up)
        if rest is None:
            return None
        found = modes(system, rest, damped=True)
        linear = found.linear
        if linear.displacements or linear.at.steady:
            return None
        listed = []
        for number, mode in enumerate(found, start=1):
            if mode.frequency is None or number > MOST_MODES:
                continue
            direction, largest = unit_direction(linear, mode.scaled)
            q = linear.N @ (linear.Z @ direction)
            v = linear.Z @ (direction * mode.eigenvalue)
            listed.append(
                {
                    "number": number,
                    "hertz": float(mode.damped_hertz or 0.0),
                    "modulus": float(mode.hertz or 0.0),
                    "ratio": float(mode.damping_ratio or 0.0),
                    "words": mode.description,
                    "coordinate": linear.at.layout.coordinates[largest],
                    "q": np.real(q).tolist(),
                    "v": np.real(v).tolist(),
                }
            )
        simple = not any(joint.quaternion() for joint in system.model.tree)  # the page can follow the sliders
        return {"q": linear.at.q.tolist(), "listed": listed, "simple": simple} if listed else None
    except PendulaError:  # no equilibrium in time, or not one with modes: the page has no such buttons
        return None


def formulas_of(equations: Equations) -> list[dict[str, Any]]:
    """Groups of formulas as a page reads them; empty if they are too long for a page."""
    try:
        groups = formula_groups(equations)
    except NotSupported:
        return []
    return [{"words": words, "formulas": listed} for words, listed in groups.items()]
