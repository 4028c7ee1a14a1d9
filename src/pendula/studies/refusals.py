"""What studies refuse."""

from __future__ import annotations

from pendula.refusals import Refusal, Why

NOT_SENT = Refusal(
    "study/not-sent",
    "study",
    ("function from elsewhere",),
    "the study cannot be sent to other processes: {error}.\n"
    "  Try: a function that is defined at the top level of a module.",
    Why.OUTSIDE,
)
