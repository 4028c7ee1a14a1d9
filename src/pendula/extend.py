"""Adding to Pendula from outside: one function for each kind of thing that can be added.

A file that calls these functions is an extension; ``docs/extending.md`` walks through one of each kind.

Example:
    >>> import pendula.extend
    >>> "register_command" in dir(pendula.extend)
    True
"""

from pendula.lazy import attach

NAMES = {
    "pendula.app.registry": "register_command",
    "pendula.equations.formulations.registry": "register_formulation",
    "pendula.extensions": "load_extension load_installed",
    "pendula.formats": "Content register_format",
    "pendula.library.registry": "register_mechanism",
    "pendula.model.forces.registry": "register_force",
    "pendula.model.joints.registry": "register_joint",
    "pendula.numerics.steppers.equations": "rates",
    "pendula.numerics.steppers.stepper": "STEPPERS Stepper register_stepper",
    "pendula.present.notebook.registry": "register_display",
    "pendula.present.pictures.registry": "register_plot",
    "pendula.studies.computations.registry": "COMPUTATIONS Computation register_computation",
    "pendula.tables.formats": "TableFormat register_table_format",
    "pendula.tables.kinds": "register_table",
    "pendula.tables.table": "Block Table",
}
"""Every public name of this module, by the module where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
