"""What steppers refuse."""

from __future__ import annotations

from pendula.refusals import Refusal, Why

SERIES_IN_LANES = Refusal(
    "steppers/series-side-by-side",
    "ensemble",
    ("taylor",),
    'stepper "{method}" integrates series, not a right-hand side; use integrate_lanes',
    Why.MATHEMATICS,
)
SERIES = Refusal(
    "steppers/series",
    "run",
    ("taylor",),
    'stepper "{method}" integrates series, not a right-hand side; use integrate_series',
    Why.MATHEMATICS,
)


def _lacks(ability: str, words: str, question: str, feature: str, why: Why) -> Refusal:
    sentence = f'stepper "{{stepper}}" does not support {words}; these do: {{able}}'
    return Refusal(f"steppers/{ability}", question, ("stepper", feature) if feature else ("stepper",), sentence, why)


LACKS = {
    "events": _lacks("events", "finding events", "run", "events", Why.NOT_DONE),
    "constraints": _lacks("constraints", "keeping loops closed by projection", "run", "closed loop", Why.NOT_DONE),
    "lanes": _lacks("lanes", "many runs side by side", "ensemble", "", Why.NOT_DONE),
    "fixed": _lacks("fixed", "steps of a fixed size", "run", "fixed step", Why.NOT_DONE),
}
"""The abilities of steppers that runs ask for: what is said where one is lacking."""
