"""Planar pendulums: one link, two links, any number of links, and one on a cart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pendula.errors import UsageError
from pendula.model.base import Scalar
from pendula.model.checks import MOST_BODIES
from pendula.model.model import Model

PerLink = Scalar | Sequence[Scalar] | None


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
    body: dict[str, object] = {"name": "link", "rod": {"mass": "m", "length": "l"}}
    if kind == "point":
        body = _point_link("link", "m", "l")
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


def _point_link(name: str, mass: Scalar, length: Scalar, com: Scalar | None = None) -> dict[str, object]:
    """A massless link with a point mass at its end (or at ``com``)."""
    tip = [0, f"-({length})", 0]
    place = tip if com is None else [0, f"-({com})", 0]
    shapes = [{"kind": "rod", "points": [[0, 0, 0], tip]}, {"kind": "point", "points": [place]}]
    return {"name": name, "point": {"mass": mass, "at": place}, "points": {"tip": tip}, "shapes": shapes}


class _PerLink:
    """Turns a number for all links, or a list with one per link, into parameter names."""

    def __init__(self, links: int) -> None:
        self.links = links
        self.parameters: dict[str, Scalar] = {}

    def names(self, symbol: str, value: PerLink) -> list[Scalar | None]:
        if value is None:
            return [None] * self.links
        if isinstance(value, (int, float, str)):
            self.parameters[symbol] = value
            return [symbol] * self.links
        values = list(value)
        if len(values) != self.links:
            raise UsageError(f"{symbol}: {self.links} links need as many values, found {len(values)}")
        self.parameters |= {f"{symbol}{k + 1}": x for k, x in enumerate(values)}
        return [f"{symbol}{k + 1}" for k in range(self.links)]


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
    """A pendulum of any number of links, as in paper 003 (nominal: 10 rods of 1 m and 1 kg, from 90 degrees).

    Closed forms: 2^n equilibria without springs; as n grows, the frequencies of a hanging chain of length L
    approach j/2 sqrt(g/L) with j the zeros of the Bessel function J0.

    Args:
        links: number of links.
        kind: uniform rods, or point masses at the ends of massless links.
        mass, length: one value for all links, or a list.
        com: distance of each mass centre from the upper end; default: the middle of a rod.
        inertia: about the mass centre; default: by ``inertia_rule``.
        inertia_rule: "consistent" gives m d (L - d)/3 for a mass centre at d; "printed" gives
            m (L^2 - 2 L d + 2 d^2)/6 of paper 003, eq. 5, which holds only at d = L/2.
        stiffness, damping: torsion spring and damper in each joint.
        friction: viscous friction in each joint.
        com_friction: friction of paper 003, eq. 25, at each mass centre.
        coordinates: angles from the vertical, or each from the link before.
        start: initial angle of every link from hanging straight down.
    """
    if not isinstance(links, int) or not 1 <= links <= MOST_BODIES:
        raise UsageError(f"links must be a whole number from 1 to {MOST_BODIES}, found {links!r}")
    per = _PerLink(links)
    m, l, d, J = (per.names(s, x) for s, x in (("m", mass), ("l", length), ("d", com), ("J", inertia)))
    k, c, b, mu = (
        per.names(s, x) for s, x in (("k", stiffness), ("c", damping), ("b", friction), ("mu", com_friction))
    )
    angles = [start] * links if isinstance(start, (int, float, str)) or start is None else list(start)
    if len(angles) != links:
        raise UsageError(f"start: {links} links need as many angles, found {len(angles)}")
    bodies: list[object] = []
    joints: list[object] = []
    forces: list[dict[str, object]] = []
    for i in range(links):
        name, joint = f"link{i + 1}", f"theta{i + 1}"
        bodies.append(_link(name, kind, m[i], l[i], d[i], J[i], inertia_rule))
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
        name=f"chain of {links} links",
        gravity=[0, "-g", 0],
        parameters=per.parameters | {"g": 9.81},
        bodies=bodies,
        joints=joints,
        forces=forces,
        initial={f"theta{i + 1}": x for i, x in enumerate(angles)},
    )


def _link(
    name: str, kind: str, m: Scalar | None, l: Scalar | None, d: Scalar | None, J: Scalar | None, rule: str
) -> dict[str, object]:
    assert m is not None
    assert l is not None
    if kind == "point":
        return _point_link(name, m, l, d)
    if J is None and d is not None and rule == "printed":
        J = f"({m})*(({l})**2 - 2*({l})*({d}) + 2*({d})**2)/6"
    rod: dict[str, object] = {"mass": m, "length": l}
    return {
        "name": name,
        "rod": rod | ({"com": d} if d is not None else {}) | ({"inertia": J} if J is not None else {}),
    }


def double_pendulum() -> Model:
    """Two equal bars with spring-dampers in both joints: paper 001, examples 2 to 7, with its data.

    Closed forms: with undamped joints the natural frequencies are 21.4405 and 94.9784 rad/s. Its equations
    of motion are eqs. 8 and 9 of the paper.
    """
    return Model(
        name="double pendulum",
        units="ft-slug-s",
        gravity=[0, "-g", 0],
        parameters={"g": 32.2, "m": "5/g", "l": 2.0, "k1": 1000.0, "k2": 300.0, "c1": 5.0, "c2": 0.5},
        bodies=[{"name": n, "rod": {"mass": "m", "length": "l"}} for n in ("upper", "lower")],
        joints=[
            {
                "name": "theta1",
                "type": "revolute",
                "parent": "ground",
                "child": "upper",
                "measured_from": "ground",
            },
            {
                "name": "theta2",
                "type": "revolute",
                "parent": {"body": "upper", "at": "tip"},
                "child": "lower",
                "measured_from": "ground",
            },
        ],
        forces=[
            {"type": "torsion-spring", "joint": f"theta{i}", "stiffness": f"k{i}", "damping": f"c{i}"} for i in (1, 2)
        ],
        initial={"theta1": "10deg", "theta2": "-5deg"},
    )


def cart_pole() -> Model:
    """A cart on a straight rail with a rod hinged to it, pushed by the input F.

    Closed forms: x is cyclic, so without F the momentum along the rail is kept; about the hanging pole the
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
