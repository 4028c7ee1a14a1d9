"""What the studio refuses."""

from __future__ import annotations

from pendula.refusals import Refusal, Why

NO_PICTURE = Refusal(
    "studio/picture",
    "picture",
    ("kind of result",),
    "results of the kind {kind} have no picture",
    Why.NOT_DONE,
)
