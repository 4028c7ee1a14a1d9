# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.analysis.charts.at_rest import stability_chart as stability_chart
from pendula.analysis.linear.linear_range import linear_range as linear_range
from pendula.analysis.linear.linearize import linearize as linearize
from pendula.analysis.linear.linearize_many import linearize_many as linearize_many
from pendula.analysis.linear.motion_inputs import linearize_motions as linearize_motions
from pendula.analysis.linear.pencil import pencil as pencil
from pendula.analysis.linear.spectrum import spectrum as spectrum
from pendula.analysis.linear.symbolic import linearize_symbolic as linearize_symbolic
from pendula.analysis.modes.forced import forced_response as forced_response
from pendula.analysis.modes.harmonic import harmonic_response as harmonic_response
from pendula.analysis.modes.modes import modal_coordinates as modal_coordinates
from pendula.analysis.modes.modes import modes as modes
from pendula.analysis.modes.response import free_response as free_response
from pendula.analysis.stability.ranges import stability_over as stability_over
from pendula.analysis.stability.verdict import stability as stability
from pendula.present.pictures.modes import animate_mode as animate_mode

__all__ = [
    "animate_mode",
    "forced_response",
    "free_response",
    "harmonic_response",
    "linear_range",
    "linearize",
    "linearize_many",
    "linearize_motions",
    "linearize_symbolic",
    "modal_coordinates",
    "modes",
    "pencil",
    "spectrum",
    "stability",
    "stability_chart",
    "stability_over",
]
