"""Linear models about equilibria: eigenvalues, modes in motion, responses, and how far the models hold.

The first steps are in the root: ``pendula.linearize``, ``pendula.modes``, ``pendula.stability``.

Example:
    >>> import pendula
    >>> pendula.linear.spectrum("pendulum", {"theta": 0}).values.imag.round(3).tolist()
    [3.836, -3.836]
"""

from __future__ import annotations

from pendula.lazy import attach

NAMES = {
    "animate_mode": "pendula.present.pictures.modes",
    "free_response": "pendula.analysis.modes.response",
    "harmonic_response": "pendula.analysis.modes.harmonic",
    "linear_range": "pendula.analysis.linear.linear_range",
    "linearize": "pendula.analysis.linear.linearize",
    "linearize_many": "pendula.analysis.linear.linearize_many",
    "linearize_symbolic": "pendula.equations.small_motion",
    "modal_coordinates": "pendula.analysis.modes.modes",
    "modes": "pendula.analysis.modes.modes",
    "pencil": "pendula.analysis.linear.pencil",
    "spectrum": "pendula.analysis.linear.spectrum",
    "stability": "pendula.analysis.stability.verdict",
    "stability_over": "pendula.analysis.stability.ranges",
}
"""Every public name of this module and where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
