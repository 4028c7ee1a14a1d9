# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.analysis.court.against import check_against as check_against
from pendula.analysis.court.agreement import check as check
from pendula.analysis.court.given_system import compile_equations as compile_equations
from pendula.analysis.reactions.projection import projection_matrices as projection_matrices
from pendula.equations.derive import derive as derive
from pendula.equations.formulations.registry import formulations as formulations
from pendula.equations.orientation.velocity_maps import velocity_maps as velocity_maps
from pendula.equations.printing.formats import print_equations as print_equations
from pendula.equations.stages.stages import stages as stages
from pendula.present.explain.explain import explain as explain

__all__ = [
    "check",
    "check_against",
    "compile_equations",
    "derive",
    "explain",
    "formulations",
    "print_equations",
    "projection_matrices",
    "stages",
    "velocity_maps",
]
