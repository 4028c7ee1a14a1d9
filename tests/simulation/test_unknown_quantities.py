"""Names that a run does not know."""

from __future__ import annotations

import pytest

import pendula
from pendula.errors import UsageError


def test_all_names_of_a_run_are_listed() -> None:
    run = pendula.simulate("double-pendulum", 0.1)
    with pytest.raises(UsageError) as caught:
        run["foo"]
    known = str(caught.value).partition("available: ")[2].split(", ")
    for name in ("theta1", "theta2_dot", "theta1_ddot", "kinetic", "work", "t", "upper.tip.x", "lower.tip.x"):
        assert name in known
        run[name]
    assert len({*known}) == len(known)
