"""Sensitive motion: how fast neighbouring motions diverge, and up to which time a run is reliable.

Example:
    >>> import pendula
    >>> run = pendula.simulate("pendulum", 2.0, samples=50)
    >>> pendula.chaos.horizon(run).reached
    False
"""

from pendula.lazy import attach

NAMES = {
    "pendula.analysis.chaos.divergence": "divergence",
    "pendula.analysis.chaos.horizon": "horizon",
    "pendula.analysis.chaos.lyapunov": "lyapunov",
}
"""Every public name of this module, by the module where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
