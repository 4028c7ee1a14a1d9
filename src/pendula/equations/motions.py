"""Velocities and accelerations of all bodies, from their poses alone.

This is the reference for comparing formulations: given the accelerations v' of one of them, it gives the motion of
every body in world axes. It differentiates poses in time and uses no results of a formulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pendula.equations import vectors as vec
from pendula.equations.equations import acceleration_symbols, drive_definitions
from pendula.equations.mechanism.mechanism import Mechanism
from pendula.equations.tape import Expr


@dataclass(frozen=True)
class BodyMotions:
    """Body -> (angular velocity, velocity of the mass centre, angular acceleration, acceleration), world axes."""

    definitions: tuple[tuple[Any, Expr], ...]
    accelerations: tuple[Any, ...]
    """symbols for v'"""
    motions: Mapping[str, tuple[tuple[Expr, ...], ...]]


def derive_motions(mechanism: Mechanism) -> BodyMotions:
    """Body velocities and accelerations as expressions of t, q, v, v', p."""
    tape = mechanism.tape
    accelerations = acceleration_symbols(mechanism.v)
    first = mechanism.in_time()
    second = mechanism.in_time(accelerations=dict(zip(mechanism.v, accelerations, strict=True)))
    motions = {}
    for link, pose in zip(mechanism.links, mechanism.poses, strict=True):
        center = vec.add(pose.r, vec.times(pose.R, link.com))
        velocity = tape.keep_all(first.all(center), f"vW__{link.body}")
        if pose.theta is not None:
            omega: list[Expr] = [0, 0, first(pose.theta)]
        else:
            omega = mechanism.angular_velocity(pose.R, first, link.body)
        rates = (tuple(second.all(omega)), tuple(second.all(velocity)))
        motions[link.body] = (tuple(omega), tuple(velocity), *rates)
    definitions = (*drive_definitions(mechanism), *tape.definitions.items())
    return BodyMotions(definitions, accelerations, motions)
