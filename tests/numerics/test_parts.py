"""Functions that only compiled code calls: no machine code of their own, the same results."""

from __future__ import annotations

import numba
import pytest
from numba.core import types

from pendula.numerics.compiled.jit import compiled, compiled_part
from pendula.numerics.compiled.parts import PIPELINE


@compiled_part
def _twice(x):
    return 2.0 * x


@compiled_part
def _twice_and_one(x):
    return _twice(x) + 1.0


@compiled
def _outer(x):
    return _twice_and_one(x) - _twice(x)


def test_numba_has_what_the_short_cuts_need() -> None:
    assert PIPELINE, f"numba {numba.__version__} has moved what numerics.compiled.parts uses: kernels compile slower"


def test_parts_run_inside_their_callers() -> None:
    assert _outer(3.0) == 1.0
    assert _outer(7) == 1.0


def test_parts_get_no_machine_code() -> None:
    @numba.njit
    def caller(x):  # compiled in any case: `_outer` may come from disk
        return _twice(x)

    caller(3.0)
    (signature,) = [s for s in _twice.overloads if s[0] == types.float64]
    library = _twice.overloads[signature].library
    assert library._final_module is not None
    assert library._compiled_object is None


def test_a_part_that_cannot_be_typed_says_so() -> None:
    @compiled_part
    def bad(x):
        return x.nothing

    @compiled
    def caller(x):
        return bad(x)

    with pytest.raises(numba.TypingError, match="nothing"):
        caller(1.0)
