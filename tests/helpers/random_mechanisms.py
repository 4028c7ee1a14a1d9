"""Random mechanisms with fixed seeds.

They are made from a seed alone, so that a failing one can be made again by its number. They use every joint, force and
expression the model language has; parameters are named and depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import pendula
from pendula import Model
from pendula.errors import PendulaError
from pendula.model.fields import Mark, marked_fields
from pendula.model.forces import FORCES, Force, ForceAcross, ForceBetween, ForceBetweenOrAcross, ForceInJoint
from pendula.model.joints import JOINTS, TreeJoint
from pendula.results import System

Array = NDArray[np.float64]


PARAMETERS = {"g": 9.81, "m": 0.8, "a": 0.6, "b": "a/2 + 0.1", "k": 7.0, "c": 0.35, "w": "2*sqrt(k/7)", "m2": "1.5*m"}


_IN_THE_PLANE = ("revolute", "revolute", "prismatic", "planar", "fixed", "coordinates")


_IN_SPACE = ("revolute", "universal", "spherical", "euler", "free", "free euler", "coordinates")


def _tree_joints() -> list[str]:
    """Types of the package's joints that place a body: a new one is drawn the day it is registered."""
    built_in = [entry.name for entry in JOINTS.entries() if entry.module.startswith("pendula.")]
    return [name for name in built_in if not JOINTS[name].closing]


_SEQUENCES = ("zyz", "xyz", "zxz", "yxz", "zyx", "xyx")


_PAIRS = ("xy", "yz", "zx", "yx", "xz")


_FORCES_BY_HAND = frozenset(
    ["spring", "damper", "torsion-spring", "friction", "force", "torque", "generalized", "spin-drive", "com-friction"]
    + ["joint-limit"]
)

"""types that random mechanisms use with expressions made for them, or that have tests of their own (joint limits); others
are made from their fields"""


class _Builder:
    """Draws one mechanism."""

    def __init__(
        self,
        seed: int,
        *,
        driven: bool = True,
        forces: bool = True,
        closed: bool | None = None,
        bodies: int | None = None,
        also: Sequence[str] = (),
    ) -> None:
        self.also = also
        self.rng = np.random.default_rng([seed, 20260])
        self.seed = seed
        self.flat = bool(self.rng.random() < 0.35)
        drawn = int(self._pick((1, 2, 2, 3, 3, 3, 4, 5)))
        self.count = drawn if bodies is None else bodies
        self.driven = driven
        self.forces = forces
        self.closed = self._chance(0.35) if closed is None else closed
        self.bodies: list[dict[str, Any]] = []
        self.joints: list[dict[str, Any]] = []
        self.initial: dict[str, Any] = {}

    # -- small draws

    def _chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def _pick(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def _number(self, low: float = -1.0, high: float = 1.0) -> float:
        return round(float(self.rng.uniform(low, high)), 3)

    def _vector(self, size: float = 0.6) -> list[Any]:
        x = [self._number(-size, size) for _ in range(3)]
        return [*x[:2], 0] if self.flat else x

    def _point(self) -> list[Any]:
        """A point with an entry that is an expression now and then."""
        x = self._vector()
        if self._chance(0.4):
            x[int(self.rng.integers(2))] = self._pick(("b", "-a/2", "0.4*a"))
        return x

    def _axis(self) -> list[Any]:
        if self._chance(0.5):
            return [list(row) for row in np.eye(3, dtype=int).tolist()][int(self.rng.integers(3))]
        if self._chance(0.3):
            return ["a", self._number(0.2, 1), "b"]
        return [self._number(0.2, 1), self._number(), self._number()]

    def _rotation(self) -> dict[str, Any]:
        if self.flat:
            return {"axis": [0, 0, 1], "angle": self._number(-2, 2)}
        if self._chance(0.5):
            return {"axis": self._axis(), "angle": self._pick(("a", "40deg", self._number(-2, 2)))}
        sequence = self._pick(_SEQUENCES)
        return {"sequence": sequence, "angles": [self._number(-2, 2) for _ in sequence]}

    def _side(self, body: str, *, turned: bool = True) -> dict[str, Any]:
        side: dict[str, Any] = {"body": body}
        if self._chance(0.7):
            side["position"] = self._point()
        if turned and self._chance(0.5):
            side["rotation"] = self._rotation()
        return side

    # -- bodies and joints

    def _solid(self, name: str) -> dict[str, Any]:
        mass = self._pick(("m", "m2", self._number(0.3, 2)))
        kind = self._pick(("matrix", "rod", "box", "sphere", "disc", "diagonal"))
        if kind == "rod":
            axis = [*self._vector(1)[:2], 0 if self.flat else self._number()]
            axis[0] = axis[0] or 1
            return {"name": name, "rod": {"mass": mass, "length": "a", "axis": axis, "diameter": 0.1}}
        if kind == "box":
            return {"name": name, "box": {"mass": mass, "size": ["a", 0.3, "b"], "at": self._point()}}
        if kind == "sphere":
            return {"name": name, "sphere": {"mass": mass, "radius": 0.3, "at": self._point()}}
        if kind == "disc":
            normal = [0, 0, 1] if self.flat else [self._number(), self._number(), 1]
            disc = {"mass": mass, "radius": "b", "normal": normal, "thickness": 0.05, "at": self._point()}
            return {"name": name, "disc": disc}
        # a cloud of points has an inertia that some body can have
        r, m = self.rng.uniform(-0.4, 0.4, size=(6, 3)), self.rng.uniform(0.05, 0.4, size=6)
        inertia = np.einsum("k,kij->ij", m, [(x @ x) * np.eye(3) - np.outer(x, x) for x in r]).round(5)
        shape: Any = [*np.diag(inertia).tolist()] if kind == "diagonal" else inertia.tolist()
        return {"name": name, "mass": mass, "com": self._point(), "inertia": shape}

    def _tree(self) -> None:
        kinds = [*_IN_THE_PLANE] if self.flat else [*_IN_THE_PLANE, *_IN_SPACE]
        drawn = {"fixed", "spherical", *_IN_THE_PLANE, *_IN_SPACE}
        kinds += [name for name in _tree_joints() if name not in drawn]
        kinds += [name for name in self.also if name in JOINTS]
        for i in range(self.count):
            name, body = f"j{i + 1}", f"body {i + 1}"
            kind = self._pick(kinds)
            if self.count == 1 and kind == "fixed":
                kind = "revolute"
            on = "ground" if i == 0 or self._chance(0.15) else f"body {int(self.rng.integers(1, i + 1))}"
            if "free" in kind and i > 0:
                kind = "spherical" if kind == "free" else "euler"
            self.bodies.append(self._solid(body))
            self._joint(name, kind, self._side(on), self._side(body))

    def _joint(self, name: str, kind: str, parent: dict[str, Any], child: dict[str, Any]) -> None:
        joint: dict[str, Any] = {"name": name, "type": kind, "parent": parent, "child": child}
        names = {"revolute": [name], "prismatic": [name], "planar": [f"{name}_x", f"{name}_y", f"{name}_angle"]}
        names |= {"universal": [f"{name}_1", f"{name}_2"], "fixed": []}
        coordinates = names.get(kind, [])
        if kind == "revolute" and self.flat and self._chance(0.5):
            joint |= {"measured_from": "ground", "axis": self._pick(([0, 0, 1], [0, 0, -1]))}
        elif kind == "revolute":
            joint["axis"] = [0, 0, self._pick((1, -1))] if self.flat else self._axis()
        elif kind == "prismatic":
            joint["axis"] = [*self._axis()[:2], 0] if self.flat else self._axis()
            joint["axis"][0] = joint["axis"][0] or 1
        elif kind == "universal":
            joint["sequence"] = self._pick(_PAIRS)
        elif kind in ("euler", "free euler"):
            joint |= {"type": kind.replace("euler", "").strip() or "spherical", "orientation": self._pick(_SEQUENCES)}
            coordinates = [
                *([f"{name}_{x}" for x in "xyz"] if "free" in kind else []),
                *(f"{name}_{k}" for k in (1, 2, 3)),
            ]
            self.initial[f"{name}_2"] = 0.8  # no sequence is singular there
        elif kind in ("spherical", "free"):
            self.initial[name] = {"axis": [1, self._number(), 2], "angle": self._number(-3, 3)}
            coordinates = [f"{name}_{x}" for x in "xyz"] if kind == "free" else []
        elif kind == "coordinates":
            coordinates = self._chart(joint, name)
        elif kind not in names:
            coordinates = self._any(joint, JOINTS[kind])
        for coordinate in coordinates:
            self.initial.setdefault(coordinate, self._number())
        free = sum(len(j.get("_free", ())) for j in self.joints)
        if self.driven and coordinates and kind not in ("spherical", "free") and free > 0 and self._chance(0.2):
            chosen = self._pick(coordinates)
            motion = self._pick(("w*t", "0.3*sin(w*t)", "0.2*t**2 - 0.1*cos(3*t)", "a*exp(-t)*sin(2*t)"))
            joint["motion"] = {chosen: motion}
            coordinates = [c for c in coordinates if c != chosen]
            del self.initial[chosen]
        joint["_free"] = coordinates if coordinates or kind not in ("spherical", "free") else ["ball"]
        if self.driven and parent["body"] == "ground" and self._chance(0.25):
            shake = self._pick(("0.1*sin(3*t)", "b*cos(w*t)", "0.2*t + 0.05*sin(t)"))
            place = list(parent.get("position", [0, 0, 0]))
            place[int(self.rng.integers(2 if self.flat else 3))] = shake
            parent["position"] = place
        self.joints.append(joint)

    def _any(self, joint: dict[str, Any], cls: Any) -> list[str]:
        """Fields of a joint type that is not known here, by their annotations; returns its coordinates."""
        for marked in marked_fields(cls):
            label, field = marked.label, cls.model_fields[marked.name]
            if marked.name in TreeJoint.model_fields:
                continue
            if marked.is_direction:
                joint[label] = [0, 0, self._pick((1, -1))] if self.flat else self._axis()
            elif Mark.EXPRESSION in field.metadata and (field.is_required() or self._chance(0.5)):
                joint[label] = self._pick(("a", "b/2", self._number(0.1, 0.6)))
        made = cls(**joint)
        return [c.name for c in made.coordinates() if c.kind != "quaternion"]

    def _chart(self, joint: dict[str, Any], name: str) -> list[str]:
        """A pose given by expressions: a bead on a wire, a surface, a rolling wheel, a moving wire."""
        s, x, y = f"{name}s", f"{name}x", f"{name}y"
        phase = f"{s} + 0.4*t" if self.driven and self._chance(0.3) else s
        turn = {"axis": [0, 0, 1], "angle": f"0.7*{s}"}
        if self.flat:
            joint |= {"coordinates": [s], "position": [f"a*cos({phase})", f"0.5*sin(2*{s})", 0]}
            joint |= {"rotation": turn} if self._chance(0.6) else {}
            return [s]
        kind = self._pick(("helix", "surface", "screw", "turned"))
        if kind == "helix":
            joint |= {"coordinates": [s], "position": [f"a*cos({phase})", f"a*sin({phase})", f"0.2*{s}"]}
            return [s]
        if kind == "surface":
            height = f"0.3*({x}**2 + {y}**2) + 0.1*sin({x}*{y})"
            joint |= {"coordinates": [x, y], "kinds": ["length", "length"], "position": [x, y, height]}
            return [x, y]
        if kind == "screw":
            joint |= {"coordinates": [s], "kinds": ["angle"], "position": [0, 0, f"0.1*{s}"]}
            joint |= {"rotation": {"axis": [0, 0, 1], "angle": phase}}
            return [s]
        angles = [x, f"{y} + 0.3*{x}", f"0.2*{x}*{y}"]
        joint |= {"coordinates": [x, y], "kinds": ["angle", "angle"], "position": [f"0.2*sin({x})", 0, "b"]}
        joint |= {"rotation": {"sequence": self._pick(_SEQUENCES), "angles": angles}}
        return [x, y]

    # -- forces

    def _forces(self) -> list[dict[str, Any]]:
        if not self.forces:
            return []
        makers = [self._spring, self._across, self._friction, self._load, self._torque, self._generalized]
        makers += [self._across_slide, self._damper, self._spin]
        built_in = [entry.name for entry in FORCES.entries() if entry.module.startswith("pendula.")]
        names = [name for name in built_in if name not in _FORCES_BY_HAND] + [n for n in self.also if n in FORCES]
        makers += [partial(self._of_type, FORCES[name]) for name in names]
        found = [self._pick(makers)() for _ in range(int(self.rng.integers(0, 6)))]
        return [f for f in found if f]

    def _of_type(self, cls: type[Force]) -> dict[str, Any] | None:
        """A force of any registered type that acts between points or in joints, with numbers for what its law uses."""
        fields: dict[str, Any] = {"type": cls.model_fields["type"].default}
        fields |= {name: self._number(0.2, 2) for name in sorted(cls.law.fields)}
        if issubclass(cls, (ForceBetween, ForceBetweenOrAcross)):
            return fields | self._ends()
        kind = {"angle": "revolute", "length": "prismatic"}.get(getattr(cls, "measures", ""))
        joint = self._joint_with((kind,) if kind else ("revolute", "prismatic"))
        if joint is None or not issubclass(cls, (ForceAcross, ForceInJoint)):
            return None
        return fields | {"joint": joint["name"]}

    def _body(self) -> str:
        return str(self._pick(self.bodies)["name"])

    def _ends(self) -> dict[str, Any]:
        first, second = "ground", self._body()
        if len(self.bodies) > 1 and self._chance(0.6):
            first, second = (str(b["name"]) for b in self.rng.permutation(np.array(self.bodies, dtype=object))[:2])
        ends = {"from": {"body": first, "position": self._point()}, "to": {"body": second, "position": self._point()}}
        if first == "ground":
            ends["from"]["position"] = [1.7, *self._point()[1:]]  # away from the mechanism
            if self.driven and self._chance(0.4):
                ends["from"]["position"][1] = "0.2*sin(2*t)"
        return ends

    def _spring(self) -> dict[str, Any]:
        spring = {"type": "spring", "stiffness": "k", **self._ends()}
        spring |= {"length": self._pick((0.4, "b"))} if self._chance(0.6) else {}
        return spring | ({"damping": "c"} if self._chance(0.5) else {})

    def _damper(self) -> dict[str, Any]:
        return {"type": "damper", "damping": self._number(0.1, 1), **self._ends()}

    def _joint_with(self, types: Sequence[str]) -> dict[str, Any] | None:
        found = [j for j in self.joints if j["type"] in types and (j["type"] != "spherical" or "orientation" in j)]
        return self._pick(found) if found else None

    def _across(self) -> dict[str, Any] | None:
        joint = self._joint_with(("revolute", "universal", "spherical", "planar"))
        if joint is None:
            return None
        ending = {"revolute": "", "universal": "_2", "spherical": "_3", "planar": "_angle"}[joint["type"]]
        spring = {"type": "torsion-spring", "joint": joint["name"], "coordinate": joint["name"] + ending}
        return spring | {"stiffness": "2*k", "rest": self._pick((0, "20deg", 0.3)), "damping": self._pick((0, "c"))}

    def _across_slide(self) -> dict[str, Any] | None:
        joint = self._joint_with(("prismatic",))
        if joint is None:
            return None
        return {"type": "spring", "joint": joint["name"], "stiffness": "k", "length": 0.2, "damping": "c/2"}

    def _friction(self) -> dict[str, Any]:
        movable = [j for j in self.joints if j["type"] != "fixed"]
        return {"type": "friction", "joint": self._pick(movable)["name"], "coefficient": "c"}

    def _value(self) -> Any:
        """An expression of whatever there is to use."""
        names = [c for j in self.joints for c in j["_free"] if c != "ball"]
        speeds = [f"{n}_dot" for n in names] + [f"{j['name']}_wy" for j in self.joints if j["_free"] == ["ball"]]
        q, v = (self._pick(names) if names else "0.5"), (self._pick(speeds) if speeds else "0.5")
        return self._pick(
            (
                "F",
                f"2*sin(t) - 0.3*{v}",
                f"k*{q} if {q} < 0.3 else 0.3*k - c*{v}",
                f"H*cos({q})",
                f"min(max({q}, -0.4), 0.4) + abs({v})*0.1",
                f"exp(-{q}**2) + tanh({v})/2",
                1.5,
            )
        )

    def _load(self) -> dict[str, Any]:
        vector = [self._value(), self._value(), 0 if self.flat else self._value()]
        place = {"position": self._point()} if self._chance(0.6) else {"at": "com"}
        return {"type": "force", "body": self._body(), "vector": vector, "axes": self._pick(("world", "body")), **place}

    def _torque(self) -> dict[str, Any]:
        vector = [0, 0, self._value()] if self.flat else [self._value(), 0.3, self._value()]
        return {"type": "torque", "body": self._body(), "vector": vector, "axes": self._pick(("world", "body"))}

    def _generalized(self) -> dict[str, Any] | None:
        names = [c for j in self.joints for c in j["_free"] if c != "ball"]
        names += [f"{j['name']}_wz" for j in self.joints if j["_free"] == ["ball"]]
        return {"type": "generalized", "coordinate": self._pick(names), "value": self._value()} if names else None

    def _spin(self) -> dict[str, Any]:
        if self._chance(0.5):
            return {"type": "spin-drive", "body": self._body(), "position": [0.3, 0.2, 0], "coefficient": "c"}
        body = self._pick([b for b in self.bodies if "rod" in b] or [None])
        return {"type": "com-friction", "body": body["name"], "coefficient": "c"} if body else self._friction()

    # -- all together

    def model(self) -> Model:
        self._tree()
        if not any(j["_free"] for j in self.joints):
            self.joints[0].pop("motion", None)
            self.joints[0] |= {"type": "revolute", "_free": ["j1"]}
            extra = ("coordinates", "position", "rotation", "kinds", "orientation", "speeds", "sequence")
            self.joints[0] = {k: x for k, x in self.joints[0].items() if k not in extra}
            self.initial = {k: x for k, x in self.initial.items() if not k.startswith("j1")}
        forces = self._forces()
        joints = [{k: x for k, x in j.items() if k != "_free"} for j in self.joints]
        tilt = [self._number(-3, 3), "-g", 0 if self.flat else self._number(-3, 3)]
        model = Model(
            name=f"random mechanism {self.seed}",
            gravity=tilt,
            parameters=PARAMETERS,
            inputs={"F": "1.2*cos(w*t) + a", "H": 0.7},
            bodies=self.bodies,
            joints=joints,
            forces=forces,
            initial=self.initial,
        )
        return self._with_loop(model) if self.closed else model

    def _with_loop(self, model: Model) -> Model:
        """The model with a closing joint that is closed at its initial state and not redundant, if one fits."""
        rows = {"coincident": 2, "point-on-line": 1, "revolute": 2, "spherical": 2, "prismatic": 2}
        if not self.flat:
            rows = {"coincident": 3, "point-on-line": 2, "revolute": 5, "spherical": 3, "prismatic": 5}
            rows |= {"universal": 4, "fixed": 6}
        # Ordered by seed, so that every kind has its turn, also those that take away many freedoms.
        order = sorted(rows, key=lambda k: (-rows[k], k))
        order = order[self.seed % len(order) :] + order[: self.seed % len(order)]
        kinds = [k for k in order if rows[k] < len(model.speeds)]
        if not kinds:
            return model
        tree = pendula.compile_system(model)
        start = tree.initial_state()
        R, r = tree.poses(start.q, 0.0)
        for kind in kinds[:3]:
            closing = self.closing(kind, tree.layout.bodies, R, r)
            try:
                closed = model.with_changes(joints=[*model.joints, closing])
                if _moves(pendula.compile_system(closed)):
                    return closed
            except PendulaError:
                continue
        return model

    def closing(self, kind: str, bodies: Sequence[str], R: Array, r: Array, other: int | None = None) -> dict[str, Any]:
        """A closing joint between the last body and another (-1: ground) that is closed at the given poses."""
        last = len(bodies) - 1
        if other is None:
            other = int(self.rng.integers(-1, last)) if last > 0 else -1
        place = np.array(self._vector())
        frame = Rotation.from_rotvec(self.rng.normal(size=3) * ([0, 0, 1] if self.flat else [1, 1, 1]))
        point = r[last] + R[last] @ place
        Rp, rp, name = (np.eye(3), np.zeros(3), "ground") if other < 0 else (R[other], r[other], bodies[other])
        here = Rp.T @ (point - rp)
        back = Rotation.from_matrix(Rp.T @ R[last]) * frame
        child = {"body": bodies[last], "position": place.tolist(), "rotation": _axis_angle(frame)}
        parent = {"body": name, "position": here.tolist(), "rotation": _axis_angle(back)}
        if kind == "coincident":
            for side in (child, parent):
                del side["rotation"]
        closing = {"name": "closure", "type": kind, "parent": parent, "child": child}
        if kind not in ("coincident", "point-on-line"):
            closing |= {"type": "loop", "kind": kind}
        if kind in ("point-on-line", "prismatic", "revolute"):
            in_plane = [1, 0, 0] if kind != "revolute" else [0, 0, 1]
            closing["axis"] = in_plane if self.flat else self._axis()
        return closing


def kinds(seeds: Iterable[int], **options: Any) -> set[str]:
    """Types of joints and forces that random mechanisms have."""
    models = [random_mechanism(seed, **options) for seed in seeds]
    return {element.type for model in models for element in (*model.joints, *model.forces)}


def _moves(system: System) -> bool:
    """Whether the loops stay closed in time with constraints that are clearly independent."""
    for t in (0.0, 0.7):
        state = pendula.assemble(system, system.initial_state(t=t)).state
        system.accelerations(state.q, state.v, t)
        sizes = np.linalg.svd(system.constraint_jacobian(state.q, t), compute_uv=False)
        if sizes.size == 0 or sizes.min() < 1e-3:
            return False
    return True


def _axis_angle(rotation: Rotation) -> dict[str, Any]:
    turn = rotation.as_rotvec()
    angle = float(np.linalg.norm(turn))
    planar = abs(turn[0]) + abs(turn[1]) < 1e-12 * (1 + angle)
    axis = [0, 0, 1 if turn[2] >= 0 else -1] if planar else (turn / angle).tolist()
    return {"axis": axis, "angle": angle}


def random_mechanism(
    seed: int,
    *,
    driven: bool = True,
    forces: bool = True,
    closed: bool | None = None,
    bodies: int | None = None,
    also: Sequence[str] = (),
) -> Model:
    """The random mechanism of a seed: a tree of bodies in the plane or in space, sometimes with a loop.

    Args:
        seed: which one.
        driven: may have prescribed motions, shaken ground points and time inside joints.
        forces: may have forces besides gravity.
        closed: with a closing joint where one fits; None: for some seeds.
        bodies: how many; None: 1 to 5, by the seed.
        also: types of joints and forces from outside the package to draw from as well; a type that is listed twice is
            drawn twice as often.
    """
    return _Builder(seed, driven=driven, forces=forces, closed=closed, bodies=bodies, also=also).model()
