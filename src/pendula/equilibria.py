"""Equilibria and steady motions: all of them, the lowest, the one at a given pose, and what holds a pose.

Example:
    >>> import pendula
    >>> pendula.equilibria.lowest_equilibrium("pendulum")["theta"]
    0.0
"""

from __future__ import annotations

from pendula.lazy import attach

NAMES = {
    "equilibrium_at": "pendula.analysis.equilibria.equilibrium",
    "find_equilibria": "pendula.analysis.equilibria.find",
    "lowest_equilibrium": "pendula.analysis.equilibria.find",
    "trim": "pendula.analysis.equilibria.trim",
}
"""Every public name of this module and where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
