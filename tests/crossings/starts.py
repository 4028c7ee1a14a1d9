"""Where a run starts: values as a caller gives them, what must stay of them, and what the run must say otherwise.

    given           all values agree, as the model has them
    rounded         those of a loop agree only up to rounding, and one is left out or far off: the others hardly move
    partial         only as many as a loop leaves free; the others are left out or far off, also at dead points
    contradictory   no pose has them, and the run says so; without a loop, what is left out is zero
    whole turn      angles beyond a full turn, rotation vectors that turn on towards one

They are the initial values of the model, or given by ``initial_state`` to a model that begins elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pendula.errors import LoopNotClosed
from tests.crossings import oracle
from tests.crossings.angles import ball_coordinates
from tests.crossings.factors import Row
from tests.crossings.mechanism import Drawn

ROUNDING = 2e-4
"""by which rounded values are off; speeds relative to the largest"""
HARDLY = 3e-3
"""by which they may move, in poses that amplify it a little"""
EXACT = 1e-9
OPEN = 0.01
"""gap of values that contradict each other beyond rounding"""
FOUR_BAR = ("crank", "coupler", "rocker", "third")
Values = dict[str, Any]


@dataclass
class Start:
    """A start as it is given.

    Attributes:
        state: the argument ``initial_state`` of ``simulate``; None if the model says it all.
        kept: values that must stay, and by how much they may move.
        contradicts: whether no pose has the given values.
        impossible: an initial state whose speeds no motion has; None if there is none.
    """

    state: Values | None = None
    kept: dict[str, tuple[float, float]] = field(default_factory=dict)
    contradicts: bool = False
    impossible: Values | None = None

    def check(self, case: Any, run: Any) -> None:
        """Raises an AssertionError unless a run starts as it should, and says where it cannot."""
        from tests.crossings.case import Unsuitable, Wrong

        here, layout = case.states_of(run)[0], run.joint_layout
        if self.may_contradict and run.doubts:
            raise Unsuitable(str(run.doubts))
        for name, (value, bound) in self.kept.items():
            if name in here and not abs(here[name] - value) <= bound:
                raise Wrong(f"{name} = {value} was given, and the run starts at {here[name]}")
        q = {name: here[name] for name in layout.coordinates}
        gaps = case.own.gaps(oracle.Moment(0.0, q, {name: here[name] for name in layout.speeds}))
        if not max(np.abs(gap).max(initial=0.0) for gap in gaps[:2]) <= 1e-8:
            raise Wrong(f"the loops are open at the start: {gaps[:2]}")
        self._pose(case, run, here)
        if self.contradicts:
            asked = {**q, **{n: x for n, (x, _) in self.asked.items()}}
            if np.abs(case.own.gaps(oracle.Moment(0.0, asked, dict.fromkeys(layout.speeds, 0.0)))[0]).max() < OPEN:
                raise Unsuitable("the given values agree with another pose")
            said = run.doubts if self.state is not None else [x for x in run.notes if "could not be closed" in x]
            if not said or (self.state is not None and run.ok):
                raise Wrong(f"{self.asked} contradict each other, and the run does not say so")
        elif any("should" in x for x in run.doubts):
            raise Wrong(f"the given values agree, but {run.doubts}")
        if self.impossible is not None:
            try:
                case.simulated(initial_state=self.impossible)
            except LoopNotClosed:
                return
            raise Wrong(f"no motion has {self.impossible}, and the run does not say so")

    asked: dict[str, tuple[float, float]] = field(default_factory=dict)
    """what contradicts"""
    may_contradict: bool = False
    """whether it is not known that some pose has the given values"""
    turn: Values = field(default_factory=dict)
    """coordinates of the shoulder, if they may change while the pose stays"""

    def _pose(self, case: Any, run: Any, here: Mapping[str, float]) -> None:
        from tests.crossings.case import Wrong

        joint = next(one for one in case.own.joints if one.name == "shoulder")
        if self.turn and joint.ball is not None:
            names = joint.ball.names
            now, given = (joint.ball.chart.rotation(np.array([x[n] for n in names])) for x in (here, self.turn))
            if not np.abs(now - given).max() <= EXACT:
                raise Wrong(f"the shoulder does not start at {self.turn}")
            if felt(case) and any(abs(here[n] - self.turn[n]) > EXACT for n in names):
                raise Wrong(f"{self.turn} was given, which forces use, and the run starts at other values of this pose")


def felt(case: Any) -> bool:
    """Whether forces use the rotation vector of the shoulder: its values by name, or its rates."""
    forces = case.drawn.data["forces"]
    if "shoulder_r" in str([forces, case.given.inputs if case.given.is_law else ""]):
        return True
    if case.row["speeds"] != "rates" or case.row["orientation"] != "rotation vector":
        return False
    shoulder = next(joint for joint in case.drawn.data["joints"] if joint["name"] == "shoulder")
    return "armature" in shoulder or any(f["type"] == "friction" and f["joint"] == "shoulder" for f in forces)


class Starter:
    """Draws the start of a row, and writes the initial values of its model."""

    def __init__(self, row: Row, drawn: Drawn, own: oracle.Mechanism, rng: np.random.Generator) -> None:
        self.row, self.drawn, self.own, self.rng = row, drawn, own, rng
        self.given: Values = dict(drawn.data["initial"])
        self.from_model = bool(rng.random() < 0.5) or row["carry"] == "study"
        self.elsewhere: Values = {}

    def drawn_start(self) -> Start:
        """The start; the model's initial values are changed in place."""
        level = self.row["start"]
        if level != "given" and self.row["closure"] == "loop in space":
            right = self.closed()  # speeds that are given must agree
            self.given |= {n: right[n] for n in self.own.free if n in self.given}
        if level == "given":
            return Start(kept={n: (self.given[n], HARDLY) for n in self.in_loop() if n in self.given})
        found: Start = getattr(self, level.replace(" ", "_"))()
        initial = dict(self.given)
        if not self.from_model:
            found.state = dict(self.given)
            for name in [n for n in self.in_loop() if n in initial]:
                initial[name] = round(initial[name] + self.some(0.1, 0.3), 3)
            initial |= self.elsewhere
        self.drawn.data["initial"] = initial
        return found

    def in_loop(self) -> list[str]:
        """Free coordinates that a closing joint or coupling joins and that are numbers."""
        closure = self.row["closure"]
        numbers = [n for n, x in self.given.items() if not isinstance(x, dict) and f"{n}_dot" in self.own.columns]
        numbers += [n for n in self.given if n.startswith("shoulder_") and n[-1] in "123" and n not in numbers]
        if closure == "loop in space":
            return [n for n in numbers if n != "tail"]
        of = {"coupling": ("hinge", "tail"), "tree": ()}.get(closure, FOUR_BAR)
        return [n for n in numbers if n in of]

    def some(self, low: float, high: float) -> float:
        """A number between two, of either sign."""
        return float(self.rng.choice([-1.0, 1.0]) * self.rng.uniform(low, high))

    def closed(self) -> Values:
        """Coordinates and speeds that agree, those of the loop included that the model leaves out."""
        q = {n: float(x) for n, x in self.given.items() if not isinstance(x, dict)}
        if isinstance(turn := self.given.get("shoulder"), dict):
            q |= ball_coordinates(self.row["orientation"], turn)
        v = {name: q.get(name, 0.0) for name in self.own.free}
        x = oracle.Moment(0.0, q, v)
        at, n = self.own.instant(x), len(self.own.free)
        G = np.array([row.g + np.zeros(self.own.count) for row in self.own.rows(at)]).reshape(-1, self.own.count)[:, :n]
        moved = [k for k, name in enumerate(self.own.free) if name not in self.given]
        if self.row["closure"] in ("loop in space", "coupling"):
            moved = list(range(n))
        change = np.linalg.lstsq(G[:, moved], -self.own.gaps(x)[1], rcond=1e-7)[0]
        return {
            **q,
            **v,
            **{self.own.free[k]: v[self.own.free[k]] + d for k, d in zip(moved, change.tolist(), strict=True)},
        }

    def leave(self, name: str, far: float) -> None:
        """Leaves a coordinate and its speed out, or has the model give another value.

        Without a value the coupler lies along the crank, where neither moves the rocker: a dead point.
        """
        value = self.given.pop(name, 0.0)
        self.given.pop(f"{name}_dot", None)
        if not self.from_model and name != "coupler" and self.rng.random() < 0.7:
            self.elsewhere[name] = round(value + self.some(0.3, far), 3)

    # -- the levels

    def rounded(self) -> Start:
        names, right = self.in_loop(), self.closed()
        rates = [f"{n}_dot" for n in names if f"{n}_dot" in self.own.columns]
        size = max([abs(right[n]) for n in rates], default=0.0)
        for name in names:
            self.given[name] = round(right[name] + self.some(0, ROUNDING), 5)
        for name in rates:
            self.given[name] = round(right[name] + self.some(0, ROUNDING) * size, 6)
        if len(names) > 1 and self.row["closure"] != "coupling":
            chosen = names if self.row["closure"] != "loop in space" else [n for n in names if n in ("hinge", "slide")]
            if chosen:
                self.leave(chosen[int(self.rng.integers(len(chosen)))], 0.9)
        kept = {n: (self.given[n], HARDLY) for n in names if n in self.given}
        return Start(kept=kept | {n: (self.given[n], HARDLY * max(1.0, size)) for n in rates if n in self.given})

    def partial(self) -> Start:
        names = self.in_loop()
        rows = len(self.own.rows(self.own.instant(self._moment())))
        if self.row["closure"] in ("loop", "redundant loop", "coupling in a loop", "change point"):
            free = "crank" in self.given and "rocker" in names
            stay = ["rocker" if self.rng.random() < 0.5 else str(self.rng.choice(names))] if free else []
            rate = self.given.pop("crank_dot", 0.5)
            for name in names:
                if name not in stay:
                    self.leave(name, 0.9)
            self.given |= {f"{name}_dot": rate for name in stay}
        elif self.row["closure"] == "coupling":
            stay = [names[int(self.rng.integers(len(names)))]] if len(names) > 1 else []
            for name in names:
                if name not in stay:
                    self.leave(name, 0.9)
        elif self.row["closure"] == "loop in space":
            stay = self._less_in_space(names, rows)
        else:
            return self._zero()
        kept = {n: (self.given[n], EXACT) for n in (*stay, *(f"{n}_dot" for n in stay)) if n in self.given}
        return Start(kept=kept, may_contradict=self.row["closure"] == "loop in space")

    def _less_in_space(self, names: list[str], rows: int) -> list[str]:
        """Gives other values of as many coordinates as the loop has rows; the shoulder is given as a whole or not."""
        out = [n for n in ("slide", "hinge") if n in names]
        if len(out) < rows:
            out = [n for n in self.given if n == "shoulder" or (n in names and n.startswith("shoulder_"))] + out[1:]
        if self.row["carry"] == "study":  # which begins where the model does
            return []
        self.from_model = False
        for name in out:
            value = self.given.pop(name)
            if isinstance(value, dict):
                self.elsewhere[name] = {**value, "angle": round(value["angle"] + self.some(0.1, 0.3), 3)}
            else:
                self.elsewhere[name] = round(value + self.some(0.1, 0.3), 3)
        for name in self.own.free:
            self.given.pop(name, None)
        return [n for n in names if n not in out]

    def _moment(self) -> oracle.Moment:
        right = self.closed()
        return oracle.Moment(0.0, right, {name: right[name] for name in self.own.free})

    def contradictory(self) -> Start:
        names = self.in_loop()
        if not names:
            return self._zero()
        right = self.closed()
        rates = [f"{n}_dot" for n in names if f"{n}_dot" in self.own.columns]
        impossible = None
        if rates and self.rng.random() < 0.5:
            if self.row["closure"] == "loop in space":
                rates = [n for n in self.own.free if n != "tail_dot"]
            impossible = {n: right[n] for n in (*names, *rates)}
            impossible[rates[int(self.rng.integers(len(rates)))]] += self.some(0.3, 0.6)
        wrong = "slide" if self.row["closure"] == "loop in space" and "slide" in names else names[-1]
        self.given |= {n: right[n] for n in names}
        self.given[wrong] += self.some(0.05, 0.15)
        for name in self.own.free:
            self.given.pop(name, None)
        asked = {n: (self.given[n], 0.0) for n in names}
        return Start(contradicts=True, asked=asked, impossible=impossible)

    def _zero(self) -> Start:
        """Leaves out some values: the run starts with zero there."""
        rates = [n for n in self.own.free if n in self.given]
        out = [n for n in ("hinge", "slide") if n in self.given][: int(self.rng.integers(1, 3))]
        out.append(rates[int(self.rng.integers(len(rates)))] if rates else "")
        for name in out:
            self.given.pop(name, None)
        self.from_model = True
        kept = {n: x for n, x in self.given.items() if not isinstance(x, dict)}
        return Start(kept={n: (x, EXACT) for n, x in (kept | {n: 0.0 for n in out if n}).items()})

    def whole_turn(self) -> Start:
        turn = {n: x for n, x in self.given.items() if n.startswith("shoulder_r") and not n.endswith("_dot")}
        if "shoulder" in self.given and isinstance(self.given["shoulder"], dict):
            turn = ball_coordinates(self.row["orientation"], self.given["shoulder"])
        spoken = self.row["load"] == "force of a coordinate"
        for name in ("shoulder", "shoulder_1", "shoulder_3", "crank"):
            if isinstance(self.given.get(name), float) and not (spoken and name == "crank"):
                turns = float(self.rng.choice([-2, 2]) * np.pi)
                self.given[name] += turns
                if name == "crank" and self.row["closure"] == "coupling in a loop":  # which holds for equal angles
                    self.given["rocker"] += turns
        kept = {
            n: (x, 1e-7)
            for n, x in self.given.items()
            if not isinstance(x, dict) and n not in turn and n[-4:] != "_dot"
        }
        return Start(kept=kept, turn=turn)
