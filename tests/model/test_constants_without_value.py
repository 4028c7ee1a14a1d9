"""Constants that are infinite or not real end in one message that quotes them, wherever they are written."""

from __future__ import annotations

import pytest

import pendula
from pendula import Model
from pendula.errors import PendulaError
from pendula.model.expressions.expression import parse
from pendula.model.names import ExpressionError


@pytest.mark.parametrize(
    "text",
    ["theta/0", "t/0", "1/cos(90deg)", "tan(90deg)*theta", "tan(270deg)", "1/sin(180deg)", "x/sin(0)", "atan2(0, 0)",
     "max(theta, t/0)", "abs(theta/0)", "theta/(1 - 1)", "floor(theta/0)", "theta/cos(pi/2)"],
)  # fmt: skip
def test_a_constant_without_value_is_refused_when_it_is_read(text):
    with pytest.raises(ExpressionError, match="has no finite value"):
        parse(text)


@pytest.mark.parametrize("text", ["cos(90deg)", "1/cos(89.999deg)", "tan(89deg)", "sin(1e-20)", "1/sin(1e-20)", "0**2"])
def test_small_and_large_constants_remain(text):
    assert abs(parse(text).evaluate()) < 1e21


def pendulum(**changes: object) -> Model:
    fields: dict[str, object] = {"mass": 1, "com": [0.5, 0, 0], "inertia": [0.1, 0.1, 0.1]}
    place: dict[str, object] = {"position": [0, 0, 0]}
    body = fields | {k: x for k, x in changes.items() if k in fields}
    return Model(
        name="one link",
        gravity=changes.get("gravity", [0, -9.81, 0]),
        parameters={"w": changes.get("parameter", 1.0)},
        inputs={"u": changes.get("input", 0)},
        bodies=[{"name": "b", **body}],
        joints=[
            {
                "name": "theta",
                "type": "revolute",
                "parent": {"body": "ground", **place, **{k: x for k, x in changes.items() if k in place}},
                "child": "b",
            }
        ],
        forces=[{"type": "generalized", "coordinate": "theta", "value": changes.get("force", "u")}],
        initial={"theta": changes.get("initial", 1)},
    )


LATE = ("1/(theta - theta)", "sqrt(0*theta - 1)", "(0*t - 1)**0.5", "w/(w - w)", "(t - t)/(t - t)", "log(0*theta - 1)")
"""their symbols cancel, which is seen only in symbolic form"""


@pytest.mark.parametrize("text", LATE)
@pytest.mark.parametrize("engine", ["symbolic", "recursive"])
def test_a_force_whose_symbols_cancel_to_nothing_finite_is_refused(text, engine):
    with pytest.raises(PendulaError, match="has no finite value"):
        pendula.compile_system(pendulum(force=f"u + {text}"), engine=engine)


@pytest.mark.parametrize("text", LATE)
def test_an_event_whose_symbols_cancel_is_refused(text):
    event = text.replace("w", "g")
    with pytest.raises(PendulaError, match="has no finite value"):
        pendula.simulate("pendulum", 0.1, events=[f"{event} = 0"])


@pytest.mark.parametrize("text", ["1/(theta - theta)", "sqrt(0*theta - 1)"])
def test_an_input_whose_symbols_cancel_is_refused(text):
    with pytest.raises(PendulaError, match="has no finite value"):
        pendula.simulate("cart-pole", 0.1, inputs={"F": text})


@pytest.mark.parametrize(
    "place",
    [{"parameter": "tan(90deg)"}, {"input": "t/0"}, {"mass": "1/cos(90deg)"}, {"com": ["1/0", 0, 0]}, {"initial": "1/0"},
     {"inertia": ["atan2(0, 0)", 1, 1]}, {"position": ["1/cos(90deg)", 0, 0]}, {"gravity": [0, "tan(90deg)", 0]}],
    ids=lambda place: next(iter(place)),
)  # fmt: skip
def test_every_field_refuses_a_constant_without_value(place):
    with pytest.raises(pendula.errors.ModelError, match="has no finite value"):
        pendulum(**place)


def test_zero_to_the_power_of_time_is_no_crash():
    run = pendula.simulate(pendulum(force="u + 0**t"), 0.1, samples=3)
    assert run.ok
