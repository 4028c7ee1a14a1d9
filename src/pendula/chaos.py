"""Sensitive motion: how fast neighbouring motions part, and up to which time a run can be relied on.

Example:
    >>> import pendula
    >>> run = pendula.simulate("pendulum", 2.0, samples=50)
    >>> pendula.chaos.horizon(run).reached
    False
"""

from __future__ import annotations

from pendula.lazy import attach

NAMES = {
    "divergence": "pendula.analysis.chaos.divergence",
    "horizon": "pendula.analysis.chaos.horizon",
    "lyapunov": "pendula.analysis.chaos.lyapunov",
}
"""Every public name of this module and where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
