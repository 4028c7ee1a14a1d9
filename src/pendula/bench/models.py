"""The pendulum of the IFToMM benchmark in four kinds of coordinates, and a harder companion: two in a row."""

from __future__ import annotations

from typing import Any

from pendula.library.spatial import spherical_pendulum
from pendula.model.model import Model

COMPANION = {"m1": 1.0, "m2": 0.3, "l1": 1.0, "l2": 0.37, "g": 9.81, "c1": 0.2, "c2": 0.05, "cd": 0.4}
"""masses [kg], lengths [m], gravity [m/s^2] and damping [N s/m]: of bob 1, between the bobs, of bob 2 in one
direction"""
DIRECTION = ("sqrt(3)/2", "1/2")
"""horizontal direction of the last damper: it couples what swings along x with what swings along y"""


def in_angles() -> Model:
    """Angles (theta, phi), which are singular at the bottom."""
    return spherical_pendulum(chart="angles")


def in_xy() -> Model:
    """The horizontal position (x, y)."""
    return spherical_pendulum(chart="xy")


def in_xyz() -> Model:
    """The position (x, y, z), tied to the tip of a massless rod: three constraint rows."""
    return Model(
        name="spherical pendulum in xyz",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "l": 1.0, "g": 9.81},
        bodies=[_bob("bob", "m"), _rod("rod", "l")],
        joints=[_free("bob", ""), _hinge("hinge", "ground", "rod"), _tie("tie", "rod", "bob")],
        initial={"z": "-l"},
    )


def on_ball_joint() -> Model:
    """A round uniform rod of the same frequency on a ball joint by quaternion; turning about itself is free.

    g (a/2) / (a^2/3 + d^2/16) = g/l for the length a that is given here; d is its diameter.
    """
    across = "m*d**2/16 + m*a**2/12"
    return Model(
        name="rod on a ball joint",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "l": 1.0, "g": 9.81, "d": 0.1, "a": "3/4*(l + sqrt(l**2 - d**2/3))"},
        bodies=[{"name": "rod", "mass": "m", "com": [0, 0, "-a/2"], "inertia": [across, across, "m*d**2/8"]}],
        joints=[{"name": "ball", "type": "spherical", "parent": "ground", "child": "rod"}],
    )


def companion_in_xy() -> Model:
    """The companion in horizontal positions: of bob 1, and of bob 2 from bob 1."""
    u, w = DIRECTION
    along = f"(({u})*(x1_dot + x2_dot) + ({w})*(y1_dot + y2_dot))"
    return Model(
        name="damped double spherical pendulum",
        gravity=[0, 0, "-g"],
        parameters=COMPANION,
        bodies=[_bob("bob1", "m1"), _bob("bob2", "m2")],
        joints=[_chart("swing1", "ground", "bob1", "1"), _chart("swing2", "bob1", "bob2", "2")],
        forces=_dampers("x2_dot", "y2_dot", along),
    )


def companion_in_xyz() -> Model:
    """The companion in positions (x, y, z) of both bobs, tied to massless rods: six constraint rows."""
    u, w = DIRECTION
    return Model(
        name="damped double spherical pendulum in xyz",
        gravity=[0, 0, "-g"],
        parameters=COMPANION,
        bodies=[_bob("bob1", "m1"), _bob("bob2", "m2"), _rod("rod1", "l1"), _rod("rod2", "l2")],
        joints=[
            _free("bob1", "1"),
            _free("bob2", "2"),
            _hinge("hinge1", "ground", "rod1"),
            _hinge("hinge2", "bob1", "rod2"),
            _tie("tie1", "rod1", "bob1"),
            _tie("tie2", "rod2", "bob2"),
        ],
        forces=_dampers("(x2_dot - x1_dot)", "(y2_dot - y1_dot)", f"(({u})*x2_dot + ({w})*y2_dot)"),
        initial={"z1": "-l1", "z2": "-l1 - l2"},
    )


def _dampers(x: str, y: str, along: str) -> list[dict[str, Any]]:
    """Horizontal dampers: of bob 1, between the bobs (whose relative speeds are x and y), of bob 2 in one direction."""
    u, w = DIRECTION
    return [
        _push("bob1", "-c1*x1_dot", "-c1*y1_dot"),
        _push("bob1", f"c2*{x}", f"c2*{y}"),
        _push("bob2", f"-c2*{x}", f"-c2*{y}"),
        _push("bob2", f"-cd*({u})*{along}", f"-cd*({w})*{along}"),
    ]


def _push(body: str, x: str, y: str) -> dict[str, Any]:
    return {"type": "force", "body": body, "vector": [x, y, 0]}


def _bob(name: str, mass: str) -> dict[str, Any]:
    return {"name": name, "point": {"mass": mass}}


def _rod(name: str, length: str) -> dict[str, Any]:
    return {"name": name, "mass": 0, "points": {"tip": [0, 0, f"-{length}"]}}


def _chart(name: str, parent: str, child: str, number: str) -> dict[str, Any]:
    x, y, length = f"x{number}", f"y{number}", f"l{number}"
    position = [x, y, f"-sqrt({length}**2 - {x}**2 - {y}**2)"]
    return _joint(name, "coordinates", parent, child) | {"coordinates": [x, y], "position": position}


def _free(body: str, number: str) -> dict[str, Any]:
    names = [f"{axis}{number}" for axis in "xyz"]
    return _joint(f"{body}_position", "coordinates", "ground", body) | {"coordinates": names, "position": names}


def _hinge(name: str, parent: str, child: str) -> dict[str, Any]:
    return _joint(name, "universal", parent, child)


def _tie(name: str, rod: str, body: str) -> dict[str, Any]:
    return {"name": name, "type": "coincident", "parent": {"body": rod, "at": "tip"}, "child": body}


def _joint(name: str, kind: str, parent: str, child: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "parent": parent, "child": child}
