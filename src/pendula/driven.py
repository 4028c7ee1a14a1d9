"""Periodically driven mechanisms: Floquet multipliers, alone and over a parameter.

Example:
    >>> import math, pendula
    >>> shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)
    >>> pendula.driven.floquet(shaken, at={"theta1": math.pi}).verdict  # upright, and it stays
    'stable (linear)'
"""

from __future__ import annotations

from pendula.lazy import attach

NAMES = {
    "floquet": "pendula.analysis.driven.floquet",
    "floquet_boundary": "pendula.analysis.driven.study",
    "floquet_over": "pendula.analysis.driven.study",
}
"""Every public name of this module and where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
