# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.app.registry import register_command as register_command
from pendula.equations.formulations.registry import register_formulation as register_formulation
from pendula.extensions import load_extension as load_extension
from pendula.extensions import load_installed as load_installed
from pendula.formats import Content as Content
from pendula.formats import register_format as register_format
from pendula.library.registry import register_mechanism as register_mechanism
from pendula.model.forces.registry import register_force as register_force
from pendula.model.joints.registry import register_joint as register_joint
from pendula.numerics.steppers.equations import rates as rates
from pendula.numerics.steppers.stepper import STEPPERS as STEPPERS
from pendula.numerics.steppers.stepper import Stepper as Stepper
from pendula.numerics.steppers.stepper import register_stepper as register_stepper
from pendula.present.notebook.registry import register_display as register_display
from pendula.present.pictures.registry import register_plot as register_plot
from pendula.studies.computations.registry import COMPUTATIONS as COMPUTATIONS
from pendula.studies.computations.registry import Computation as Computation
from pendula.studies.computations.registry import register_computation as register_computation
from pendula.tables.formats import TableFormat as TableFormat
from pendula.tables.formats import register_table_format as register_table_format
from pendula.tables.kinds import register_table as register_table
from pendula.tables.table import Block as Block
from pendula.tables.table import Table as Table

__all__ = [
    "COMPUTATIONS",
    "STEPPERS",
    "Block",
    "Computation",
    "Content",
    "Stepper",
    "Table",
    "TableFormat",
    "load_extension",
    "load_installed",
    "rates",
    "register_command",
    "register_computation",
    "register_display",
    "register_force",
    "register_format",
    "register_formulation",
    "register_joint",
    "register_mechanism",
    "register_plot",
    "register_stepper",
    "register_table",
    "register_table_format",
]
