"""Limits of joints in files of other tools: left out with a note, or taken over as elastic stops."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pendula.errors import UsageError
from pendula.exchange.robots.draft import Draft


@dataclass(frozen=True)
class Limit:
    """The range of a joint with one coordinate; ``slides`` distinguishes lengths from angles."""

    joint: str
    lower: float
    upper: float
    slides: bool

    def __str__(self) -> str:
        return f"{self.joint} {self.lower:.4g} to {self.upper:.4g}"


def check_limits(limits: float | None, dissipation: float, call: str) -> None:
    """Raises UsageError for a stiffness or dissipation that no stop has."""
    if limits is None and dissipation:
        raise UsageError(f"{call}: dissipation is that of the stops at limits; give limits=stiffness, too")
    for name, value, least in (("limits", limits, "positive"), ("dissipation", dissipation, "0 or more")):
        if value is None:
            continue
        good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not good or value < 0 or (value == 0 and name == "limits"):
            unit = "the stiffness of stops [N/m, N m/rad]" if name == "limits" else "of stops [s/m, s/rad]"
            raise UsageError(f"{call}: {name} is {unit} and must be {least}, found {value!r}")


def add_limits(draft: Draft, found: Iterable[Limit], stiffness: float | None, dissipation: float) -> None:
    """Stops of this stiffness for all limits, with parameters for their values; a note lists the limits either way."""
    limits = list(found)
    if not limits:
        return
    listed = "; ".join(map(str, limits))
    if stiffness is None:
        draft.note(f"limits of joints: left out: {listed}")
        return
    empty = [x for x in limits if not x.lower < x.upper]
    if empty:
        draft.note(f"limits of joints: left out, since they leave no range: {'; '.join(map(str, empty))}")
    names: dict[bool, tuple[str, str]] = {}
    for limit in limits:
        if limit in empty:
            continue
        if limit.slides not in names:
            kind = "slide" if limit.slides else "hinge"
            wanted = (f"{kind}_limit_stiffness", stiffness), (f"{kind}_limit_dissipation", dissipation)
            names[limit.slides] = tuple(draft.parameter(name, float(value)) for name, value in wanted)  # type: ignore[assignment]
        k, d = names[limit.slides]
        draft.forces.append(
            {
                "type": "joint-limit", "joint": limit.joint, "lower": limit.lower, "upper": limit.upper,
                "stiffness": k, "dissipation": d,
            }
        )  # fmt: skip
    taken = "; ".join(str(x) for x in limits if x not in empty)
    draft.note(f"limits of joints: taken over as stops of stiffness {stiffness:g}: {taken}")
