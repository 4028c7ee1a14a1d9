"""Closed loops."""

from __future__ import annotations

from typing import Literal

from pendula.errors import UsageError
from pendula.model.base import Scalar
from pendula.model.model import Model


def four_bar(*, branch: Literal["open", "crossed"] = "open", crank_rate: Scalar = 4.0) -> Model:
    """Four bars in a loop: crank, coupler, rocker and the ground between the pivots.

    Closed forms: the loop closes where two circles meet, so coupler and rocker angles follow from the crank's
    (they are the initial values here). With the lengths given, shortest + longest < sum of the other two: the
    crank turns fully (Grashof).

    Args:
        branch: which of the two ways to assemble.
        crank_rate: initial rate of the crank [rad/time]; the others follow from the loop.
    """
    signs = {"open": ("+", "-"), "crossed": ("-", "+")}
    if branch not in signs:
        raise UsageError(f'branch is "open" or "crossed", found {branch!r}')
    first, second = signs[branch]
    return Model(
        name="four-bar linkage",
        gravity=[0, "-g", 0],
        parameters={
            "g": 9.81,
            "a": 1.0,
            "b": 2.0,
            "c": 2.2,
            "d": 2.5,
            "rho": 1.0,
            "crank0": "60deg",
            "diagonal": "hypot(d - a*sin(crank0), a*cos(crank0))",
            "slope": "atan2(d - a*sin(crank0), -a*cos(crank0))",
            "coupler0": f"slope {first} acos((b**2 + diagonal**2 - c**2)/(2*b*diagonal))",
            "rocker0": f"slope + pi {second} acos((c**2 + diagonal**2 - b**2)/(2*c*diagonal))",
        },
        bodies=[
            {"name": name, "rod": {"mass": f"rho*{length}", "length": length}}
            for name, length in (("crank", "a"), ("coupler", "b"), ("rocker", "c"))
        ],
        joints=[
            _pin("crank", "ground", "crank"),
            _pin("coupler", {"body": "crank", "at": "tip"}, "coupler"),
            _pin("rocker", {"body": "ground", "position": ["d", 0, 0]}, "rocker"),
            {
                "name": "pin",
                "type": "coincident",
                "parent": {"body": "rocker", "at": "tip"},
                "child": {"body": "coupler", "at": "tip"},
            },
        ],
        initial={"crank": "crank0", "coupler": "coupler0", "rocker": "rocker0", "crank_dot": crank_rate}
        | _rates(crank_rate),
    )


def _pin(name: str, parent: object, child: str) -> dict[str, object]:
    return {"name": name, "type": "revolute", "parent": parent, "child": child, "measured_from": "ground"}


def _rates(crank_rate: Scalar) -> dict[str, Scalar]:
    """Rates of coupler and rocker for a rate of the crank, from the velocity of the pin."""
    coupler = "a*sin(crank0 - rocker0)/(b*sin(rocker0 - coupler0))"
    rocker = "a*sin(crank0 - coupler0)/(c*sin(rocker0 - coupler0))"
    return {"coupler_dot": f"({crank_rate})*{coupler}", "rocker_dot": f"({crank_rate})*{rocker}"}
