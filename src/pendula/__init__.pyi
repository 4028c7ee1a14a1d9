# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula import chaos as chaos
from pendula import derivation as derivation
from pendula import driven as driven
from pendula import equilibria as equilibria
from pendula import errors as errors
from pendula import exchange as exchange
from pendula import extend as extend
from pendula import library as library
from pendula import linear as linear
from pendula import model as model
from pendula import results as results
from pendula import studies as studies
from pendula.analysis.court.agreement import check as check
from pendula.analysis.equilibria.find import find_equilibria as find_equilibria
from pendula.analysis.fit.fit import fit as fit
from pendula.analysis.linear.linearize import linearize as linearize
from pendula.analysis.modes.modes import modes as modes
from pendula.analysis.reactions.forces import reactions as reactions
from pendula.analysis.sensitivities import sensitivities as sensitivities
from pendula.analysis.stability.verdict import stability as stability
from pendula.analysis.symmetry.integrals import integrals as integrals
from pendula.equations.derive import derive as derive
from pendula.equations.printing.formats import print_equations as print_equations
from pendula.model.files import dumps as dumps
from pendula.model.files import load as load
from pendula.model.files import loads as loads
from pendula.model.files import save as save
from pendula.model.model import Model as Model
from pendula.outcome import Outcome as Outcome
from pendula.present.explain.explain import explain as explain
from pendula.present.live.page import play as play
from pendula.present.pictures.results import animate as animate
from pendula.present.pictures.results import plot as plot
from pendula.present.report.page import report as report
from pendula.simulation.charts.convert import convert as convert
from pendula.simulation.events import Event as Event
from pendula.simulation.inputs.kinds import Sampled as Sampled
from pendula.simulation.inputs.kinds import Signal as Signal
from pendula.simulation.simulate import simulate as simulate
from pendula.simulation.simulate_many import simulate_many as simulate_many
from pendula.simulation.tables.load import load_run as load_run
from pendula.studies.sweep import load_sweep as load_sweep
from pendula.studies.sweep import sweep as sweep
from pendula.system.build import compile_system as compile_system
from pendula.system.entry import assemble as assemble
from pendula.system.entry import mobility as mobility
from pendula.system.layout import State as State

__all__ = [
    "Event",
    "Model",
    "Outcome",
    "Sampled",
    "Signal",
    "State",
    "__version__",
    "animate",
    "assemble",
    "chaos",
    "check",
    "compile_system",
    "convert",
    "derivation",
    "derive",
    "driven",
    "dumps",
    "equilibria",
    "errors",
    "exchange",
    "explain",
    "extend",
    "find_equilibria",
    "fit",
    "integrals",
    "library",
    "linear",
    "linearize",
    "load",
    "load_run",
    "load_sweep",
    "loads",
    "mobility",
    "model",
    "modes",
    "play",
    "plot",
    "print_equations",
    "reactions",
    "report",
    "results",
    "save",
    "sensitivities",
    "simulate",
    "simulate_many",
    "stability",
    "studies",
    "sweep",
]

__version__: str
