"""Periodically driven mechanisms: Floquet multipliers, alone and over a parameter.

Example:
    >>> import math, pendula
    >>> shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)
    >>> pendula.driven.floquet(shaken, at={"theta1": math.pi}).verdict  # upright, and it stays
    'stable (linear)'
"""

from pendula.lazy import attach

NAMES = {
    "pendula.analysis.charts.driven": "floquet_chart",
    "pendula.analysis.driven.floquet": "floquet",
    "pendula.analysis.driven.study": "floquet_boundary floquet_over",
}
"""Every public name of this module, by the module where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
