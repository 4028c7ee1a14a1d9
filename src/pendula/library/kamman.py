"""Mechanisms of the exercises of Kamman, unit 8, with its data in feet, slugs and seconds."""

from __future__ import annotations

from typing import Literal

from pendula.library.arguments import choose
from pendula.library.pendulums import two_bars
from pendula.model.base import Scalar
from pendula.model.model import Model

Turn = Literal["steady", "free"]


def piston_bar() -> Model:
    """A bar, piston and slider: Kamman, unit 8, ex. 8.1.

    The piston slides on the vertical and carries the upper end of the bar; the massless slider moves on the level and
    carries the lower end; theta is the bar's angle from the vertical. The weights of piston and bar and the force F
    push down; the spring and the damper hold the slider. One coordinate determines all poses: the piston is a point
    mass at the bar's upper end, and the spring is fixed to a wall beside the slider's rail.

    Closed forms: (m l^2/3 + m_p l^2 sin^2(theta)) theta'' + m_p l^2 sin(theta) cos(theta) theta'^2
    + c l^2 cos^2(theta) theta' + k l^2 sin(theta) cos(theta) - (m_p g + m g/2 + F) l sin(theta) = 0.
    Equilibria at 0 and pi, and at +-acos((m_p g + m g/2 + F)/(k l)) where that exists: for k > 22.5 lb/ft, where
    theta = 0 is stable. The paper's second choice, k = 25, gives +-25.8419 deg.
    """
    end: list[Scalar] = [0, "-l", 0]
    return Model(
        name="bar with piston and slider",
        units="ft-slug-s",
        gravity=[0, "-g", 0],
        parameters={"g": 32.2, "m": "4/g", "m_p": "3/g", "l": 2.0, "k": 15.0, "c": 0.2, "F0": 40.0},
        inputs={"F": "F0"},
        bodies=[
            {"name": "bar", "rod": {"mass": "m", "length": "l"}},
            {
                "name": "piston",
                "point": {"mass": "m_p"},
                "shapes": [{"kind": "point", "points": [[0, 0, 0]], "radius": "l/15"}],
            },
        ],
        joints=[
            {
                "name": "guide",
                "type": "coordinates",
                "coordinates": ["theta"],
                "kinds": ["angle"],
                "position": [0, "l*cos(theta)", 0],
                "rotation": {"axis": [0, 0, 1], "angle": "theta"},
                "parent": "ground",
                "child": "bar",
            },
            {"name": "pin", "type": "fixed", "parent": "bar", "child": "piston"},
        ],
        forces=[
            {"type": "force", "name": "push", "body": "piston", "at": "com", "vector": [0, "-F", 0]},
            {
                "type": "spring",
                "name": "slider spring",
                "from": {"body": "ground", "position": ["-2*l", 0, 0]},
                "to": {"body": "bar", "position": end},
                "stiffness": "k",
                "damping": "c",
                "length": "2*l",
            },
        ],
        initial={"theta": "5deg"},
    )


def spring_mass_bar() -> Model:
    """A sprung mass with a bar: Kamman, unit 8, ex. 8.2.

    The force F = F0 sin(omega t) drives the mass. The paper gives no amplitude, frequency or damping: here F0 and c
    are 0 until they are set, and omega is our choice.

    Closed forms: (m1 + m2) x'' + (m2 l/2) cos(theta) theta'' - (m2 l/2) sin(theta) theta'^2 + c x' + k x = F and
    (m2 l^2/3) theta'' + (m2 l/2) cos(theta) x'' + (m2 g l/2) sin(theta) = 0. Undamped frequencies about hanging
    are 4.89 and 29.44 rad/s.
    """
    return Model(
        name="mass on a spring with a bar",
        units="ft-slug-s",
        gravity=[0, "-g", 0],
        parameters={
            "g": 32.2,
            "m1": "10/g",
            "m2": "5/g",
            "l": 2.0,
            "k": 300.0,
            "c": 0.0,
            "F0": 0.0,
            "omega": 20.0,
        },
        inputs={"F": "F0*sin(omega*t)"},
        bodies=[
            {"name": "mass", "box": {"mass": "m1", "size": ["l/4", "l/8", "l/8"]}},
            {"name": "bar", "rod": {"mass": "m2", "length": "l"}},
        ],
        joints=[
            {"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "mass"},
            {"name": "theta", "type": "revolute", "parent": "mass", "child": "bar"},
        ],
        forces=[
            {"type": "spring", "joint": "x", "stiffness": "k", "damping": "c"},
            {"type": "generalized", "name": "push", "coordinate": "x", "value": "F"},
        ],
        initial={"x": 0.05, "theta": "20deg"},
    )


def shaft_bar(*, turn: Turn = "steady") -> Model:
    """A bar pinned to a shaft: Kamman, unit 8, ex. 8.3.

    The shaft turns about the vertical by phi, and the bar is pinned to it at its mass centre; theta is its angle from
    the shaft. The inputs M_phi and M_theta are motor torques. The paper gives no numbers; the data are our choice.

    Closed forms: (m_s r^2/2 + m l^2/12 sin^2(theta)) phi'' + (m l^2/6) sin(theta) cos(theta) theta' phi' = M_phi and
    (m l^2/12) (theta'' - sin(theta) cos(theta) phi'^2) = M_theta. In steady rotation without M_theta, there are
    equilibria at 0 and pi (unstable) and at +-90 deg (stable, with the frequency Omega).

    Args:
        turn: "steady" prescribes phi = Omega t; "free" leaves phi free, to be driven by M_phi.
    """
    shaft: dict[str, object] = {
        "name": "shaft",
        "disc": {"mass": "m_s", "radius": "r"},
        "shapes": [{"kind": "rod", "points": [[0, 0, "-l/2"], [0, 0, "l/2"]], "radius": "r"}],
    }
    bar: dict[str, object] = {"name": "bar", "rod": {"mass": "m", "length": "l", "axis": [0, 0, 1]}}
    pin: dict[str, object] = {"name": "theta", "type": "revolute", "axis": [0, 1, 0], "parent": "shaft"}
    return _turned(
        "bar pinned through a shaft",
        {"g": 32.2, "m": "5/g", "l": 2.0, "m_s": "10/g", "r": 0.25, "Omega": "4*pi"},
        [shaft, bar],
        pin | {"child": {"body": "bar", "at": "center"}},
        [],
        turn,
    )


def disc_bar(*, turn: Turn = "steady") -> Model:
    """A sprung bar on a disc: Kamman, unit 8, ex. 8.4.

    The disc turns about the vertical by phi; the bar hangs from a pin at the distance b from the axis and swings
    outward by theta against a spring-damper. The inputs M_phi and M_theta are motor torques. Mass and radius of the
    disc are our choice; they matter only when phi is free.

    Closed forms: (m l^2/3) theta'' - ((m b l/2) cos(theta) + (m l^2/3) sin(theta) cos(theta)) phi'^2 + c theta'
    + k theta + (m g l/2) sin(theta) = M_theta and
    (m_d R^2/2 + m (b + l/2 sin(theta))^2 + m l^2/12 sin^2(theta)) phi''
    + (m b l cos(theta) + 2/3 m l^2 sin(theta) cos(theta)) theta' phi' = M_phi. In steady rotation at 4 pi
    rad/s, there are equilibria at 0 (unstable) and at +-58.6915 deg (stable).

    Args:
        turn: "steady" prescribes phi = Omega t; "free" leaves phi free, to be driven by M_phi.
    """
    disc: dict[str, object] = {"name": "disc", "disc": {"mass": "m_d", "radius": "R"}}
    bar: dict[str, object] = {"name": "bar", "rod": {"mass": "m", "length": "l", "axis": [0, 0, -1]}}
    pin: dict[str, object] = {"name": "theta", "type": "revolute", "axis": [1, 0, 0], "child": "bar"}
    return _turned(
        "bar with a spring on a disc",
        {
            "g": 32.2,
            "m": "5/g",
            "l": 2.0,
            "b": 0.0,
            "k": 10.0,
            "c": 0.5,
            "m_d": "10/g",
            "R": 1.0,
            "Omega": "4*pi",
        },
        [disc, bar],
        pin | {"parent": {"body": "disc", "position": [0, "b", 0]}},
        [{"type": "torsion-spring", "joint": "theta", "stiffness": "k", "damping": "c"}],
        turn,
    )


def _turned(
    name: str,
    parameters: dict[str, Scalar],
    bodies: list[dict[str, object]],
    pin: dict[str, object],
    forces: list[dict[str, object]],
    turn: Turn,
) -> Model:
    """Two bodies, the first turning about the vertical at a constant rate or freely, the second pinned to it."""
    choose("turn", turn, ("steady", "free"))
    steady = turn == "steady"
    axle = {"name": "phi", "type": "revolute", "axis": [0, 0, 1], "parent": "ground", "child": bodies[0]["name"]}
    motors = ["theta"] if steady else ["phi", "theta"]
    torques = [{"type": "generalized", "name": f"motor {x}", "coordinate": x, "value": f"M_{x}"} for x in motors]
    return Model(
        name=name,
        units="ft-slug-s",
        gravity=[0, 0, "-g"],
        parameters=parameters,
        inputs={f"M_{x}": 0 for x in motors},
        bodies=bodies,
        joints=[axle | ({"motion": "Omega*t"} if steady else {}), pin],
        forces=[*forces, *torques],
        initial={"theta": "20deg"} | ({} if steady else {"phi_dot": "Omega"}),
    )


def inverted_double_pendulum() -> Model:
    """Two bars upright on springs: Kamman, unit 8, ex. 8.5.

    The double pendulum of its examples turned upside down: angles from straight up, with the same data.

    Closed forms: the equations of the double pendulum with g replaced by -g. Upright and undamped, the natural
    frequencies are 20.8646 and 94.0854 rad/s; with k1 = 100 and k2 = 5 the upright position is unstable.
    """
    return two_bars("inverted double pendulum", up=True)
