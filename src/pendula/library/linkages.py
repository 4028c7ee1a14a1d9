"""Closed loops of one freedom: four bars with Grashof's classes, and the slider-crank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pendula.errors import UsageError
from pendula.library.arguments import angle_of, choose, is_one, positive, value_of
from pendula.model.base import Scalar
from pendula.model.model import Model

Branch = Literal["open", "crossed"]

_EQUAL = 1e-12
"""Relative difference below which two sums of lengths count as equal: rounding of the lengths themselves."""


def grashof(crank: Scalar, coupler: Scalar, rocker: Scalar, ground: Scalar) -> str:
    """Grashof's class of a four-bar linkage: which of its links can turn fully.

    Some link turns fully if and only if shortest + longest < sum of the other two. Then the shortest link turns
    fully against all others, so the class follows from which one is the shortest:

    - "crank-rocker": the crank; it turns while the rocker swings;
    - "rocker-crank": the rocker; it turns while the crank swings;
    - "double-crank": the ground; crank and rocker both turn;
    - "double-rocker": the coupler; crank and rocker both swing.

    With shortest + longest > the other two, all swing: "triple-rocker". With equality the links can all lie on one
    line, where the linkage may change its branch: "change-point".

    Args:
        crank, coupler, rocker, ground: lengths in the order of the loop.

    Raises:
        UsageError: a length is not positive, or one is as long as the others together: no loop can close.

    Example:
        >>> grashof(1, 2, 2.2, 2.5), grashof(1, 2, 2.2, 4)
        ('crank-rocker', 'triple-rocker')
    """
    names = ("crank", "coupler", "rocker", "ground")
    lengths = [positive(n, x) for n, x in zip(names, (crank, coupler, rocker, ground), strict=True)]
    shortest, second, third, longest = sorted(lengths)
    if longest >= shortest + second + third:
        name = names[lengths.index(longest)]
        raise UsageError(f"the loop cannot close: the {name} ({longest:g}) is as long as the other three together")
    excess = shortest + longest - second - third
    if abs(excess) <= _EQUAL * longest:
        return "change-point"
    if excess > 0:
        return "triple-rocker"
    classes = ("crank-rocker", "double-rocker", "rocker-crank", "double-crank")
    return classes[lengths.index(shortest)]


@dataclass(frozen=True)
class _Preset:
    lengths: tuple[Scalar, Scalar, Scalar, Scalar]
    start: Scalar = "60deg"
    slope: Scalar = 0


_PRESETS: Mapping[str, _Preset] = {
    "crank-rocker": _Preset((1.0, 2.0, 2.2, 2.5)),
    "pumpjack": _Preset((1.0, 2.9, 2.6, 3.7), slope="48deg"),
    "double-crank": _Preset((2.0, 2.2, 2.5, 1.0)),
    "double-rocker": _Preset((2.0, 1.0, 2.2, 2.5), start="30deg"),
    "triple-rocker": _Preset((1.0, 2.0, 2.2, 4.0)),
}


def four_bar(
    *,
    preset: Literal["crank-rocker", "pumpjack", "double-crank", "double-rocker", "triple-rocker"] = "crank-rocker",
    lengths: Sequence[Scalar] | None = None,
    branch: Branch = "open",
    start: Scalar | None = None,
    crank_rate: Scalar = 4.0,
    drive: Scalar = 0,
) -> Model:
    """Four bars in a loop: crank, coupler, rocker, ground.

    Closed forms: the loop closes where two circles meet, so coupler and rocker angles follow from the crank's
    (they are the initial values here). Which links can rotate fully depends on their lengths alone (Grashof, see
    ``library.grashof``), not by Turner's rule, section 5.4: (1, 2, 2.2, 4) and (2, 2.5, 4, 1) obey that
    rule, and their cranks do not turn.

    Args:
        preset: lengths of a class: "crank-rocker", "double-crank", "double-rocker", "triple-rocker"; or
            "pumpjack", a crank-rocker with the proportions of an oil pump: the rocker is a beam in balance about
            its pivot, above and beside the crank, and the crank has a counterweight.
        lengths: crank, coupler, rocker and ground instead of those of the preset.
        branch: which of the two ways to assemble: coupler to the left ("open") or to the right ("crossed") of the
            line from the crank's tip to the rocker's pivot.
        start: initial angle of the crank from hanging straight down; default: 60 degrees (double-rocker: 30).
        crank_rate: initial rate of the crank [rad/time]; the others follow from the loop.
        drive: Turner's driving force, eq. 58, at the crank's tip [force time/rad].
    """
    choose("preset", preset, tuple(_PRESETS))
    choose("branch", branch, ("open", "crossed"))
    chosen = _PRESETS[preset]
    a, b, c, d = _four_lengths(preset, lengths)
    description = _class_text(a, b, c, d)  # refuses lengths that never close
    parameters: dict[str, Scalar] = {"g": 9.81, "a": a, "b": b, "c": c, "d": d, "rho": 1.0}
    parameters["crank0"] = chosen.start if start is None else start
    pivot: list[Scalar] = ["d", 0]
    if chosen.slope != 0:
        parameters["ground_slope"] = chosen.slope
        pivot = ["d*cos(ground_slope)", "d*sin(ground_slope)"]
    parameters |= _meeting(pivot, parameters, branch)
    return Model(
        name="four-bar linkage" if preset != "pumpjack" else "pump jack",
        description=description,
        gravity=[0, "-g", 0],
        parameters=parameters | ({"mu": drive} if drive != 0 else {}),
        bodies=_pump_bodies() if preset == "pumpjack" else [_rod(n, l) for n, l in _NAMES],
        joints=[
            _pin("crank", "ground", "crank"),
            _pin("coupler", {"body": "crank", "at": "tip"}, "coupler"),
            _pin("rocker", {"body": "ground", "position": [*pivot, 0]}, "rocker"),
            {
                "name": "pin",
                "type": "coincident",
                "parent": {"body": "rocker", "at": "tip"},
                "child": {"body": "coupler", "at": "tip"},
            },
        ],
        forces=[{"type": "spin-drive", "body": "crank", "at": "tip", "coefficient": "mu"}] if drive != 0 else [],
        initial={"crank": "crank0", "coupler": "coupler0", "rocker": "rocker0", "crank_dot": crank_rate}
        | _rates(crank_rate),
    )


_NAMES = (("crank", "a"), ("coupler", "b"), ("rocker", "c"))


def _four_lengths(preset: str, lengths: Sequence[Scalar] | None) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    if lengths is None:
        return _PRESETS[preset].lengths
    if preset != "crank-rocker":
        raise UsageError(f'give a preset or lengths, found both: preset "{preset}" and lengths {lengths}')
    if is_one(lengths) or len(lengths) != 4:
        raise UsageError(f"lengths: crank, coupler, rocker and ground are 4 values, found {lengths!r}")
    a, b, c, d = lengths
    return a, b, c, d


def _class_text(a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> str:
    return f"Grashof class with lengths {a}, {b}, {c}, {d}: {grashof(a, b, c, d)}."


def _meeting(pivot: Sequence[Scalar], parameters: Mapping[str, Scalar], branch: Branch) -> dict[str, Scalar]:
    """Angles at which coupler (from the crank's tip) and rocker (from its pivot) meet, as parameters."""
    across = f"{pivot[0]} - a*sin(crank0)"
    up, down = "a*cos(crank0)", "-a*cos(crank0)"
    if pivot[1] != 0:
        up, down = f"{pivot[1]} + {up}", f"-{pivot[1]} - {up}"
    first, second = ("+", "-") if branch == "open" else ("-", "+")
    found: dict[str, Scalar] = {"diagonal": f"hypot({across}, {up})", "slope": f"atan2({across}, {down})"}
    known = dict(parameters) | found
    check_reach(
        "coupler", value_of("b", "b", known), "rocker", value_of("c", "c", known), value_of("", "diagonal", known)
    )
    return found | {
        "coupler0": f"slope {first} {angle_of('(b**2 + diagonal**2 - c**2)/(2*b*diagonal)')}",
        "rocker0": f"slope + pi {second} {angle_of('(c**2 + diagonal**2 - b**2)/(2*c*diagonal)')}",
    }


def check_reach(one: str, b: float, other: str, c: float, distance: float) -> None:
    """Refuses two links whose far ends cannot meet because their near ends are too far apart or too close."""
    if not abs(b - c) < distance < b + c:
        raise UsageError(
            f"the loop cannot close at this start: {one} ({b:g}) and {other} ({c:g}) start {distance:g} apart, "
            f"which must be between {abs(b - c):g} and {b + c:g}; try another start angle"
        )


def _rod(name: str, length: Scalar) -> dict[str, object]:
    return {"name": name, "rod": {"mass": f"rho*{length}", "length": length}}


def _pump_bodies() -> list[object]:
    """Crank with a counterweight for half the coupler, coupler, and a beam of twice the rocker's length."""
    crank = {
        "name": "crank",
        "mass": "2*rho*a + rho*b",
        # the arm reaches from the tip to the counterweight, whose mass is that of the coupler
        "com": [0, "a*b/(2*a + b)", 0],
        "inertia": _thin("rho*(2*a**3/3 + a**2*b - (a*b)**2/(2*a + b))"),
        "points": {"tip": [0, "-a", 0]},
        "shapes": [
            {"kind": "rod", "points": [[0, "-a", 0], [0, "a", 0]]},
            {"kind": "disc", "points": [[0, "a", 0]], "radius": "0.3*a"},
        ],
    }
    beam = {
        "name": "rocker",
        "mass": "2*rho*c",
        "inertia": _thin("2*rho*c**3/3"),
        "points": {"tip": [0, "-c", 0], "head": [0, "c", 0]},
        "shapes": [
            {"kind": "rod", "points": [[0, "-c", 0], [0, "c", 0]]},
            {"kind": "polyline", "points": _horse_head()},
        ],
    }
    return [crank, _rod("coupler", "b"), beam]


def _thin(inertia: str) -> list[Scalar]:
    """Inertia of something thin along y."""
    return [inertia, 0, inertia]


def _horse_head() -> list[list[Scalar]]:
    """An arc about the beam's pivot, from which the rod of the pump hangs."""
    return [[f"c*sin({k}deg)", f"c*cos({k}deg)", 0] for k in range(-24, 25, 8)]


def _pin(name: str, parent: object, child: str) -> dict[str, object]:
    return {"name": name, "type": "revolute", "parent": parent, "child": child, "measured_from": "ground"}


def _rates(crank_rate: Scalar) -> dict[str, Scalar]:
    """Rates of coupler and rocker for a rate of the crank, from the velocity of the pin."""
    coupler = "a*sin(crank0 - rocker0)/(b*sin(rocker0 - coupler0))"
    rocker = "a*sin(crank0 - coupler0)/(c*sin(rocker0 - coupler0))"
    return {"coupler_dot": f"({crank_rate})*{coupler}", "rocker_dot": f"({crank_rate})*{rocker}"}


def slider_crank(
    *,
    slider_mass: Scalar = 1.0,
    offset: Scalar = 0.0,
    side: Literal["right", "left"] = "right",
    start: Scalar = "120deg",
    crank_rate: Scalar = 4.0,
    drive: Scalar = 0,
) -> Model:
    """Crank, rod and a slider on a rail: a piston engine.

    Closed forms: the rail is level; with the crank at the angle q from hanging down, the slider is at
    x = r sin q +- sqrt(l^2 - (e + r cos q)^2), plus on the right side, minus on the left. The crank turns fully if
    l > r + |e|; the stroke is then sqrt((l + r)^2 - e^2) - sqrt((l - r)^2 - e^2).

    Args:
        slider_mass: mass of the slider; 0 for a massless one.
        offset: height of the rail above the crank's pivot.
        side: on which side of the crank's tip the slider starts.
        start: initial angle of the crank from hanging straight down.
        crank_rate: initial rate of the crank [rad/time]; the others follow from the loop.
        drive: Turner's driving force, eq. 58, at the crank's tip [force time/rad].
    """
    choose("side", side, ("right", "left"))
    if value_of("slider_mass", slider_mass) < 0:
        raise UsageError(f"slider_mass must not be negative, found {slider_mass}")
    parameters: dict[str, Scalar] = {"g": 9.81, "r": 1.0, "l": 3.0, "e": offset, "rho": 1.0, "M": slider_mass}
    parameters |= {"crank0": start, "rise": "e + r*cos(crank0)"}
    rise = value_of("start", "rise", parameters)
    if not abs(rise) < 3.0:
        raise UsageError(
            f"the loop cannot close at this start: the rail is {rise:g} above the crank's tip, and the rod is 3 long; "
            "try a smaller offset or another start angle"
        )
    sign = "" if side == "right" else "-"
    parameters |= {"reach": f"{sign}sqrt(l**2 - rise**2)", "rod0": "atan2(reach, -rise)"}
    # The rod's end keeps its height: r sin(crank) crank' + l sin(rod) rod' = 0.
    parameters["rod_rate0"] = f"-({crank_rate})*r*sin(crank0)/reach"
    return Model(
        name="slider-crank",
        gravity=[0, "-g", 0],
        parameters=parameters | ({"mu": drive} if drive != 0 else {}),
        bodies=[_rod("crank", "r"), _rod("rod", "l"), _slider()],
        joints=[
            _pin("crank", "ground", "crank"),
            _pin("rod", {"body": "crank", "at": "tip"}, "rod"),
            {
                "name": "x",
                "type": "prismatic",
                "axis": [1, 0, 0],
                "parent": {"body": "ground", "position": [0, "e", 0]},
                "child": "slider",
            },
            {"name": "pin", "type": "coincident", "parent": "slider", "child": {"body": "rod", "at": "tip"}},
        ],
        forces=[{"type": "spin-drive", "body": "crank", "at": "tip", "coefficient": "mu"}] if drive != 0 else [],
        initial={
            "crank": "crank0",
            "rod": "rod0",
            "x": "r*sin(crank0) + reach",
            "crank_dot": crank_rate,
            "rod_dot": "rod_rate0",
            "x_dot": f"({crank_rate})*r*cos(crank0) - rise*rod_rate0",
        },
    )


def _slider() -> dict[str, object]:
    """A block that only shifts, so its inertia does not matter."""
    shapes = [{"kind": "box", "size": ["0.5*r", "0.3*r", "0.3*r"]}]
    return {"name": "slider", "mass": "M", "shapes": shapes}
