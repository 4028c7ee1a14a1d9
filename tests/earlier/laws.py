"""Functions for inputs of runs, at the top of a module: pickle knows them by name."""

from __future__ import annotations

from typing import Any


def push(t: float, state: Any) -> float:
    """A force that follows the time and pulls the cart back."""
    return 5.0 * t - float(state["x"])


def pull(t: float, state: Any) -> float:
    """A feedback law without memory."""
    return -4.0 * float(state["x"]) - 2.0 * float(state["x_dot"])


def pid(t: float, state: Any, total: float) -> tuple[float, float]:
    """A controller whose memory is the sum of its errors."""
    error = float(state["x"]) - 0.2
    return -8.0 * error - 4.0 * float(state["x_dot"]) - 2.0 * total, total + 0.05 * error
