# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.exchange.casadi import CasadiFunctions as CasadiFunctions
from pendula.exchange.casadi import to_casadi as to_casadi
from pendula.exchange.exporting import Exported as Exported
from pendula.exchange.exporting import export as export
from pendula.exchange.exporting import exporters as exporters
from pendula.exchange.jax import JaxFunctions as JaxFunctions
from pendula.exchange.jax import to_jax as to_jax
from pendula.exchange.robots.draft import Imported as Imported
from pendula.exchange.robots.importing import load_robot as load_robot
from pendula.exchange.robots.mjcf import load_mjcf as load_mjcf
from pendula.exchange.robots.urdf import load_urdf as load_urdf
from pendula.exchange.sympy import SympyEquations as SympyEquations
from pendula.exchange.sympy import to_sympy as to_sympy
from pendula.exchange.sympy_systems import SympyGiven as SympyGiven
from pendula.exchange.sympy_systems import compile_sympy as compile_sympy
from pendula.exchange.sympy_systems import from_sympy as from_sympy

__all__ = [
    "CasadiFunctions",
    "Exported",
    "Imported",
    "JaxFunctions",
    "SympyEquations",
    "SympyGiven",
    "compile_sympy",
    "export",
    "exporters",
    "from_sympy",
    "load_mjcf",
    "load_robot",
    "load_urdf",
    "to_casadi",
    "to_jax",
    "to_sympy",
]
