"""Linear models about equilibria: eigenvalues, modes in motion, responses, and how far the models hold.

The first steps are in the root: ``pendula.linearize``, ``pendula.modes``, ``pendula.stability``.

Example:
    >>> import pendula
    >>> pendula.linear.spectrum("pendulum", {"theta": 0}).values.imag.round(3).tolist()
    [3.836, -3.836]
"""

from pendula.lazy import attach

NAMES = {
    "pendula.analysis.charts.at_rest": "stability_chart",
    "pendula.analysis.linear.linear_range": "linear_range",
    "pendula.analysis.linear.linearize": "linearize",
    "pendula.analysis.linear.linearize_many": "linearize_many",
    "pendula.analysis.linear.motion_inputs": "linearize_motions",
    "pendula.analysis.linear.pencil": "pencil",
    "pendula.analysis.linear.spectrum": "spectrum",
    "pendula.analysis.linear.symbolic": "linearize_symbolic",
    "pendula.analysis.modes.forced": "forced_response",
    "pendula.analysis.modes.harmonic": "harmonic_response",
    "pendula.analysis.modes.modes": "modal_coordinates modes",
    "pendula.analysis.modes.response": "free_response",
    "pendula.analysis.stability.ranges": "stability_over",
    "pendula.analysis.stability.verdict": "stability",
    "pendula.present.pictures.modes": "animate_mode",
}
"""Every public name of this module, by the module where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
