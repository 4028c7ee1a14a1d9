"""The mechanism of a row: plain data of a model file, drawn by numbers of the row's own generator.

The same few bodies carry every factor:

    ground --shoulder--> arm --hinge--> link --slide--> block          always
    base --crank--> crank --coupler--> coupler,  base --rocker--> rocker, joined by closing joints      loops in a plane
    arm --tail--> tail                                                 sometimes, or what a coupling or a loop in space leaves free

The shoulder has the orientation of the row. Everything is plain data, as TOML gives it: the oracle reads it as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.crossings import oracle
from tests.crossings.angles import ball_coordinates, before_flat, four_bar_angles
from tests.crossings.constants import PARAMETERS, with_constants
from tests.crossings.factors import ANGLES, AT_REST, FLAT, Row
from tests.crossings.symmetric import symmetric

Array = NDArray[np.float64]


@dataclass
class Drawn:
    """A mechanism as it was drawn.

    Attributes:
        data: the model, as in a file.
        free: coordinates that are free, with the speed that belongs to each; of a shoulder by quaternion or with
            angular velocities its coordinates have no speed of their own.
        shoulder: names of the speeds of the shoulder.
        push: the coordinate on which the input acts.
        start: initial values that a run may be asked to begin with, by name.
    """

    data: dict[str, Any]
    free: dict[str, str] = field(default_factory=dict)
    shoulder: tuple[str, ...] = ()
    push: str = ""
    law: tuple[str, str] = ("", "")
    """the coordinate and the speed that a feedback law names"""


class Builder:
    """Draws the mechanism of a row."""

    def __init__(self, row: Row, rng: np.random.Generator) -> None:
        self.row, self.rng = row, rng
        self.flat = row["orientation"] in FLAT
        self.bodies: list[dict[str, Any]] = []
        self.joints: list[dict[str, Any]] = []
        self.forces: list[dict[str, Any]] = []
        self.initial: dict[str, Any] = {}
        self.free: dict[str, str] = {}
        self.started: dict[str, tuple[float, float]] = {}
        self.shoulder: tuple[str, ...] = ()
        self.inputs: dict[str, Any] = {}
        held = row["drive"] == "held" and row["closure"] in ("loop", "redundant loop")
        self.both = row["drive"] == "several in one loop" or (held and self.chance(0.5))
        """whether the motions of both cranks are prescribed"""

    # -- draws

    def number(self, low: float = -1.0, high: float = 1.0) -> float:
        """A number with three digits."""
        return round(float(self.rng.uniform(low, high)), 3)

    def pick(self, choices: Any) -> Any:
        """One of some things."""
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        """Whether something happens."""
        return bool(self.rng.random() < probability)

    def vector(self, size: float) -> list[Any]:
        """A vector, in the plane if all is."""
        x = [self.number(-size, size) for _ in range(3)]
        return [*x[:2], 0] if self.flat else x

    def axis(self) -> list[Any]:
        """An axis of a hinge: z in the plane."""
        return [0, 0, 1] if self.flat else [self.number(-0.6, 0.6), self.number(-0.6, 0.6), 1]

    def solid(self, name: str, mass: Any, com: list[Any]) -> dict[str, Any]:
        """A body with an inertia that a cloud of points has."""
        r, m = self.rng.uniform(-0.35, 0.35, size=(6, 3)), self.rng.uniform(0.05, 0.3, size=6)
        inertia = np.einsum("k,kij->ij", m, [(x @ x) * np.eye(3) - np.outer(x, x) for x in r]).round(5)
        shape = np.diag(inertia).tolist() if self.flat or self.chance(0.5) else inertia.tolist()
        return {"name": name, "mass": mass, "com": com, "inertia": shape, "points": {"tip": self.vector(0.4)}}

    # -- the main chain

    def trunk(self) -> None:
        """Arm, link and block."""
        self.bodies += [
            self.solid("arm", 1.1, self.vector(0.3)),
            self.solid("link", "m", self.vector(0.3)),
            self.solid("block", 0.6, self.vector(0.2)),
        ]
        self._shoulder()
        hinge = {"name": "hinge", "type": "revolute", "axis": self.axis(), "child": {"body": "link"}}
        hinge["parent"] = {"body": "arm", "position": self.vector(0.4)}
        if "from ground" in self.row["orientation"]:
            hinge |= {"measured_from": "ground", "axis": [0, 0, 1]}
        slide = {"name": "slide", "type": "prismatic", "parent": {"body": "link", "at": "tip"}, "child": "block"}
        slide["axis"] = [1, self.number(), 0] if self.flat else [1, self.number(), self.number()]
        self._place(hinge, "hinge", 0.4)
        self._place(slide, "slide", 0.2)

    def _shoulder(self) -> None:
        kind, speeds = self.row["orientation"], self.row["speeds"]
        joint: dict[str, Any] = {"name": "shoulder", "child": {"body": "arm", "position": self.vector(0.2)}}
        joint["parent"] = {"body": "ground", "position": self.vector(0.3)}
        if not self.flat and self.chance(0.5):
            joint["parent"]["rotation"] = {"axis": [1, self.number(), self.number()], "angle": "20deg"}
        if self.flat:
            joint |= {"type": "revolute"} | ({"measured_from": "ground"} if "ground" in kind else {})
            self._place(joint, "shoulder", 0.5)
            self.shoulder = tuple(name for name in ["shoulder_dot"] if "shoulder" in self.free)
            return
        if kind == "along z, from ground":  # the arm moves, and does not turn
            joint |= {"type": "prismatic", "axis": [self.number(-0.5, 0.5), self.number(-0.5, 0.5), 1]}
            joint["parent"].pop("rotation", None)
            held = {"type": "spring", "stiffness": 40, "length": 0.1}  # against gravity, which acts along z
            self.forces += [held | {"joint": "shoulder"}, held | {"joint": "slide"}]
            self._place(joint, "shoulder", 0.1)
            self.shoulder = tuple(name for name in ["shoulder_dot"] if "shoulder" in self.free)
            return
        angles = ("shoulder_1", "shoulder_2", "shoulder_3")
        if kind == "universal":
            joint |= {"type": "universal", "sequence": self.pick(["xy", "yz", "zx"])}
            angles = angles[:2]
        else:
            joint |= {"type": "spherical", "orientation": kind}
            if not (kind == "quaternion" and speeds == "body" and self.chance(0.5)):
                joint["speeds"] = speeds
        driven = self.row["drive"] == "angle"
        if kind in (*ANGLES, "universal"):
            values = dict(zip(angles, (self.number(-1, 1), self.number(0.6, 0.8), self.number(-1, 1)), strict=False))
            if driven:
                led = self.pick(angles)
                joint["motion"] = {led: f"{values.pop(led)} + 0.2*sin(2*t)"}
            self.initial |= values
            self.free |= {name: f"{name}_dot" for name in values if speeds == "rates"}
            names = [f"{name}_dot" for name in values]
        else:
            self.initial["shoulder"] = {"axis": (axis := [1, self.number(), 2]), "angle": self.number(0.8, 2.0)}
            names = ["shoulder_rx_dot", "shoulder_ry_dot", "shoulder_rz_dot"]
            if kind == "rotation vector" and speeds == "rates":
                self.free |= {name.removesuffix("_dot"): name for name in names}
        if speeds != "rates":
            names = [f"shoulder_w{x}" for x in "xyz"]
        self.shoulder = tuple(names)
        self.initial |= {name: self.number(-0.7, 0.7) for name in names}
        if self.row["start"] == "whole turn" and "shoulder" in self.initial:
            self._nearly_a_whole_turn(axis)
        self.joints.append(joint)

    def _nearly_a_whole_turn(self, axis: list[float]) -> None:
        """The shoulder has turned almost once about an axis, or more than once if nothing is singular there."""
        if self.row["orientation"] == "quaternion":
            self.initial["shoulder"]["angle"] = self.number(6.0, 7.0)
            return
        vector = (self.number(5.1, 6.2) * (unit := np.array(axis) / np.linalg.norm(axis))).round(3).tolist()
        del self.initial["shoulder"]  # a rotation about an axis has no more than half a turn
        self.initial |= {f"shoulder_r{x}": value for x, value in zip("xyz", vector, strict=True)}
        rates = (0.6 * unit + 0.1 * self.rng.uniform(-1, 1, 3)).round(3).tolist()
        self.initial |= dict(zip(self.shoulder, rates, strict=True))

    def _place(self, joint: dict[str, Any], name: str, value: float) -> None:
        """Adds a joint with one coordinate: free from about a value on, or prescribed as the row wants it."""
        value = round(value + self.number(-0.05, 0.05), 3)
        motion = self._motion(name, value)
        self.started[name] = (value, 0.0)
        if motion is not None:
            joint["motion"] = motion
        else:
            self.initial |= {name: value, f"{name}_dot": self.number(-0.8, 0.8)}
            self.free[name] = f"{name}_dot"
            self.started[name] = (value, self.initial[f"{name}_dot"])
        self.joints.append(joint)

    def _motion(self, name: str, value: float) -> str | None:
        drive, closure = self.row["drive"], self.row["closure"]
        moved = {"one": ["hinge"], "turning": ["hinge"], "held": ["hinge"], "several": ["hinge", "slide"]}
        moved |= {"one": [self._led], "turning": [self._led]} if closure == "change point" else {}
        if closure in ("loop", "redundant loop", "coupling in a loop"):
            moved |= {"several": ["hinge", "crank"], "one": [self._led], "turning": [self._led], "held": [self._led]}
        if closure == "loop in space":
            moved["several"] = ["slide", "tail"]
        if self.flat or self.row["orientation"] == "along z, from ground":
            moved["angle"] = ["shoulder"]
        moved["several in one loop"] = ["crank", "rocker"]
        if self.both:
            moved["held"] = ["crank", "rocker"]
        if name not in moved.get(drive, ()):
            return None
        if drive == "held":
            return str(value)
        if drive == "turning":
            return f"{value} + 1.5*t"
        waves = ["0.2*sin(2*t)", "0.15*sin(3*t)", "0.1*t**2"]
        if name in ("crank", "rocker") or self.row["question"] == "multipliers":
            waves = waves[:1]  # cranks of one loop move alike, and multipliers are those of a period
        return f"{value} + {self.pick(waves)}"

    @property
    def _led(self) -> str:
        """The joint that one motion leads where there is a planar loop."""
        return (
            "crank"
            if self.row["load"] in ("spring", "friction", "gravity", "armature", "kink", "dry friction", "damper")
            else "hinge"
        )

    # -- closures

    def closure(self) -> None:
        """What closes loops, and the tail."""
        kind = self.row["closure"]
        if kind in ("loop", "redundant loop", "coupling in a loop", "change point"):
            self._four_bar(redundant=kind == "redundant loop")
        if kind == "coupling in a loop":
            self.joints.append({"name": "gear", "type": "coupling", "value": "crank - rocker"})
        if kind in ("coupling", "loop in space") or (
            kind == "tree" and self.row["question"] != "integrals" and self.chance(0.5)
        ):
            self.bodies.append(self.solid("tail", 0.5, self.vector(0.3)))
            tail = {"name": "tail", "type": "revolute", "axis": self.axis(), "child": {"body": "tail"}}
            tail["parent"] = {"body": "arm", "position": self.vector(0.3)}
            # beyond half a turn, where an angle and one of the same pose differ
            self._place(tail, "tail", 3.4 if kind == "coupling" else 0.3)
        if kind == "coupling":
            at, rate = self.started.get("hinge", (0.4, 0.0))
            rest = float(0.7 * at + 0.1 * np.sin(at)) - self.initial["tail"]
            self.initial["tail_dot"] = round((0.7 + 0.1 * float(np.cos(at))) * rate, 6)
            self.joints.append(
                {"name": "gear", "type": "coupling", "value": f"tail - 0.7*hinge - 0.1*sin(hinge) + {rest!r}"}
            )
        if kind == "loop in space":
            self._loop_in_space()

    def _four_bar(self, *, redundant: bool) -> None:
        """Crank, coupler and rocker on ground or on the arm; a redundant one has parallel cranks, or closes as a hinge."""
        moving = self.row["drive"] == "moving closure"
        three = redundant and not moving and (self.flat or self.chance(0.3))
        parallel = self.both or three or self.row["closure"] in ("coupling in a loop", "change point")
        base = "ground" if parallel or moving or self.flat or self.chance(0.5) else self.pick(["ground", "arm"])
        a, b, c, d = (0.4, 1.0, 0.4, 1.0) if parallel else (0.3, 0.9, 0.6, 0.8)
        at = [1.2, -0.3, 0]
        # Parallel cranks hang, away from the line of their pivots, where the loop is singular.
        turn = round((-1.2 if parallel else 0.9) + self.number(-0.1, 0.1), 3)
        if self.row["closure"] == "change point":
            turn = before_flat(self.row, self.rng) if self._motion("crank", 0.0) else 0.3 + self.number(-0.05, 0.05)
        inner, outer = (0.0, turn) if parallel else four_bar_angles(a, b, c, d, turn)
        for name, length in zip(("crank", "coupler", "rocker"), (a, b, c), strict=True):
            self.bodies.append(self.solid(name, 0.4, [length / 2, 0.02, 0]))
        z = {"type": "revolute", "axis": [0, 0, 1]}
        self._hinge_of_loop("crank", z | {"parent": {"body": base, "position": at}, "child": "crank"}, turn)
        coupler = z | {"parent": {"body": "crank", "position": [a, 0, 0]}, "child": {"body": "coupler"}}
        self._hinge_of_loop("coupler", coupler, inner - turn)
        rocker = z | {"parent": {"body": base, "position": [at[0] + d, at[1], 0]}, "child": {"body": "rocker"}}
        sides: dict[str, Any] = {
            "parent": {"body": "coupler", "position": [b, 0, 0]},
            "child": {"body": "rocker", "position": [c, 0, 0]},
        }
        if moving:  # the rocker hangs on the coupler, and its pivot closes the loop
            rocker, sides = z | sides, {"parent": "rocker", "child": rocker["parent"]}
            sides["child"]["position"][0] = f"{sides['child']['position'][0]} + 0.05*sin(3*t)"
            outer -= inner
        self._hinge_of_loop("rocker", rocker, outer)
        if self.flat:
            close: dict[str, Any] = {"type": self.pick(["coincident", "loop"])}
        elif redundant and not three:
            close = {"type": "loop", "kind": "revolute"}
        else:
            close = {"type": "point-on-line", "axis": [0, 0, 1]}
        self.joints.append({"name": "pin", **close, **sides})
        if three:
            self.bodies.append(self.solid("third", 0.4, [a / 2, 0.02, 0]))
            third = z | {"parent": {"body": base, "position": [at[0] + d / 2, at[1], 0]}, "child": {"body": "third"}}
            self._hinge_of_loop("third", third, turn)
            sides = {
                "parent": {"body": "coupler", "position": [b / 2, 0, 0]},
                "child": {"body": "third", "position": [a, 0, 0]},
            }
            self.joints.append({"name": "second_pin", **close, **sides})

    def _hinge_of_loop(self, name: str, joint: dict[str, Any], value: float) -> None:
        motion = self._motion(name, round(value, 12 if self.row["closure"] == "change point" else 3))
        joint = {"name": name, **joint}
        if motion is not None:
            joint["motion"] = motion
        else:
            self.initial[name] = value
            if name == "crank":
                self.initial["crank_dot"] = self.number(0.3, 0.8) * (-1 if self.row["closure"] == "change point" else 1)
        self.joints.append(joint)

    def _loop_in_space(self) -> None:
        """The block is tied to ground where it is at the start, by two rows or three."""
        data = {"parameters": PARAMETERS, "gravity": [0, 0, 0], "bodies": self.bodies, "joints": self.joints}
        q = {name: value for name, value in self.initial.items() if not isinstance(value, dict)}
        if isinstance(self.initial.get("shoulder"), dict):
            q |= ball_coordinates(self.row["orientation"], self.initial["shoulder"])
        still = dict.fromkeys(name for name in (*self.shoulder, *self.free.values()))
        own = oracle.Mechanism(data | {"name": "tree", "forces": [], "initial": self.initial})
        place = own.point(oracle.Moment(0.0, q, dict.fromkeys(still, 0.0)), "block", self.bodies[2]["points"]["tip"])[0]
        side: dict[str, Any] = {"body": "ground", "position": [float(x) for x in place]}
        turns = {"universal": 2, "along z, from ground": 1}.get(self.row["orientation"], 3)
        loose = turns - (self.row["drive"] == "angle")
        loose += sum(name in self.free for name in ("hinge", "slide"))
        line = {"type": "point-on-line", "axis": [self.number(0.2, 1), self.number(), self.number()]}
        close = self.pick([line, {"type": "coincident"}, {"type": "loop", "kind": "spherical"}]) if loose > 3 else line
        sides: dict[str, Any] = {"parent": side, "child": {"body": "block", "at": "tip"}}
        if self.row["drive"] == "moving closure":
            side["position"][0] = f"{side['position'][0]} + 0.05*sin(3*t)"
            sides = {"parent": sides["child"], "child": side}
        self.joints.append({"name": "tie", **close, **sides})

    # -- loads

    def load(self) -> None:
        """The load of the row, besides gravity and the input."""
        q, v = self.speaking()
        joint = self.pick(["hinge", "slide"])
        far: dict[str, Any] = {"body": "ground", "position": [1.7, 0.4, 0 if self.flat else 0.3]}
        ends = {"from": far, "to": {"body": "link", "at": "tip"}}
        if self.chance(0.7):  # from body to body
            start = next((body["name"] for body in self.bodies if body["name"] in ("tail", "crank")), "arm")
            ends = {"from": {"body": start, "position": far["position"]}, "to": {"body": "block", "at": "tip"}}
        kind = self.row["load"]
        spring = {
            "type": "spring",
            "stiffness": "k",
            "length": self.pick([0, 0.4]),
            "damping": self.pick([0, "c"]),
            **ends,
        }
        inside = {"type": "spring", "joint": "slide", "stiffness": "k", "length": 0.1}
        torsion: dict[str, Any] = {"type": "torsion-spring", "joint": "hinge", "stiffness": "k", "rest": "20deg"}
        across = self.row["speeds"] == "rates" or not self.row["engine"].startswith("recursive")
        if self.row["orientation"] in (*ANGLES, "universal") and across and self.chance(0.5):
            torsion |= {"joint": "shoulder", "coordinate": "shoulder_2"}
        still = self.row["question"] in AT_REST
        third = 0 if self.flat else f"{'0.6' if still else 'cos(t)'} + 0.2*{q}"
        along = "slide" if "slide" in self.free else (q if q in self.free else "")
        rubbed, rubbing = self.rubbed()
        over = self.pick([n for n in ("slide", "hinge") if n in self.free] or ["hinge"])
        limit = {"slide": 0.24, "hinge": 0.44}[over]
        choices: dict[str, list[Any]] = {
            "gravity": [],
            "spring": [spring, inside] if self.chance(0.3) else [self.pick([spring, inside])],
            "torsion spring": [torsion | {"damping": self.pick([0, "c"])}],
            "damper": [self.pick([{"type": "damper", "damping": "c", **ends}, {"type": "damper", "joint": joint, "damping": "c"}])],
            "friction": [{"type": "friction", "joint": self.pick(["shoulder", "hinge"]), "coefficient": "c"}],
            "armature": [],
            "force in text": [
                {"type": "force", "body": "link", "at": "tip", "axes": self.pick(["world", "body"]),
                 "vector": [f"{'1.2' if still else '2*sin(t)'} - 0.3*{v}", f"k*0.2*{q}", third]}
            ],
            "force of time": [
                {"type": "torque", "body": "arm", "axes": self.pick(["world", "body"]),
                 "vector": [0, 0, "3*cos(2*t)"] if self.flat else ["sin(3*t)", 0.2, "3*cos(2*t)"]}
            ],
            "force of a coordinate": [
                {"type": "generalized", "coordinate": along or self.a_speed, "value": f"-4*{q}**3 + exp(-{q}**2)"}
            ],
            "kink": [
                {"type": "generalized", "coordinate": along or self.a_speed,
                 "value": f"0.3*abs({v} + 0.1) + (2*{q} if {q} < 0.3 else 0.6 + 0.5*({q} - 0.3))"}
            ],
            "dry friction": [{"type": "generalized", "coordinate": rubbed, "value": f"-c*sign({rubbing})"}],
            "joint limit": [
                {"type": "joint-limit", "joint": over, "upper": limit, "stiffness": 60, "dissipation": 0.4}
            ],
            "force at a body": [
                self.pick([{"type": "spin-drive", "body": "link", "position": [0.3, 0.2, 0], "coefficient": "c"},
                           {"type": "force", "body": "block", "at": "com", "vector": [1.5, "-m*g/3", 0]}])
            ],
        }  # fmt: skip
        if kind == "force of time" and (motions := self.motions()) and self.chance(0.6):  # only the motor feels it
            choices[kind] = [{"type": "generalized", "coordinate": self.pick(motions), "value": "2*cos(3*t)"}]
        self.forces += choices[kind]
        if "shoulder_rx" in self.initial and self.row["start"] == "whole turn" and self.chance(0.6):
            self.forces.append({"type": "torque", "body": "arm", "vector": [0, "-0.2*shoulder_rx", 0]})  # it winds up
        if kind == "armature":
            on_hinge = "slide" if "from ground" in self.row["orientation"] else "hinge"
            for one in self.joints:
                if one["name"] == on_hinge:
                    one["armature"] = 0.08
                elif one["name"] == "shoulder" and self.row["drive"] != "angle" and on_hinge == "hinge":
                    turns = len(self.shoulder) if self.row["speeds"] == "rates" else 0
                    one["armature"] = [0.05, 0.03, 0.04][:turns] if turns else [0.05] * 3

    def rubbed(self) -> tuple[str, str]:
        """A coordinate, or a speed of the shoulder, that moves fast at the start, and its rate: friction opposes it."""
        if self.row["load"] != "dry friction":
            return "", ""
        names = [name for name in ("slide", "hinge", *self.free) if name in self.free]
        if self.initial.get("crank", -1.0) > 0:  # it does not hang, so that it falls
            names.insert(0, "crank")
        name = names[0] if names else self.shoulder[0]
        rate = self.free.get(name, f"{name}_dot") if names else name
        if (name, self.row["closure"]) != ("hinge", "coupling"):  # the tail goes with that
            way = -1.0 if name == "crank" else float(np.sign(self.initial[rate]))
            self.initial[rate] = round(way * (2.5 + abs(self.initial[rate])), 3)
        return name, rate

    def motions(self) -> list[str]:
        """Coordinates whose motion is prescribed."""
        found = [(one["name"], one["motion"]) for one in self.joints if "motion" in one]
        return [name for joint, motion in found for name in (motion if isinstance(motion, dict) else [joint])]

    @property
    def a_speed(self) -> str:
        """A free coordinate, or else the name of a speed of the shoulder, on which a generalized force may act."""
        return next(iter(self.free), "") or self.shoulder[0]

    def spoken(self) -> tuple[str, str]:
        """The coordinate and the speed of a feedback law: any that are free, also those of the shoulder."""
        q = self.pick([*self.free, *(n for n in ("crank",) if n in self.initial)] or ["shoulder_rx"])
        if not self.free:
            kind = self.row["orientation"]
            q = {"quaternion": "shoulder_q1", "rotation vector": "shoulder_rx"}.get(kind, "shoulder_2")
        return str(q), str(self.pick([*self.free.values(), *self.shoulder]))

    def speaking(self) -> tuple[str, str]:
        """A coordinate and a speed that expressions use."""
        names = [n for n in ("hinge", "slide", "tail", "crank") if n in self.free or n in self.initial]
        q = self.pick(names) if names else "0.5"
        v = self.pick([f"{q}_dot" if names else "0.5", *self.shoulder])
        return q, v

    def push(self) -> str:
        """The input, which acts on a coordinate and at a body."""
        self.push_beside()
        if self.row["input"] == "none":
            return ""
        on = self.pick([n for n in ("slide", "hinge", "tail") if n in self.free] or [self.a_speed])
        self.forces.append({"type": "generalized", "coordinate": on, "value": "F"})
        self.forces.append({"type": "force", "body": "arm", "at": "tip", "vector": ["0.4*F", 0.1, 0]})
        return str(on)

    def push_beside(self) -> None:
        """The second input, which acts on another coordinate and at another body."""
        if self.row["beside"] == "nothing":
            return
        on = next((n for n in ("hinge", "slide", "tail", *self.free) if n in self.free), "") or self.a_speed
        self.forces.append({"type": "generalized", "coordinate": on, "value": "0.5*G"})
        self.forces.append({"type": "force", "body": "block", "at": "com", "vector": [0.1, "0.3*G", 0]})
        text = self.row["beside"] == "model" and self.chance(0.9)
        self.inputs["G"] = "0.05*k + 0.2" if text else self.number()

    def damped(self) -> None:
        """Friction in all joints, and a spring along the slide: only then a motion is easily periodic."""
        names = [
            joint["name"] for joint in self.joints if joint["name"] in ("shoulder", "hinge", "slide", "tail", "crank")
        ]
        self.forces += [{"type": "friction", "joint": name, "coefficient": 2} for name in names]
        self.forces.append({"type": "spring", "joint": "slide", "stiffness": 30, "length": 0.1})

    # -- all together

    def drawn(self) -> Drawn:
        """The mechanism."""
        self.trunk()
        self.closure()
        self.load()
        push = self.push()
        if self.row["question"] == "multipliers":
            self.damped()
        elif self.row["question"] in AT_REST and self.chance(0.8):  # else what slides may find no rest
            self.forces.append({"type": "spring", "joint": "slide", "stiffness": 30, "length": 0.1})
        if self.row["drive"] == "moving ground":
            place = next(j for j in self.joints if j["name"] == "shoulder")["parent"]["position"]
            place[0] = f"{place[0]} + 0.1*sin(3*t)"
            place[1] = f"{place[1]} + 0.05*(cos(2*t) - 1)"
        data: dict[str, Any] = {
            "name": "crossing",
            "gravity": [self.number(-1, 1), "-g", 0] if self.flat else [self.number(-1, 1), self.number(-1, 1), "-g"],
            "parameters": PARAMETERS,
            "bodies": self.bodies,
            "joints": self.joints,
            "forces": self.forces,
            "initial": self.initial,
        }
        if push:
            self.inputs["F"] = 0.7
        if self.inputs:
            data["inputs"] = self.inputs
        data = with_constants(symmetric(self.row, data), self.row["constants"])
        return Drawn(data, self.free, self.shoulder, push, self.spoken())
