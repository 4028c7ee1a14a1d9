"""Linkages of any number of bars between two ground pivots, the second of which may be moved."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pendula.errors import UsageError
from pendula.library.arguments import (
    LinkNumbers,
    PerLink,
    angle_of,
    choose,
    for_each,
    is_one,
    value_of,
    values_of,
    whole,
)
from pendula.library.linkages import check_reach
from pendula.library.pendulums import link_body
from pendula.model.base import Scalar
from pendula.model.checks.checks import LARGEST_MODEL
from pendula.model.model import Model
from pendula.model.windows import drive_window

_TERMS = 20
"""Terms of one sum; longer sums are added up in parts, because expressions are bounded in size."""


def linkage(
    *,
    bars: int = 5,
    mass: PerLink = 1.0,
    length: PerLink = 1.0,
    com: PerLink = None,
    last_mass: Scalar | None = None,
    last_length: Scalar | None = None,
    last_com: Scalar | None = None,
    pivot: Sequence[Scalar] | None = None,
    branch: Literal["open", "crossed"] = "open",
    friction: PerLink = None,
    start: PerLink = None,
) -> Model:
    """A loop of any number of bars: Turner, section 4.2.

    A chain of links between two ground pivots. One bar is the ground, so there are bars - 1 moving links and
    bars - 3 degrees of freedom. All but the last link are given, and the last one is made to close the loop at the
    start, as in the paper.

    Closed forms: the last link has the length and direction of the gap between the chain's tip and the second
    pivot. With ``last_length`` given, the last two links meet where two circles meet, in two ways. With 4 bars it
    is a four-bar linkage (see there for Grashof's classes).

    Args:
        bars: number of bars, the ground counted; 4 or more.
        mass, length: of the links before the last: one value, or a list of bars - 2.
        com: distance of their mass centres from the end nearer to the first pivot; default: the middle.
        last_mass: mass of the last link; default: as the others, or with a list the line density of the link before.
        last_length: length of the last link; default: what closes the loop at the start angles.
        last_com: mass centre of the last link; default: the middle.
        pivot: x, y of the second ground pivot; default: where one more link, along the arc, would end.
        branch: with ``last_length``: the joint before the last link is to the left ("open") or to the right
            ("crossed") of the line from the joint before it to the second pivot.
        friction: viscous friction in the joints at the start of each moving link.
        start: initial angles from hanging straight down, one value or a list: of all links before the last; with
            ``last_length`` of all before the last two. Default: links along an arc below the pivots, on which the last
            has the length of the one before; without a given pivot a half circle.
    """
    plan = _plan(bars, mass, length, last_length, start, arc=180.0, tilt=30.0)
    end = _default_pivot(plan) if pivot is None else _given_pivot(plan, pivot)
    if pivot is not None and start is None:
        _span(plan, end)
    return _model(plan, f"linkage of {bars} bars", end, end, branch, com, last_mass, last_com, friction)


def driven_linkage(
    *,
    bars: int = 11,
    mass: PerLink = 1.0,
    length: PerLink = 1.0,
    amplitude: Scalar = 0.2,
    rate: Scalar = 4.0,
    direction: Scalar = "0deg",
    pivot: Sequence[Scalar] | None = None,
    friction: PerLink = None,
    start: PerLink = None,
    until: Scalar | None = None,
) -> Model:
    """Links with a shaken far end: Turner, eq. 55.

    A string of links from the ground to a point that is moved (21 and 31 bars in the paper). That far end is at
    pivot + amplitude cos(rate t) (sin direction, cos direction). It starts at rest, with the last link made to close
    the loop there. The paper gives no numbers for the motion; those here are our choice. Its far end that is stretched
    along the line from the base corresponds to a pivot on this line and an amplitude that end just short of the length
    of all links: with 21 bars of length 1, a pivot of (15.8, 0), an amplitude of 4 and a direction of 90 degrees.

    Closed forms: the end moves exactly as above; the energy changes by the work of the force that moves it.

    Args:
        bars: number of bars, counting the one from the base to the far end that is left out; 4 or more.
        mass, length: of the links before the last: one value, or a list of bars - 2.
        amplitude: beta of eq. 55.
        rate: angular frequency of the motion [rad/time].
        direction: of the motion, from straight up towards +x.
        pivot: x, y of the middle of the motion; default: such that the links start along a shallow arc.
        friction: viscous friction in the joint at the start of each link.
        start: initial angles of the links before the last from hanging straight down: one value, or a list. Default:
            along an arc on which the last link has the length of the one before; the far end must be within reach.
        until: when the end stops and stays, such as "pi/omega" (half a period); default: never.
    """
    plan = _plan(bars, mass, length, None, start, arc=60.0, tilt=0.0)
    plan.parameters |= {"beta": amplitude, "omega": rate, "phi": direction}
    if pivot is None:
        middle = _default_pivot(plan, ("beta*sin(phi)", "beta*cos(phi)"))
        plan.parameters |= {"X": middle[0], "Y": middle[1]}
    else:
        _given_pivot(plan, pivot)  # X and Y
    at_start = ("X + beta*sin(phi)", "Y + beta*cos(phi)")
    if pivot is not None and start is None:
        _span(plan, at_start)
    moving = ("X + beta*cos(omega*t)*sin(phi)", "Y + beta*cos(omega*t)*cos(phi)")
    made = _model(plan, f"driven linkage of {bars} bars", at_start, moving, "open", None, None, None, friction)
    return made if until is None else drive_window(made, until=until)


Place = tuple[Scalar, Scalar]


@dataclass
class _Plan:
    """Lengths, masses and start angles of a linkage on their way to a model."""

    moving: int
    """number of moving links"""
    m: list[Scalar | None]
    l: list[Scalar | None]
    """masses and lengths of all links before the last, as parameter names"""
    angles: list[Scalar]
    """start angles of the links that are free to choose"""
    arc: list[Scalar]
    """angles of all moving links along the default arc"""
    last: Scalar | None
    """given length of the last link"""
    mass_for_all: bool
    parameters: dict[str, Scalar] = field(default_factory=dict)


def _plan(
    bars: int, mass: PerLink, length: PerLink, last: Scalar | None, start: PerLink, *, arc: float, tilt: float
) -> _Plan:
    whole("bars", bars, 4, LARGEST_MODEL)
    moving = bars - 1
    per = LinkNumbers(moving - 1)
    if mass is None or length is None:
        raise UsageError("mass and length need a value for all links, or a list")
    m, l = per.names("m", mass), per.names("l", length)
    if last is not None:
        per.parameters["last"] = last
    # chords of an arc that turns by `arc` degrees around a direction `tilt` above +x
    chords: list[Scalar] = [f"{90 + tilt + arc * ((k + 0.5) / moving - 0.5):.8g}deg" for k in range(moving)]
    free = moving - 1 if last is None else moving - 2
    angles = chords[:free] if start is None else for_each("start", start, free)
    return _Plan(moving, m, l, angles, chords, last, is_one(mass), per.parameters)


def _span(plan: _Plan, end: Place) -> None:
    """Start angles along the arc that all links span up to a given end, the last one like the one before if not given.

    Raises:
        UsageError: the end is farther away than all links together.
    """
    given = [*end, *plan.l, plan.last or plan.l[-1]]
    x, y, *lengths = values_of("pivot", [number or 0 for number in given], plan.parameters)
    places = [(k + 0.5) / plan.moving - 0.5 for k in range(plan.moving)]
    away, longest = math.hypot(x, y), sum(lengths)
    if away >= longest:
        raise UsageError(
            f"the far end starts {away:.6g} from the first pivot, but the links are only {longest:.6g} long "
            "together; try a nearer pivot, or give start, which makes the last link as long as the rest of the way"
        )

    def reach(arc: float) -> complex:
        return sum(cmath.rect(l, arc * place) for l, place in zip(lengths, places, strict=True))

    low, high = 0.0, 2 * math.pi  # of the arc's angle: a straight line, a whole circle
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if abs(reach(middle)) > away else (low, middle)
    level = math.atan2(y, x) - cmath.phase(reach(low)) if away > 0.0 else 0.0
    angles = [90.0 + math.degrees(level + low * place) for place in places]
    plan.angles = [f"{angle:.10g}deg" for angle in angles[: len(plan.angles)]]


def _default_pivot(plan: _Plan, moved: Place = ("", "")) -> Place:
    """The end of the default arc, with a last link like the one before, minus the place to which it is moved."""
    ends = []
    lengths = [*plan.l, "last" if plan.last is not None else plan.l[-1]]
    for axis, turn, shift in zip("xy", ("sin", "-cos"), moved, strict=True):
        chosen = plan.angles if len(plan.angles) == plan.moving - 1 else []
        angles = [*chosen, *plan.arc[len(chosen) :]]
        total = _sum(plan, f"{axis}_arc", [_step(l, turn, x) for l, x in zip(lengths, angles, strict=True)])
        ends.append(f"{total} - {shift}" if shift else total)
    return ends[0], ends[1]


def _given_pivot(plan: _Plan, pivot: Sequence[Scalar]) -> Place:
    if is_one(pivot) or len(pivot) != 2:
        raise UsageError(f"pivot: x and y of the second ground pivot are 2 values, found {pivot!r}")
    plan.parameters |= {"X": pivot[0], "Y": pivot[1]}
    return "X", "Y"


def _step(length: Scalar | None, turn: str, angle: Scalar) -> str:
    sign, function = ("-", "cos") if turn == "-cos" else ("", turn)
    return f"{sign}{length}*{function}({angle})"


def _sum(plan: _Plan, name: str, terms: list[str]) -> Scalar:
    """The name of a parameter that holds the sum; long sums are added up in parts."""
    level = 0
    while len(terms) > _TERMS:
        level += 1
        pieces = [terms[k : k + _TERMS] for k in range(0, len(terms), _TERMS)]
        terms = [str(_sum(plan, f"{name}_{level}_{k + 1}", piece)) for k, piece in enumerate(pieces)]
    plan.parameters[name] = " + ".join(terms).replace("+ -", "- ")
    return name


def _close(plan: _Plan, end: Place, branch: str) -> list[Scalar]:
    """Start angles of all moving links; the length of the last one becomes the parameter "last"."""
    free = len(plan.angles)
    tip = [
        _sum(plan, f"{axis}_tip", [_step(l, turn, x) for l, x in zip(plan.l[:free], plan.angles, strict=True)])
        for axis, turn in (("x", "sin"), ("y", "-cos"))
    ]
    plan.parameters |= {"x_gap": f"{end[0]} - {tip[0]}", "y_gap": f"{end[1]} - {tip[1]}"}
    if plan.last is None:
        if value_of("start", "hypot(x_gap, y_gap)", plan.parameters) < 1e-9:
            raise UsageError("the links before the last end on the second pivot: no length is left for the last one")
        plan.parameters["last"] = "hypot(x_gap, y_gap)"
        # from the link before, so that the angle does not jump by a full turn
        p = plan.angles[-1]
        turn = f"atan2(x_gap*cos({p}) + y_gap*sin({p}), x_gap*sin({p}) - y_gap*cos({p}))"
        return [*plan.angles, f"{p} + {turn}"]
    b = plan.l[-1]
    plan.parameters |= {"gap": "hypot(x_gap, y_gap)", "slope": "atan2(x_gap, -y_gap)"}
    lengths = [value_of(str(x), str(x), plan.parameters) for x in (b, "last", "gap")]
    check_reach(f"link {plan.moving - 1}", lengths[0], "the last link", lengths[1], lengths[2])
    first, second = ("+", "-") if branch == "open" else ("-", "+")
    return [
        *plan.angles,
        f"slope {first} {angle_of(f'({b}**2 + gap**2 - last**2)/(2*{b}*gap)')}",
        f"slope {second} {angle_of(f'(last**2 + gap**2 - {b}**2)/(2*last*gap)')}",
    ]


def _model(
    plan: _Plan,
    name: str,
    at_start: Place,
    place: Place,
    branch: str,
    com: PerLink,
    last_mass: Scalar | None,
    last_com: Scalar | None,
    friction: PerLink,
) -> Model:
    choose("branch", branch, ("open", "crossed"))
    angles = _close(plan, at_start, branch)
    per = LinkNumbers(plan.moving - 1)
    d = [*per.names("d", com), last_com]
    rub = LinkNumbers(plan.moving)
    b = rub.names("b", friction)
    end_mass = (
        last_mass if last_mass is not None else plan.m[-1] if plan.mass_for_all else f"{plan.m[-1]}*last/{plan.l[-1]}"
    )
    masses, lengths = [*plan.m, end_mass], [*plan.l, "last"]
    joints: list[object] = []
    for i in range(plan.moving):
        above: object = "ground" if i == 0 else {"body": f"link{i}", "at": "tip"}
        pin = {"name": f"theta{i + 1}", "type": "revolute", "parent": above, "child": f"link{i + 1}"}
        joints.append(pin | {"measured_from": "ground"})
    joints.append(
        {
            "name": "end",
            "type": "coincident",
            "parent": {"body": "ground", "position": [*place, 0]},
            "child": {"body": f"link{plan.moving}", "at": "tip"},
        }
    )
    return Model(
        name=name,
        gravity=[0, "-g", 0],
        parameters={"g": 9.81} | plan.parameters | per.parameters | rub.parameters,
        bodies=[
            link_body(f"link{i + 1}", "rod", masses[i], lengths[i], d[i], None, "consistent")
            for i in range(plan.moving)
        ],
        joints=joints,
        forces=[
            {"type": "friction", "joint": f"theta{i + 1}", "coefficient": x} for i, x in enumerate(b) if x is not None
        ],
        initial={f"theta{i + 1}": x for i, x in enumerate(angles)},
    )
