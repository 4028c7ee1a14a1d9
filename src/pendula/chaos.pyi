# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.analysis.chaos.divergence import divergence as divergence
from pendula.analysis.chaos.horizon import horizon as horizon
from pendula.analysis.chaos.lyapunov import lyapunov as lyapunov

__all__ = [
    "divergence",
    "horizon",
    "lyapunov",
]
