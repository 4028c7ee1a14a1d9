"""Constants that are not real numbers end in one clear error."""

import pytest
import symengine as se

from pendula.errors import ComputationError
from pendula.system.code.lower import _real


def test_a_constant_without_a_real_value_is_named():
    assert _real(se.Rational(1, 4)) == 0.25
    with pytest.raises(ComputationError, match="not a real number"):
        _real(se.zoo)
