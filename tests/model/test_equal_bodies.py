"""Bodies with equal descriptions are read and checked once; that hides no fault and changes no number."""

from __future__ import annotations

from typing import Any

import pytest

from pendula import Model
from pendula.errors import ModelError


def row_of(*rods: dict[str, Any]) -> Model:
    """Bodies in a row, one for every rod."""
    return Model(
        name="row",
        gravity=[0, "-g", 0],
        parameters={"g": 9.81, "m": 2, "l": 3},
        bodies=[{"name": f"b{k}", "rod": rod} for k, rod in enumerate(rods)],
        joints=[
            {"name": f"a{k}", "type": "revolute", "parent": f"b{k - 1}" if k else "ground", "child": f"b{k}"}
            for k in range(len(rods))
        ],
    )


def test_equal_rods_are_one_object_and_different_ones_stay_apart() -> None:
    model = row_of(*({"mass": "m", "length": length} for length in ("l", 1, 1.0, "l", 1)))
    rods = [body.rod for body in model.bodies]
    assert rods[0] is rods[3]
    assert rods[1] is rods[4]
    assert [repr(rod.length) for rod in rods if rod is not None] == ["'l'", "1", "1.0", "'l'", "1"]


def test_what_equals_a_number_but_is_none_is_still_refused() -> None:
    with pytest.raises(ModelError, match=r'(?s)"b1".*must be a number.*true'):
        row_of({"mass": 1, "length": 1}, {"mass": True, "length": 1})


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"mass": -1, "length": 1}, "must not be negative"),
        ({"mass": "m", "length": "l - 3"}, "must be positive"),
        ({"mass": "m", "length": "k"}, "is not known"),
        ({"mass": "m", "length": "sqrt(-l)"}, "has no finite value"),
    ],
)
def test_a_fault_is_reported_for_every_body_that_has_it(fault: dict[str, Any], words: str) -> None:
    good = {"mass": "m", "length": "l"}
    with pytest.raises(ModelError) as caught:
        row_of(good, fault, good, fault)
    named = {problem.element for problem in caught.value.problems if words in problem.cause}
    assert named == {'body "b1"', 'body "b3"'}
