"""Pendulums and bodies in space: ball joints, a bead on a turning hoop, a top, a body in free flight."""

from __future__ import annotations

from typing import Literal

from pendula.errors import UsageError
from pendula.library.arguments import choose
from pendula.model.base import Scalar
from pendula.model.model import Model


def spherical_pendulum(
    *, kind: Literal["point", "rod"] = "point", chart: Literal["angles", "xy", "quaternion"] = "angles"
) -> Model:
    """A point mass or a rod in space: IFToMM benchmark.

    The rod of a point mass is massless; gravity is along -z.

    Closed forms for a point mass: about the bottom both frequencies are sqrt(g/l) = 3.132091952673165 rad/s; conical
    motion at angle theta turns at sqrt(g/(l cos theta)); the angular momentum about the vertical is conserved.
    For a rod the length of the equivalent pendulum takes the place of l: 2 l/3 if it is thin.

    Args:
        kind: a point mass at distance l, or a uniform rod of length l. With a quaternion the rod is round, of diameter
            d, and its angular momentum about its own axis is also conserved.
        chart: "angles" uses theta from the downward vertical and phi about it (singular at theta = 0);
            "xy" uses the horizontal position of a point mass (regular at the bottom, singular at the equator);
            "quaternion" puts a rod on a ball joint (regular everywhere).
    """
    choose("kind", kind, ("point", "rod"))
    choose("chart", chart, ("angles", "xy", "quaternion"))
    if kind == "rod":
        return _swinging_rod(chart)
    if chart == "quaternion":
        raise UsageError('chart "quaternion" needs a body with inertia about every axis; try kind="rod"')
    joint: dict[str, object] = {
        "coordinates": ["theta", "phi"],
        "kinds": ["angle", "angle"],
        "position": ["l*sin(theta)*cos(phi)", "l*sin(theta)*sin(phi)", "-l*cos(theta)"],
    }
    initial: dict[str, Scalar] = {"theta": "30deg", "phi_dot": 2.0}
    if chart == "xy":
        joint = {"coordinates": ["x", "y"], "position": ["x", "y", "-sqrt(l**2 - x**2 - y**2)"]}
        initial = {"x": "l/2", "y_dot": "l"}
    return Model(
        name="spherical pendulum",
        gravity=[0, 0, "-g"],
        parameters={"m": 1.0, "l": 1.0, "g": 9.81},
        bodies=[{"name": "bob", "point": {"mass": "m"}}],
        joints=[{"name": "swing", "type": "coordinates", "parent": "ground", "child": "bob"} | joint],
        initial=initial,
    )


def _swinging_rod(chart: str) -> Model:
    """A uniform rod, thin on a universal joint about the vertical first, or round on a ball joint."""
    if chart == "xy":
        raise UsageError('chart "xy" needs a point mass; try chart="quaternion", which is regular at the bottom')
    joint: dict[str, object] = {"name": "swing", "parent": "ground", "child": "rod"}
    rod: dict[str, object] = {"mass": "m", "length": "l", "axis": [0, 0, -1]}
    parameters: dict[str, Scalar] = {"m": 1.0, "l": 1.0, "g": 9.81}
    if chart == "angles":
        joint |= {"type": "universal", "sequence": "zy", "names": ["phi", "theta"]}
        initial: dict[str, object] = {"theta": "30deg", "phi_dot": 2.0}
    else:
        joint |= {"type": "spherical"}
        rod |= {"diameter": "d"}
        parameters["d"] = 0.05
        initial = {"swing": {"axis": [0, 1, 0], "angle": "30deg"}, "swing_wx": 1.0}
    return Model(
        name="spherical pendulum",
        gravity=[0, 0, "-g"],
        parameters=parameters,
        bodies=[{"name": "rod", "rod": rod}],
        joints=[joint],
        initial=initial,
    )


def spatial_rod(
    *,
    orientation: str = "zyz",
    speeds: Literal["rates", "body", "parent"] | None = None,
    start: Literal["planar", "spatial"] = "planar",
    inertia_rule: Literal["consistent", "printed"] = "consistent",
) -> Model:
    """A round rod on a ball joint: Gupta and Saha.

    ZYZ angles phi, theta, psi; z points down.

    Closed forms: the planar start swings as a rod, small swings about hanging down at
    sqrt((a/2) g/(a^2/3 + d^2/16)) = 3.834 rad/s; the angular momentum about z is conserved. ZYZ angles are
    singular at theta = 0.

    Args:
        orientation: the coordinates of the ball joint: "zyz" as in the paper, any other sequence about body-fixed
            ("xyz") or fixed axes ("space xyz"), "rotation vector" or "quaternion".
        speeds: its generalized speeds: "rates" of the coordinates, or the angular velocity in "body" axes or in those
            of the "parent" side.
        start: the paper's planar or spatial initial angles.
        inertia_rule: "consistent" uses m d^2/16 + m a^2/12 about the mass centre; "printed" uses the paper's
            m d^2/16 + m a^2/3, which is the value about the end.
    """
    choose("start", start, ("planar", "spatial"))
    choose("inertia_rule", inertia_rule, ("consistent", "printed"))
    angles: dict[str, list[Scalar]] = {"planar": ["90deg", "-45deg", 0], "spatial": ["-90deg", "-45deg", "-45deg"]}
    across = f"m*d**2/16 + m*a**2/{12 if inertia_rule == 'consistent' else 3}"
    ball: dict[str, object] = {"name": "ball", "type": "spherical", "parent": "ground", "child": "rod"}
    initial: dict[str, object] = {"ball": {"sequence": "zyz", "angles": angles[start]}}
    ball |= {"orientation": orientation, "speeds": speeds} if speeds else {"orientation": orientation}
    if orientation == "zyz":
        ball["names"] = ["phi", "theta", "psi"]
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
    """A bead in a turning hoop: Kamman, unit 8, example 1.

    The hoop turns at a constant rate about its vertical diameter.

    Closed forms: theta'' + (c/m) theta' - Omega^2 sin(theta) cos(theta) + (g/r) sin(theta) = 0 (eq. 5). Equilibria at
    0 and pi, and at +-acos(g/(r Omega^2)) when Omega^2 > g/r (60.63 deg for the data here).
    With c = 0 the Jacobi integral m r^2 theta'^2/2 - m r^2 Omega^2 sin^2(theta)/2 - m g r cos(theta) is conserved.
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

    It starts with a small deviation from a rotation about the axis of intermediate inertia, which is unstable.

    Closed forms: momentum, angular momentum about the mass centre and kinetic energy are conserved; the mass centre
    moves on a straight line; Euler's equations hold for the angular velocity in body axes.
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

    Closed forms: the angular momenta about the vertical and about the top's axis are conserved; steady precession at
    angle theta has the rates Omega that solve I1 cos(theta) Omega^2 - I3 w3 Omega + m g l = 0, with I1 about the
    support and w3 the angular velocity about the top's axis.
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
