# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.exchange.exporting import Exported as Exported
from pendula.exchange.exporting import export as export
from pendula.exchange.exporting import exporters as exporters
from pendula.exchange.robots.draft import Imported as Imported
from pendula.exchange.robots.importing import load_robot as load_robot
from pendula.exchange.robots.mjcf import load_mjcf as load_mjcf
from pendula.exchange.robots.urdf import load_urdf as load_urdf

__all__ = [
    "Exported",
    "Imported",
    "export",
    "exporters",
    "load_mjcf",
    "load_robot",
    "load_urdf",
]
