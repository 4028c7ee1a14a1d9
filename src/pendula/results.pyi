# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.analysis.chaos.divergence import Divergence as Divergence
from pendula.analysis.chaos.horizon import Horizon as Horizon
from pendula.analysis.chaos.lyapunov import Lyapunov as Lyapunov
from pendula.analysis.charts.chart import Border as Border
from pendula.analysis.charts.chart import StabilityChart as StabilityChart
from pendula.analysis.control.estimators import Estimator as Estimator
from pendula.analysis.control.gains import Gain as Gain
from pendula.analysis.control.margins import Margins as Margins
from pendula.analysis.control.reach import Lost as Lost
from pendula.analysis.control.reach import Reach as Reach
from pendula.analysis.control.responses import Bode as Bode
from pendula.analysis.control.responses import RootLocus as RootLocus
from pendula.analysis.control.responses import StepResponse as StepResponse
from pendula.analysis.control.space import StateSpace as StateSpace
from pendula.analysis.court.against import Comparison as Comparison
from pendula.analysis.court.against import Difference as Difference
from pendula.analysis.court.agreement import Agreement as Agreement
from pendula.analysis.court.agreement import Certificate as Certificate
from pendula.analysis.court.expressions import ExpressionCheck as ExpressionCheck
from pendula.analysis.court.expressions import ExpressionDifference as ExpressionDifference
from pendula.analysis.driven.floquet import Floquet as Floquet
from pendula.analysis.driven.study import FloquetBoundary as FloquetBoundary
from pendula.analysis.driven.study import FloquetMap as FloquetMap
from pendula.analysis.equilibria.equilibrium import Equilibrium as Equilibrium
from pendula.analysis.equilibria.find import Equilibria as Equilibria
from pendula.analysis.equilibria.precession import Precession as Precession
from pendula.analysis.equilibria.trim import Trim as Trim
from pendula.analysis.explain.explanation import Explanation as Explanation
from pendula.analysis.fit.result import Fit as Fit
from pendula.analysis.fit.result import FitSeries as FitSeries
from pendula.analysis.linear.linear_range import LinearRange as LinearRange
from pendula.analysis.linear.linearize_many import LinearModels as LinearModels
from pendula.analysis.linear.model import LinearModel as LinearModel
from pendula.analysis.linear.model import Motions as Motions
from pendula.analysis.linear.pencil import Pencil as Pencil
from pendula.analysis.linear.spectrum import Eigenvalue as Eigenvalue
from pendula.analysis.linear.spectrum import Spectrum as Spectrum
from pendula.analysis.modes.eigenmodes import Mode as Mode
from pendula.analysis.modes.forced import Beat as Beat
from pendula.analysis.modes.forced import ForcedResponse as ForcedResponse
from pendula.analysis.modes.harmonic import HarmonicResponse as HarmonicResponse
from pendula.analysis.modes.harmonic import Resonance as Resonance
from pendula.analysis.modes.modes import Modes as Modes
from pendula.analysis.modes.response import FreeResponse as FreeResponse
from pendula.analysis.reactions.forces import Indeterminate as Indeterminate
from pendula.analysis.reactions.forces import JointReaction as JointReaction
from pendula.analysis.reactions.forces import Peak as Peak
from pendula.analysis.reactions.forces import Reactions as Reactions
from pendula.analysis.reactions.projection import ProjectionMatrices as ProjectionMatrices
from pendula.analysis.sensitivities import Sensitivities as Sensitivities
from pendula.analysis.stability.ranges import CriticalValue as CriticalValue
from pendula.analysis.stability.ranges import Range as Range
from pendula.analysis.stability.ranges import StabilityRanges as StabilityRanges
from pendula.analysis.stability.verdict import Stability as Stability
from pendula.analysis.symmetry.find import Symmetry as Symmetry
from pendula.analysis.symmetry.integrals import Integral as Integral
from pendula.analysis.symmetry.integrals import Integrals as Integrals
from pendula.analysis.symmetry.routh import Reduced as Reduced
from pendula.equations.equations import Equations as Equations
from pendula.equations.formulations.registry import Formulation as Formulation
from pendula.equations.formulations.support import Support as Support
from pendula.equations.orientation.velocity_maps import VelocityMap as VelocityMap
from pendula.equations.small_motion.model import SymbolicModel as SymbolicModel
from pendula.equations.small_motion.terms import Term as Term
from pendula.equations.small_motion.terms import ToldEquation as ToldEquation
from pendula.equations.stages.stages import Stage as Stage
from pendula.equations.stages.stages import Stages as Stages
from pendula.formats import write as write
from pendula.outcome import Outcome as Outcome
from pendula.present.notebook.pages import InlinePage as InlinePage
from pendula.simulation.ensemble import Ensemble as Ensemble
from pendula.simulation.ensemble import EnsembleRun as EnsembleRun
from pendula.simulation.events import Crossings as Crossings
from pendula.simulation.predictability import Predictability as Predictability
from pendula.simulation.trajectory import EnergyAccount as EnergyAccount
from pendula.simulation.trajectory import Trajectory as Trajectory
from pendula.studies.batch import Batch as Batch
from pendula.studies.batch import Case as Case
from pendula.studies.batch import Computed as Computed
from pendula.studies.estimate import StudyCost as StudyCost
from pendula.studies.plan import Draws as Draws
from pendula.studies.result import Sweep as Sweep
from pendula.studies.statistics import Estimate as Estimate
from pendula.system.forward import ForwardDynamics as ForwardDynamics
from pendula.system.joint_forces import Wrenches as Wrenches
from pendula.system.layout import Layout as Layout
from pendula.system.layout import State as State
from pendula.system.loops.assembly import Assembly as Assembly
from pendula.system.loops.mobility import Mobility as Mobility
from pendula.system.orientation.singularities import Nearest as Nearest
from pendula.system.orientation.singularities import Singularity as Singularity
from pendula.system.system import BodyMotion as BodyMotion
from pendula.system.system import Energies as Energies
from pendula.system.system import System as System

__all__ = [
    "Agreement",
    "Assembly",
    "Batch",
    "Beat",
    "Bode",
    "BodyMotion",
    "Border",
    "Case",
    "Certificate",
    "Comparison",
    "Computed",
    "CriticalValue",
    "Crossings",
    "Difference",
    "Divergence",
    "Draws",
    "Eigenvalue",
    "Energies",
    "EnergyAccount",
    "Ensemble",
    "EnsembleRun",
    "Equations",
    "Equilibria",
    "Equilibrium",
    "Estimate",
    "Estimator",
    "Explanation",
    "ExpressionCheck",
    "ExpressionDifference",
    "Fit",
    "FitSeries",
    "Floquet",
    "FloquetBoundary",
    "FloquetMap",
    "ForcedResponse",
    "Formulation",
    "ForwardDynamics",
    "FreeResponse",
    "Gain",
    "HarmonicResponse",
    "Horizon",
    "Indeterminate",
    "InlinePage",
    "Integral",
    "Integrals",
    "JointReaction",
    "Layout",
    "LinearModel",
    "LinearModels",
    "LinearRange",
    "Lost",
    "Lyapunov",
    "Margins",
    "Mobility",
    "Mode",
    "Modes",
    "Motions",
    "Nearest",
    "Outcome",
    "Peak",
    "Pencil",
    "Precession",
    "Predictability",
    "ProjectionMatrices",
    "Range",
    "Reach",
    "Reactions",
    "Reduced",
    "Resonance",
    "RootLocus",
    "Sensitivities",
    "Singularity",
    "Spectrum",
    "Stability",
    "StabilityChart",
    "StabilityRanges",
    "Stage",
    "Stages",
    "State",
    "StateSpace",
    "StepResponse",
    "StudyCost",
    "Support",
    "Sweep",
    "SymbolicModel",
    "Symmetry",
    "System",
    "Term",
    "ToldEquation",
    "Trajectory",
    "Trim",
    "VelocityMap",
    "Wrenches",
    "write",
]
