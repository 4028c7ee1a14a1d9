# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.analysis.charts.driven import floquet_chart as floquet_chart
from pendula.analysis.driven.floquet import floquet as floquet
from pendula.analysis.driven.study import floquet_boundary as floquet_boundary
from pendula.analysis.driven.study import floquet_over as floquet_over

__all__ = [
    "floquet",
    "floquet_boundary",
    "floquet_chart",
    "floquet_over",
]
