"""Planar pendulums: one link, two links, any number of links, and one on a cart."""

from __future__ import annotations

from typing import Literal

from pendula.library.arguments import LinkNumbers, PerLink, choose, for_each, whole
from pendula.model.base import Scalar
from pendula.model.checks.checks import LARGEST_MODEL
from pendula.model.model import Model


def pendulum(*, kind: Literal["rod", "point"] = "rod", friction: Scalar = 0, start: Scalar = "90deg") -> Model:
    """One link swinging in the plane.

    Closed forms: the frequency of small swings is sqrt(3 g/(2 l)) for a rod and sqrt(g/l) for a point
    mass; the period from rest at angle A is 4 K(sin(A/2)) divided by that frequency, with K the complete
    elliptic integral of the first kind.

    Args:
        kind: a uniform rod, or a point mass at the end of a massless link.
        friction: viscous friction in the pivot [torque time/rad].
        start: initial angle from hanging straight down.
    """
    choose("kind", kind, ("rod", "point"))
    body: dict[str, object] = {"name": "link", "rod": {"mass": "m", "length": "l"}}
    if kind == "point":
        body = point_link("link", "m", "l")
    forces = [{"type": "friction", "joint": "theta", "coefficient": "c"}] if friction != 0 else []
    parameters: dict[str, Scalar] = {"m": 1.0, "l": 1.0, "g": 9.81}
    if friction != 0:
        parameters["c"] = friction
    return Model(
        name="pendulum",
        gravity=[0, "-g", 0],
        parameters=parameters,
        bodies=[body],
        joints=[{"name": "theta", "type": "revolute", "parent": "ground", "child": "link"}],
        forces=forces,
        initial={"theta": start},
    )


def point_link(name: str, mass: Scalar, length: Scalar, com: Scalar | None = None) -> dict[str, object]:
    """A massless link with a point mass at its end (or at ``com``)."""
    tip = [0, f"-({length})", 0]
    place = tip if com is None else [0, f"-({com})", 0]
    shapes = [{"kind": "rod", "points": [[0, 0, 0], tip]}, {"kind": "point", "points": [place]}]
    return {"name": name, "point": {"mass": mass, "at": place}, "points": {"tip": tip}, "shapes": shapes}


def chain(
    *,
    links: int = 10,
    kind: Literal["rod", "point"] = "rod",
    mass: PerLink = 1.0,
    length: PerLink = 1.0,
    com: PerLink = None,
    inertia: PerLink = None,
    inertia_rule: Literal["consistent", "printed"] = "consistent",
    stiffness: PerLink = None,
    damping: PerLink = None,
    friction: PerLink = None,
    com_friction: PerLink = None,
    coordinates: Literal["absolute", "relative"] = "absolute",
    start: PerLink = "90deg",
) -> Model:
    """A pendulum of any number of links: Turner.

    Nominal in the paper: 10 rods of 1 m and 1 kg, from 90 degrees.

    Closed forms: 2^n equilibria without springs; as n grows, the frequencies of a hanging chain of length L
    approach j/2 sqrt(g/L) with j the zeros of the Bessel function J0.

    Args:
        links: number of links.
        kind: uniform rods, or point masses at the ends of massless links.
        mass, length: one value for all links, or a list.
        com: distance of each mass centre from the upper end; default: the middle of a rod.
        inertia: about the mass centre; default: by ``inertia_rule``.
        inertia_rule: "consistent" gives m d (L - d)/3 for a mass centre at d; "printed" gives
            m (L^2 - 2 L d + 2 d^2)/6 of Turner, eq. 5, which holds only at d = L/2.
        stiffness, damping: torsion spring and damper in each joint.
        friction: viscous friction in each joint.
        com_friction: Turner's friction, eq. 25, at each mass centre.
        coordinates: angles from the vertical, or each from the link before.
        start: initial angle of every link from hanging straight down.
    """
    whole("links", links, 1, LARGEST_MODEL)
    choose("kind", kind, ("rod", "point"))
    choose("inertia_rule", inertia_rule, ("consistent", "printed"))
    choose("coordinates", coordinates, ("absolute", "relative"))
    per = LinkNumbers(links)
    m, l, d, J = (per.names(s, x) for s, x in (("m", mass), ("l", length), ("d", com), ("J", inertia)))
    k, c, b, mu = (
        per.names(s, x) for s, x in (("k", stiffness), ("c", damping), ("b", friction), ("mu", com_friction))
    )
    angles = for_each("start", start, links)
    bodies: list[object] = []
    joints: list[object] = []
    forces: list[dict[str, object]] = []
    for i in range(links):
        name, joint = f"link{i + 1}", f"theta{i + 1}"
        bodies.append(link_body(name, kind, m[i], l[i], d[i], J[i], inertia_rule))
        above: object = "ground" if i == 0 else {"body": f"link{i}", "at": "tip"}
        frame = "ground" if coordinates == "absolute" else "parent"
        joints.append({"name": joint, "type": "revolute", "parent": above, "child": name, "measured_from": frame})
        if k[i] is not None or c[i] is not None:
            forces.append({"type": "torsion-spring", "joint": joint, "stiffness": k[i] or 0, "damping": c[i] or 0})
        if b[i] is not None:
            forces.append({"type": "friction", "joint": joint, "coefficient": b[i]})
        if mu[i] is not None:
            forces.append({"type": "com-friction", "body": name, "coefficient": mu[i]})
    if coordinates == "relative":
        angles = [angles[0], *(f"({x}) - ({y})" for x, y in zip(angles[1:], angles[:-1], strict=True))]
    return Model(
        name=f"chain of {links} link{'s' if links > 1 else ''}",
        gravity=[0, "-g", 0],
        parameters=per.parameters | {"g": 9.81},
        bodies=bodies,
        joints=joints,
        forces=forces,
        initial={f"theta{i + 1}": x for i, x in enumerate(angles)},
    )


def link_body(
    name: str, kind: str, m: Scalar | None, l: Scalar | None, d: Scalar | None, J: Scalar | None, rule: str
) -> dict[str, object]:
    """A link that hangs from its origin: a rod, or a point mass on a massless link."""
    assert m is not None
    assert l is not None
    if kind == "point":
        return point_link(name, m, l, d)
    if J is None and d is not None and rule == "printed":
        J = f"({m})*(({l})**2 - 2*({l})*({d}) + 2*({d})**2)/6"
    rod: dict[str, object] = {"mass": m, "length": l}
    return {
        "name": name,
        "rod": rod | ({"com": d} if d is not None else {}) | ({"inertia": J} if J is not None else {}),
    }


def double_pendulum() -> Model:
    """Two equal bars with spring-dampers: Kamman, unit 8.

    Its examples 2 to 7, with their data; the spring-dampers are in both joints.

    Closed forms: with undamped joints the natural frequencies are 21.4405 and 94.9784 rad/s. Its equations
    of motion are eqs. 8 and 9 of the paper.
    """
    return two_bars("double pendulum", up=False)


def two_bars(name: str, *, up: bool) -> Model:
    """Two equal bars with spring-dampers in both joints, with the data of Kamman, unit 8: hanging, or standing up."""
    rod: dict[str, object] = {"mass": "m", "length": "l"} | ({"axis": [0, 1, 0]} if up else {})
    return Model(
        name=name,
        units="ft-slug-s",
        gravity=[0, "-g", 0],
        parameters={"g": 32.2, "m": "5/g", "l": 2.0, "k1": 1000.0, "k2": 300.0, "c1": 5.0, "c2": 0.5},
        bodies=[{"name": n, "rod": rod} for n in (("lower", "upper") if up else ("upper", "lower"))],
        joints=[
            {
                "name": "theta1",
                "type": "revolute",
                "parent": "ground",
                "child": "lower" if up else "upper",
                "measured_from": "ground",
            },
            {
                "name": "theta2",
                "type": "revolute",
                "parent": {"body": "lower" if up else "upper", "at": "tip"},
                "child": "upper" if up else "lower",
                "measured_from": "ground",
            },
        ],
        forces=[
            {"type": "torsion-spring", "joint": f"theta{i}", "stiffness": f"k{i}", "damping": f"c{i}"} for i in (1, 2)
        ],
        initial={"theta1": "10deg", "theta2": "-5deg"},
    )


def double_physical_pendulum() -> Model:
    """Two rigid bodies hinged in a row: Tataru.

    The paper prints no numbers; the data are our choice. As in the paper, the inertias J1 and J2 are about the hinges,
    c1 and c2 are the distances from hinge to mass centre, l1 is the distance between the hinges, and both angles are
    measured from straight down.

    Closed forms: with D = m2 l1 c2 and q = angle of the first minus angle of the second body,
    (J1 + m2 l1^2) phi1'' + D cos q phi2'' + D sin q phi2'^2 + (m1 c1 + m2 l1) g sin phi1 = 0 and
    J2 phi2'' + D cos q phi1'' - D sin q phi1'^2 + m2 g c2 sin phi2 = 0. They follow from the paper's method after
    the corrections of its eqs. 3, 41, 42 and 66.
    """
    parameters: dict[str, Scalar] = {"g": 9.81, "m1": 2.0, "c1": 0.35, "J1": 0.4, "l1": 0.8}
    parameters |= {"m2": 1.5, "c2": 0.3, "J2": 0.25, "l2": 0.7}
    bodies: list[object] = []
    joints: list[object] = []
    for i, parent in ((1, "ground"), (2, {"body": "body 1", "at": "hinge"})):
        inertia = f"J{i} - m{i}*c{i}**2"
        bodies.append(
            {
                "name": f"body {i}",
                "mass": f"m{i}",
                "com": [0, f"-c{i}", 0],
                "inertia": [inertia, 0, inertia],
                "points": {"hinge" if i == 1 else "tip": [0, f"-l{i}", 0]},
                "shapes": [
                    {"kind": "rod", "points": [[0, 0, 0], [0, f"-l{i}", 0]]},
                    {"kind": "point", "points": [[0, f"-c{i}", 0]]},
                ],
            }
        )
        joint = {"name": f"phi{i}", "type": "revolute", "parent": parent, "child": f"body {i}"}
        joints.append(joint | {"measured_from": "ground"})
    return Model(
        name="double physical pendulum",
        gravity=[0, "-g", 0],
        parameters=parameters,
        bodies=bodies,
        joints=joints,
        initial={"phi1": "60deg", "phi2": "20deg"},
    )


def cart_pole() -> Model:
    """A cart on a rail with a rod hinged to it, pushed by F.

    Closed forms: x is cyclic, so without F the momentum along the rail is conserved; about the hanging pole the
    frequency is sqrt(m g (l/2) (M + m)/(J (M + m) - (m l/2)^2)) with J = m l^2/3.
    """
    return Model(
        name="cart-pole",
        gravity=[0, "-g", 0],
        parameters={"M": 1.0, "m": 0.2, "l": 1.0, "g": 9.81},
        inputs={"F": 0},
        bodies=[
            {"name": "cart", "box": {"mass": "M", "size": [0.4, 0.2, 0.2]}},
            {"name": "pole", "rod": {"mass": "m", "length": "l"}},
        ],
        joints=[
            {"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "cart"},
            {"name": "theta", "type": "revolute", "parent": "cart", "child": "pole"},
        ],
        forces=[{"type": "generalized", "coordinate": "x", "value": "F"}],
        initial={"theta": "170deg"},
    )
