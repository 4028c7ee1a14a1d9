"""Adding to Pendula from outside: one function for each kind of thing that can be added.

A file that calls these functions is an extension; ``docs/extending.md`` walks through one of each kind.

Example:
    >>> import pendula.extend
    >>> "register_command" in dir(pendula.extend)
    True
"""

from __future__ import annotations

from pendula.lazy import attach

NAMES = {
    "STEPPERS": "pendula.numerics.steppers.stepper",
    "Stepper": "pendula.numerics.steppers.stepper",
    "load_extension": "pendula.extensions",
    "load_installed": "pendula.extensions",
    "register_command": "pendula.app.registry",
    "register_force": "pendula.model.forces.registry",
    "register_format": "pendula.formats",
    "register_formulation": "pendula.equations.formulations.registry",
    "register_mechanism": "pendula.library.registry",
    "register_plot": "pendula.present.pictures.registry",
    "rates": "pendula.numerics.steppers.equations",
    "register_stepper": "pendula.numerics.steppers.stepper",
}
"""Every public name of this module and where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
