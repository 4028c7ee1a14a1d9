"""Equations of motion: derived, explained, simplified, and compared with those that others wrote.

The first steps are in the root: ``derive``, ``print_equations``, ``check`` and ``explain``.

Example:
    >>> import pendula
    >>> list(pendula.derivation.formulations())
    ['lagrange', 'kane', 'newton-euler', 'maximal', 'projection']
    >>> found = pendula.derivation.projection_matrices("double-physical-pendulum", {"phi1": 0.3})
    >>> found.reduced_M.shape, len(found.multipliers)
    ((2, 2), 10)
"""

from pendula.lazy import attach

NAMES = {
    "pendula.analysis.court.against": "check_against",
    "pendula.analysis.court.agreement": "check",
    "pendula.analysis.court.given_system": "compile_equations",
    "pendula.analysis.reactions.projection": "projection_matrices",
    "pendula.equations.derive": "derive",
    "pendula.equations.formulations.registry": "formulations",
    "pendula.equations.orientation.velocity_maps": "velocity_maps",
    "pendula.equations.printing.formats": "print_equations",
    "pendula.equations.stages.stages": "stages",
    "pendula.present.explain.explain": "explain",
}
"""Every public name of this module, by the module where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
