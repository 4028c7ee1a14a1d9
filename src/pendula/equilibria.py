"""Equilibria and steady motions: all of them, the lowest, the one at a given pose, and what holds a pose.

Example:
    >>> import pendula
    >>> pendula.equilibria.lowest_equilibrium("pendulum")["theta"]
    0.0
"""

from pendula.lazy import attach

NAMES = {
    "pendula.analysis.equilibria.equilibrium": "equilibrium_at",
    "pendula.analysis.equilibria.find": "find_equilibria lowest_equilibrium",
    "pendula.analysis.equilibria.trim": "trim",
}
"""Every public name of this module, by the module where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
