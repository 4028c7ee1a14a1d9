# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.exchange.casadi import CasadiFunctions as CasadiFunctions
from pendula.exchange.casadi import to_casadi as to_casadi
from pendula.exchange.exporting import Exported as Exported
from pendula.exchange.exporting import export as export
from pendula.exchange.exporting import exporters as exporters
from pendula.exchange.jax import JaxFunctions as JaxFunctions
from pendula.exchange.jax import to_jax as to_jax
from pendula.exchange.sympy import SympyEquations as SympyEquations
from pendula.exchange.sympy import to_sympy as to_sympy

__all__ = [
    "CasadiFunctions",
    "Exported",
    "JaxFunctions",
    "SympyEquations",
    "export",
    "exporters",
    "to_casadi",
    "to_jax",
    "to_sympy",
]
