"""Pickles of an earlier version: they give the same numbers, or cannot be loaded; nothing comes back half.

Pickle takes results to other processes of one version (docs/data.md); files keep them. Where a class has moved or has
changed, loading must therefore fail, there and then, with an error that names it: one of Pendula, or that of Python for
a module or class that is gone. An object that comes back and then breaks, or gives other numbers, is a defect.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from pendula.errors import PendulaError
from tests.earlier.cases import DATA, PICKLES
from tests.earlier.test_files import AGREE, NUMBERS, ROUNDING

INTEGRATED = ("end",)
"""numbers of a new integration"""


def opened(name: str) -> Any:
    """The object of a pickle; None if it is refused in a way that says what is missing."""
    try:
        return pickle.loads((DATA / f"pickles/{name}.pickle").read_bytes())
    except PendulaError as error:
        assert "version" in str(error)  # noqa: PT017
    except (ImportError, AttributeError) as error:  # the module or the class is gone
        assert "pendula." in str(error)  # noqa: PT017
    return None


def test_nothing_is_missing() -> None:
    assert {path.stem for path in (DATA / "pickles").iterdir()} == {*PICKLES}


@pytest.mark.parametrize("name", PICKLES)
def test_pickles_give_the_same_numbers_or_are_refused(name: str) -> None:
    found = opened(name)
    if found is None:
        return
    numbers, wanted = PICKLES[name].numbers(found), NUMBERS["pickles"][name]
    assert numbers.keys() == wanted.keys()
    for key, values in wanted.items():
        tolerance = AGREE if key in INTEGRATED else ROUNDING
        np.testing.assert_allclose(
            np.asarray(numbers[key], dtype=float), np.array(values), rtol=tolerance, atol=tolerance, err_msg=key
        )
