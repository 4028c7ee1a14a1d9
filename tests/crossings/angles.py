"""Coordinates of poses: of a ball that is turned, and of a four-bar that is closed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.crossings.factors import Row


def ball_coordinates(orientation: str, turn: dict[str, Any]) -> dict[str, float]:
    """Coordinates of the shoulder for a rotation about an axis by an angle."""
    axis = np.array(turn["axis"], dtype=float) / np.linalg.norm(turn["axis"])
    if orientation == "rotation vector":
        return dict(zip(("shoulder_rx", "shoulder_ry", "shoulder_rz"), map(float, axis * turn["angle"]), strict=True))
    half = turn["angle"] / 2
    parts = [np.cos(half), *(np.sin(half) * axis)]
    return {f"shoulder_q{k}": float(part) for k, part in enumerate(parts)}


def four_bar_angles(a: float, b: float, c: float, d: float, turn: float) -> tuple[float, float]:
    """Angles of coupler and rocker of a four-bar with links a, b, c on pivots d apart, for an angle of the crank."""
    tip = a * np.array([np.cos(turn), np.sin(turn)])
    across = np.array([d, 0.0]) - tip
    size = float(np.hypot(*across))
    along = (b**2 - c**2 + size**2) / (2 * size)
    foot = tip + along * across / size
    joint = foot + np.sqrt(b**2 - along**2) * np.array([-across[1], across[0]]) / size
    coupler, rocker = joint - tip, joint - np.array([d, 0.0])
    return float(np.arctan2(coupler[1], coupler[0])), float(np.arctan2(rocker[1], rocker[0]))


def before_flat(row: Row, rng: np.random.Generator) -> float:
    """An angle of a prescribed crank from which parallel cranks come to lie flat within the run, amid a block."""
    t = float(rng.choice([0.125, 0.175, 0.225, 0.275]))
    return float(-1.5 * t if row["drive"] == "turning" else -0.2 * np.sin(2 * t))
