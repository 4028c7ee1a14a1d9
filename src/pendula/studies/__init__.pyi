# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.studies.estimate import estimate_sweep as estimate_sweep
from pendula.studies.statistics import estimate as estimate

__all__ = [
    "estimate",
    "estimate_sweep",
]
