"""The readers of arguments accept what is meant and refuse the rest by name."""

from __future__ import annotations

import numpy as np
import pytest

from pendula import arguments
from pendula.errors import UsageError


@pytest.mark.parametrize("value", [1, 1.0, True, np.float64(1), np.int64(1), np.array(1.0)])
def test_numbers_of_every_kind_are_read(value):
    assert arguments.read_number(value, "x") == 1.0


@pytest.mark.parametrize("value", ["1", b"1", None, 1j, [], [1, 2], object(), 10**400])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(UsageError, match="x must be a number"):
        arguments.read_number(value, "x")


def test_an_object_that_cannot_be_shown_is_named_by_its_type():
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    assert arguments.shortly(Mute()) == "an object of type Mute"
    assert len(arguments.shortly(10**9999)) <= 60


@pytest.mark.parametrize("value", [0, np.int64(3), None, 10**30])
def test_seeds(value):
    np.random.default_rng(arguments.read_seed(value))


@pytest.mark.parametrize("value", [-1, 1.0, "1", [1]])
def test_what_is_no_seed_is_refused(value):
    with pytest.raises(UsageError, match="seed"):
        arguments.read_seed(value)
