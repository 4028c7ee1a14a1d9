"""Feedback laws written into the forces of a model."""

from __future__ import annotations

import copy
import pickle

import pytest

import pendula
from pendula import library
from pendula.errors import UsageError
from pendula.model.feedback import closed_loop
from pendula.model.files import dumps


def test_a_model_with_feedback_keeps_the_written_one() -> None:
    """However it is copied: worker processes get models by pickle."""
    written = library.cart_pole().with_changes(inputs={"F": "-3*x - 2*x_dot"})
    closed = closed_loop(written)
    assert closed_loop(written) == closed
    assert hash(closed_loop(written)) == hash(closed)
    copies = pickle.loads(pickle.dumps(closed)), copy.copy(closed), copy.deepcopy(closed), closed.model_copy()
    for one in (closed, *copies):
        assert one == closed
        assert one.as_written == written
        assert one.laws == {"F": "-3*x - 2*x_dot"}
    assert written.as_written is written
    changed = closed.with_changes(name="other")
    assert changed.as_written is changed
    assert dumps(closed.as_written) == dumps(written)
    with pytest.raises(AttributeError, match="cannot be changed"):
        closed._written = None


def test_models_are_equal_whether_their_feedback_was_an_input_or_a_force() -> None:
    closed = closed_loop(library.cart_pole().with_changes(inputs={"F": "-3*x - 2*x_dot"}))
    alike = closed.with_changes()
    assert alike.as_written is alike
    assert closed == alike
    assert hash(closed) == hash(alike)
    assert closed != closed.as_written
    assert closed != closed.with_changes(name="other")
    assert closed != "cart-pole"


def test_analyses_say_that_an_input_is_a_feedback_law() -> None:
    held = library.cart_pole().with_changes(inputs={"F": "-3*x"})
    words = 'input "F" is a feedback law of the model'
    with pytest.raises(UsageError, match=words):
        pendula.find_equilibria(held, inputs={"F": 0})
    with pytest.raises(UsageError, match=words):
        pendula.linearize(held, {"theta": 0}, inputs={"F": 0})
