"""Studies: many cases of a mechanism, resumable, on one machine or many.

``pendula.sweep`` runs a study and ``pendula.load_sweep`` reads one; what else belongs to them is here.

Example:
    >>> import pendula
    >>> pendula.studies.estimate_sweep("pendulum", {"theta": "0:1:1000"}, duration=1.0).cases
    1000
"""

from pendula.lazy import attach

NAMES = {
    "pendula.studies.estimate": "estimate_sweep",
    "pendula.studies.statistics": "estimate",
}
"""Every public name of this module, by the module that defines it."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
