# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.exchange.exporting import Exported as Exported
from pendula.exchange.exporting import export as export
from pendula.exchange.exporting import exporters as exporters

__all__ = [
    "Exported",
    "export",
    "exporters",
]
