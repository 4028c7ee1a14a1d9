"""Exchange with other tools: models and equations as files and as objects of other packages.

Example:
    >>> import pendula
    >>> "javascript" in pendula.exchange.exporters()
    True
"""

from pendula.lazy import attach

NAMES = {
    "pendula.exchange.casadi": "CasadiFunctions to_casadi",
    "pendula.exchange.exporting": "Exported export exporters",
    "pendula.exchange.jax": "JaxFunctions to_jax",
    "pendula.exchange.robots.draft": "Imported",
    "pendula.exchange.robots.importing": "load_robot",
    "pendula.exchange.robots.mjcf": "load_mjcf",
    "pendula.exchange.robots.urdf": "load_urdf",
    "pendula.exchange.sympy": "SympyEquations to_sympy",
    "pendula.exchange.sympy_systems": "SympyGiven compile_sympy from_sympy",
}
"""Every public name of this module, by the module that defines it."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
