"""Pendulums and bodies in space: ball joints, a bead on a turning hoop, a top, a body in free flight."""

from __future__ import annotations

from typing import Literal

from pendula.errors import UsageError
from pendula.model.base import Scalar
from pendula.model.model import Model


def spherical_pendulum(*, chart: Literal["angles", "xy"] = "angles") -> Model:
    """A point mass swinging in space: paper 000.

    The rod is massless; gravity is along -z.

    Closed forms: about the bottom both frequencies are sqrt(g/l) = 3.132091952673165 rad/s; conical
    motion at angle theta turns at sqrt(g/(l cos theta)); the moment of momentum about the vertical is kept.

    Args:
        chart: "angles" uses theta from the downward vertical and phi about it (singular at theta = 0);
            "xy" uses the horizontal position (regular at the bottom, singular at the equator).
    """
    if chart == "angles":
        joint: dict[str, object] = {
            "coordinates": ["theta", "phi"],
            "kinds": ["angle", "angle"],
            "position": ["l*sin(theta)*cos(phi)", "l*sin(theta)*sin(phi)", "-l*cos(theta)"],
        }
        initial: dict[str, Scalar] = {"theta": "30deg", "phi_dot": 2.0}
    elif chart == "xy":
        joint = {"coordinates": ["x", "y"], "position": ["x", "y", "-sqrt(l**2 - x**2 - y**2)"]}
        initial = {"x": "l/2", "y_dot": "l"}
    else:
        raise UsageError(f'chart is "angles" or "xy", found {chart!r}')
    return Model(
        name="spherical pendulum",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "l": 1.0, "g": 9.81},
        bodies=[{"name": "bob", "point": {"mass": "m"}}],
        joints=[{"name": "swing", "type": "coordinates", "parent": "ground", "child": "bob"} | joint],
        initial=initial,
    )


def spatial_rod(
    *,
    joint: Literal["euler", "quaternion"] = "euler",
    start: Literal["planar", "spatial"] = "planar",
    inertia_rule: Literal["consistent", "printed"] = "consistent",
) -> Model:
    """A round rod on a ball joint: paper 002.

    ZYZ angles phi, theta, psi; z points down.

    Closed forms: the planar start swings as a rod, small swings about hanging down at
    sqrt((a/2) g/(a^2/3 + d^2/16)) = 3.834 rad/s; the moment of momentum about z is kept. ZYZ angles are
    singular at theta = 0.

    Args:
        joint: ZYZ Euler angles as in the paper, or a quaternion.
        start: the paper's planar or spatial initial angles.
        inertia_rule: "consistent" uses m d^2/16 + m a^2/12 about the mass centre; "printed" uses the paper's
            m d^2/16 + m a^2/3, which is the value about the end.
    """
    angles: dict[str, list[Scalar]] = {"planar": ["90deg", "-45deg", 0], "spatial": ["-90deg", "-45deg", "-45deg"]}
    if start not in angles:
        raise UsageError(f'start is "planar" or "spatial", found {start!r}')
    share = {"consistent": "12", "printed": "3"}[inertia_rule]
    across = f"m*d**2/16 + m*a**2/{share}"
    ball: dict[str, object] = {"name": "ball", "type": "spherical", "parent": "ground", "child": "rod"}
    initial: dict[str, object] = {"ball": {"sequence": "zyz", "angles": angles[start]}}
    if joint == "euler":
        ball |= {"euler": "zyz", "names": ["phi", "theta", "psi"]}
        initial = dict(zip(("phi", "theta", "psi"), angles[start], strict=True))
    return Model(
        name="spatial rod",
        gravity=[0, 0, "g"],
        parameters={"m": 2.5, "a": 1.0, "d": 0.02, "g": 9.8},
        bodies=[
            {
                "name": "rod",
                "mass": "m",
                "com": ["a/2", 0, 0],
                "inertia": ["m*d**2/8", across, across],
                "points": {"tip": ["a", 0, 0]},
                "shapes": [{"kind": "rod", "points": [[0, 0, 0], ["a", 0, 0]], "radius": "d/2"}],
            }
        ],
        joints=[ball],
        initial=initial,
    )


def hoop_bead() -> Model:
    """A bead in a turning hoop: paper 001, example 1.

    The hoop turns at a constant rate about its vertical diameter.

    Closed forms: theta'' + (c/m) theta' - Omega^2 sin(theta) cos(theta) + (g/r) sin(theta) = 0 (eq. 5). Rest at
    0 and pi, and at +-acos(g/(r Omega^2)) when Omega^2 > g/r (60.63 deg for the data here).
    With c = 0 the Jacobi integral m r^2 theta'^2/2 - m r^2 Omega^2 sin^2(theta)/2 - m g r cos(theta) is kept.
    """
    return Model(
        name="bead on a turning hoop",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "r": 1.0, "g": 9.81, "Omega": "sqrt(20)", "c": 0.2},
        bodies=[
            {
                "name": "hoop",
                "mass": 0,
                "shapes": [{"kind": "ring", "points": [[0, 0, 0]], "normal": [0, 1, 0], "radius": "r"}],
            },
            {"name": "bead", "point": {"mass": "m"}},
        ],
        joints=[
            {
                "name": "spin",
                "type": "revolute",
                "axis": [0, 0, 1],
                "parent": "ground",
                "child": "hoop",
                "motion": "Omega*t",
            },
            {
                "name": "slide",
                "type": "coordinates",
                "coordinates": ["theta"],
                "kinds": ["angle"],
                "position": ["r*sin(theta)", 0, "-r*cos(theta)"],
                "parent": "hoop",
                "child": "bead",
            },
        ],
        forces=[{"type": "generalized", "name": "friction", "coordinate": "theta", "value": "-c*r**2*theta_dot"}],
        initial={"theta": "20deg"},
    )


def free_body() -> Model:
    """A box in free flight, turning about its middle axis.

    Nearly about it, and that turn is unstable.

    Closed forms: momentum, moment of momentum about the mass centre and kinetic energy are kept; the mass
    centre moves straight; Euler's equations hold for the angular velocity in body axes.
    """
    return Model(
        name="free body",
        gravity=[0, 0, 0],
        parameters={"m": 2.0, "a": 1.0, "b": 0.6, "h": 0.2},
        bodies=[{"name": "box", "box": {"mass": "m", "size": ["a", "b", "h"]}}],
        joints=[{"name": "box", "type": "free", "parent": "ground", "child": "box"}],
        initial={"box_wx": 0.01, "box_wy": 5.0, "box_wz": 0.01, "box_x_dot": 0.1},
    )


def heavy_top() -> Model:
    """A spinning top on a ball joint, by quaternion.

    Closed forms: moments of momentum about the vertical and about the top's own axis are kept; steady
    precession at angle theta has the rates Omega that solve I1 cos(theta) Omega^2 - I3 w3 Omega + m g l = 0,
    with I1 about the support and w3 the angular velocity about the own axis.
    """
    return Model(
        name="heavy top",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "l": 0.5, "r": 0.4, "g": 9.81},
        bodies=[
            {
                "name": "top",
                "mass": "m",
                "com": [0, 0, "l"],
                "inertia": ["m*r**2/4", "m*r**2/4", "m*r**2/2"],
                "points": {"tip": [0, 0, "l"]},
                "shapes": [
                    {"kind": "rod", "points": [[0, 0, 0], [0, 0, "1.3*l"]]},
                    {"kind": "disc", "points": [[0, 0, "l"]], "radius": "r"},
                ],
            }
        ],
        joints=[{"name": "pivot", "type": "spherical", "parent": "ground", "child": "top"}],
        initial={"pivot": {"axis": [0, 1, 0], "angle": "25deg"}, "pivot_wz": 60.0},
    )
