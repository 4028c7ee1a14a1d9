"""Pendulums of several links in space, and a pendulum on turning ground."""

from __future__ import annotations

from typing import Literal

from pendula.library.arguments import choose, whole
from pendula.model.base import Scalar
from pendula.model.checks.checks import LARGEST_MODEL
from pendula.model.model import Model


def spatial_chain(
    *, links: int = 2, joint: Literal["ball", "universal"] = "ball", length: Scalar = 1.0, mass: Scalar = 1.0
) -> Model:
    """A chain of rods in space, on ball or universal joints.

    Round rods hang down, each from the end of the one before.

    Closed forms: about hanging down, motions in two vertical planes are independent, each with the frequencies of
    the chain of rods in the plane (with the rods' inertia m l^2/12 + m d^2/16 about their centres); the angular
    momentum of a rod on ball joints about its own axis is conserved, and so is that of the whole about the vertical.

    Args:
        links: number of rods.
        joint: ball joints by quaternion, or universal joints, which prevent spin about the rod before.
        length, mass: of each rod.
    """
    whole("links", links, 1, LARGEST_MODEL)
    choose("joint", joint, ("ball", "universal"))
    bodies, joints = [], []
    for k in range(1, links + 1):
        rod = {"mass": "m", "length": "l", "axis": [0, 0, -1], "diameter": "d"}
        bodies.append({"name": f"rod{k}", "rod": rod})
        above: object = "ground" if k == 1 else {"body": f"rod{k - 1}", "at": "end"}
        kind = "spherical" if joint == "ball" else "universal"
        joints.append({"name": f"joint{k}", "type": kind, "parent": above, "child": f"rod{k}"})
    if joint == "ball":
        initial: dict[str, object] = {"joint1": {"axis": [1, 0, 0], "angle": "40deg"}, "joint1_wy": 1.5}
    else:
        initial = {"joint1_1": "40deg", "joint1_2_dot": 1.5}
    return Model(
        name=f"spatial chain of {links} rod{'s' if links > 1 else ''}",
        gravity=[0, 0, "-g"],
        parameters={"m": mass, "l": length, "d": 0.05, "g": 9.81},
        bodies=bodies,
        joints=joints,
        initial=initial,
    )


def double_spherical_pendulum(*, chart: Literal["angles", "xy"] = "angles") -> Model:
    """Two point masses in space, one hanging from the other.

    Closed forms: small motion in each vertical plane is that of the double pendulum of two point masses; in steady
    conical motion at the rate W with both rods in one vertical plane, (m1 + m2) g tan(theta1) = W^2 ((m1 + m2) l1
    sin(theta1) + m2 l2 sin(theta2)) and g tan(theta2) = W^2 (l1 sin(theta1) + l2 sin(theta2)) (Marsden and Scheurle
    1993, ZAMP 44, section 4); the angular momentum about the vertical is conserved.

    Args:
        chart: "angles" uses theta1, theta2 from the downward vertical and phi1, phi2 about it (singular at zero);
            "xy" uses horizontal positions, of the second mass relative to the first (regular there).
    """
    choose("chart", chart, ("angles", "xy"))
    joints: list[object] = []
    initial: dict[str, object] = {}
    for k, parent in ((1, "ground"), (2, "bob1")):
        rod = f"l{k}"
        joint: dict[str, object] = {"name": f"swing{k}", "type": "coordinates", "parent": parent, "child": f"bob{k}"}
        if chart == "angles":
            a, b = f"theta{k}", f"phi{k}"
            place = [f"{rod}*sin({a})*cos({b})", f"{rod}*sin({a})*sin({b})", f"-{rod}*cos({a})"]
            joint |= {"coordinates": [a, b], "kinds": ["angle", "angle"]}
            initial |= {a: "40deg" if k == 1 else "60deg", f"{b}_dot": 2.0 + k}
        else:
            a, b = f"x{k}", f"y{k}"
            place = [a, b, f"-sqrt({rod}**2 - {a}**2 - {b}**2)"]
            joint |= {"coordinates": [a, b]}
            initial |= {a: f"{rod}/2", f"{b}_dot": f"{rod}"}
        joints.append(joint | {"position": place})
    return Model(
        name="double spherical pendulum",
        gravity=[0, 0, "-g"],
        parameters={"m1": 1.0, "m2": 0.5, "l1": 1.0, "l2": 0.7, "g": 9.81},
        bodies=[{"name": f"bob{k}", "point": {"mass": f"m{k}"}} for k in (1, 2)],
        joints=joints,
        initial=initial,
    )


def foucault(*, latitude: Scalar = "45deg", rate: Scalar = 0.05) -> Model:
    """A pendulum on turning ground: Foucault's.

    x and y are horizontal positions relative to ground, which turns about the vertical at rate*sin(latitude); the
    other component of the Earth's rotation changes the motion only in second order. The ground turns faster than the
    Earth (7.2921e-5 rad/s), so that its effect is visible in a short run.

    Closed forms, for small swings with W = rate*sin(latitude), released from x = a at rest relative to ground:
    x + i y = a exp(-i W t) (cos(w t) + i (W/w) sin(w t)), w = sqrt(g/l): the plane of swing turns at -W (Landau and
    Lifshitz, Mechanics, section 39, problem 3, where w^2 + W^2 is replaced by w^2).

    Args:
        latitude: geographical latitude.
        rate: rate of rotation of the ground [rad/time].
    """
    return Model(
        name="Foucault pendulum",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "l": 1.0, "g": 9.81, "latitude": latitude, "rate": rate},
        bodies=[
            {"name": "floor", "mass": 0, "shapes": [{"kind": "ring", "points": [[0, 0, "-l"]], "radius": "l/3"}]},
            {"name": "bob", "point": {"mass": "m"}},
        ],
        joints=[
            {
                "name": "turn",
                "type": "revolute",
                "axis": [0, 0, 1],
                "parent": "ground",
                "child": "floor",
                "motion": "rate*sin(latitude)*t",
            },
            {
                "name": "swing",
                "type": "coordinates",
                "coordinates": ["x", "y"],
                "position": ["x", "y", "-sqrt(l**2 - x**2 - y**2)"],
                "parent": "floor",
                "child": "bob",
            },
        ],
        initial={"x": "l/10"},
    )
