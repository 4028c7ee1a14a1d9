# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.analysis.equilibria.equilibrium import equilibrium_at as equilibrium_at
from pendula.analysis.equilibria.find import find_equilibria as find_equilibria
from pendula.analysis.equilibria.find import lowest_equilibrium as lowest_equilibrium
from pendula.analysis.equilibria.precession import steady_precession as steady_precession
from pendula.analysis.equilibria.trim import trim as trim
from pendula.analysis.symmetry.routh import routh as routh

__all__ = [
    "equilibrium_at",
    "find_equilibria",
    "lowest_equilibrium",
    "routh",
    "steady_precession",
    "trim",
]
