"""Equilibria and steady motions: all of them, the lowest, the one at a pose, what holds a pose, Routh's reduction.

Example:
    >>> import pendula
    >>> pendula.equilibria.lowest_equilibrium("pendulum")["theta"]
    0.0
"""

from pendula.lazy import attach

NAMES = {
    "pendula.analysis.equilibria.equilibrium": "equilibrium_at",
    "pendula.analysis.equilibria.find": "find_equilibria lowest_equilibrium",
    "pendula.analysis.equilibria.precession": "steady_precession",
    "pendula.analysis.equilibria.trim": "trim",
    "pendula.analysis.symmetry.routh": "routh",
}
"""Every public name of this module, by the module where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
