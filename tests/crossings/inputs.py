"""What acts on a mechanism in a run, as a caller gives it, and its value at any instant by numbers of our own.

A value is never read from the run that it drove: a series is evaluated from its knots, a law from the state, and a
sampled controller is stepped through its sampling times with the states of the run there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

import pendula
from pendula.analysis.court.second_reader import evaluate_text
from tests.crossings.factors import AT_REST, Row

EVERY = 0.1
"""sampling time of controllers, and distance of the knots of held series"""
State = Mapping[str, float]


@dataclass(frozen=True)
class Law:
    """A feedback law as a Python function; a class, so that pickle takes it."""

    q: str
    v: str

    def __call__(self, t: float, state: Any) -> float:
        return 0.8 * np.cos(3 * t) - 2.0 * float(state[self.q]) - 0.5 * float(state[self.v])


@dataclass(frozen=True)
class Memory:
    """A controller whose memory is the sum of its errors."""

    q: str
    v: str

    def __call__(self, t: float, state: Any, total: float) -> tuple[float, float]:
        error = float(state[self.q]) - 0.2
        return -3.0 * error - 0.4 * float(state[self.v]) - 2.0 * total, total + EVERY * error


Value = Callable[[float, State, Callable[[float], State]], float]
"""the value at (t, state there, states at other times)"""


@dataclass(frozen=True)
class Given:
    """An input as the caller gives it, and its own value.

    Attributes:
        inputs: the argument of ``simulate``.
        value: what it is at an instant.
        is_law: whether text or a number says it, so that it belongs to the model as well.
        jumps: whether it jumps at multiples of :data:`EVERY`.
    """

    inputs: dict[str, Any]
    value: Value
    is_law: bool = False
    jumps: bool = False


def given_input(row: Row, q: str, v: str, rng: np.random.Generator) -> Given:
    """The input of a row, which names a coordinate and a speed."""
    kind = row["input"]
    if kind == "none":
        return Given({}, lambda t, state, at: 0.0, is_law=True)
    if kind == "number":
        number = round(float(rng.uniform(-1.5, 1.5)), 3)
        return Given({"F": number}, lambda t, state, at: number, is_law=True)
    if kind in ("text of time", "feedback"):
        wave = "0.8" if row["question"] in AT_REST else "0.8*cos(3*t)"
        text = "0.8*sin(3*t) + 0.2" if kind == "text of time" else f"{wave} - 2*{q} - 0.5*{v}"
        return Given({"F": text}, lambda t, state, at: float(evaluate_text(text, {**state, "t": t}).x), is_law=True)
    if kind.endswith("series"):
        return _series(kind.removesuffix(" series"), rng)
    if kind == "function":
        law = Law(q, v)
        return Given({"F": law}, lambda t, state, at: law(t, state))
    return _sampled(kind, q, v, rng)


def given_beside(row: Row, rng: np.random.Generator) -> Given:
    """What the caller gives for the second input G; none where it keeps its value in the model."""
    kind = row["beside"]
    if kind in ("nothing", "model"):
        return Given({}, lambda t, state, at: 0.0, is_law=True)
    if kind == "number":
        number = round(float(rng.uniform(-1.5, 1.5)), 3)
        return Given({"G": number}, lambda t, state, at: number, is_law=True)
    if kind == "text of time":
        text = "0.6*cos(4*t) - 0.3"
        return Given({"G": text}, lambda t, state, at: float(evaluate_text(text, {"t": t}).x), is_law=True)
    return _series(str(rng.choice(["held", "linear", "cubic"])), rng, "G")


def _series(kind: str, rng: np.random.Generator, name: str = "F") -> Given:
    knots = EVERY * np.arange(-2, 16)
    values = rng.uniform(-1.5, 1.5, size=knots.size).round(3)
    given: Any = pendula.Signal(knots, values, {"held": "hold"}.get(kind, kind))
    if kind == "linear" and rng.random() < 0.5:
        given = (knots, values)
    spline = CubicSpline(knots, values)

    def value(t: float, state: State, at: Callable[[float], State]) -> float:
        if kind == "held":
            return float(values[int(np.searchsorted(knots, t + 1e-12, side="right")) - 1])
        return float(spline(t)) if kind == "cubic" else float(np.interp(t, knots, values))

    return Given({name: given}, value, jumps=kind != "cubic")


def _sampled(kind: str, q: str, v: str, rng: np.random.Generator) -> Given:
    delay = float(rng.choice([0.0, EVERY / 2]))
    if kind == "sampled with memory":
        law: Any = Memory(q, v)
        given = pendula.Sampled(law, every=EVERY, delay=delay, initial=0.3, memory=0.0)
    else:
        law = Law(q, v)
        text = f"0.8*cos(3*t) - 2*{q} - 0.5*{v}"
        given = pendula.Sampled(text if rng.random() < 0.5 else law, every=EVERY, delay=delay, initial=0.3)

    def value(t: float, state: State, at: Callable[[float], State]) -> float:
        last = int(np.floor((t - delay) / EVERY + 1e-9))
        if last < 0:
            return 0.3
        if kind != "sampled with memory":
            return float(law(last * EVERY, at(last * EVERY)))
        total, output = 0.0, 0.3
        for k in range(last + 1):
            output, total = law(k * EVERY, at(k * EVERY), total)
        return float(output)

    return Given({"F": given}, value, jumps=True)
