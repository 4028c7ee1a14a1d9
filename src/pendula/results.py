"""Types of everything that Pendula returns, and ``write``, which writes any of it to a file.

Example:
    >>> import pendula
    >>> isinstance(pendula.simulate("pendulum", 1.0), pendula.results.Trajectory)
    True
"""

from pendula.lazy import attach

NAMES = {
    "pendula.analysis.charts.chart": "Border StabilityChart",
    "pendula.analysis.chaos.divergence": "Divergence",
    "pendula.analysis.chaos.horizon": "Horizon",
    "pendula.analysis.chaos.lyapunov": "Lyapunov",
    "pendula.analysis.control.estimators": "Estimator",
    "pendula.analysis.control.gains": "Gain",
    "pendula.analysis.control.margins": "Margins",
    "pendula.analysis.control.reach": "Lost Reach",
    "pendula.analysis.control.responses": "Bode RootLocus StepResponse",
    "pendula.analysis.control.space": "StateSpace",
    "pendula.analysis.court.against": "Comparison Difference",
    "pendula.analysis.court.agreement": "Agreement Certificate",
    "pendula.analysis.court.expressions": "ExpressionCheck ExpressionDifference",
    "pendula.analysis.driven.floquet": "Floquet",
    "pendula.analysis.driven.study": "FloquetBoundary FloquetMap",
    "pendula.analysis.equilibria.equilibrium": "Equilibrium",
    "pendula.analysis.equilibria.find": "Equilibria",
    "pendula.analysis.equilibria.precession": "Precession",
    "pendula.analysis.equilibria.trim": "Trim",
    "pendula.analysis.explain.explanation": "Explanation",
    "pendula.analysis.fit.result": "Fit FitSeries",
    "pendula.analysis.linear.linear_range": "LinearRange",
    "pendula.analysis.linear.linearize_many": "LinearModels",
    "pendula.analysis.linear.model": "LinearModel Motions",
    "pendula.analysis.linear.pencil": "Pencil",
    "pendula.analysis.linear.spectrum": "Eigenvalue Spectrum",
    "pendula.analysis.modes.eigenmodes": "Mode",
    "pendula.analysis.modes.forced": "Beat ForcedResponse",
    "pendula.analysis.modes.harmonic": "HarmonicResponse Resonance",
    "pendula.analysis.modes.modes": "Modes",
    "pendula.analysis.modes.response": "FreeResponse",
    "pendula.analysis.reactions.forces": "Indeterminate JointReaction Peak Reactions",
    "pendula.analysis.reactions.projection": "ProjectionMatrices",
    "pendula.analysis.sensitivities": "Sensitivities",
    "pendula.analysis.stability.ranges": "CriticalValue Range StabilityRanges",
    "pendula.analysis.stability.verdict": "Stability",
    "pendula.analysis.symmetry.find": "Symmetry",
    "pendula.analysis.symmetry.integrals": "Integral Integrals",
    "pendula.analysis.symmetry.routh": "Reduced",
    "pendula.equations.equations": "Equations",
    "pendula.equations.formulations.registry": "Formulation",
    "pendula.equations.formulations.support": "Support",
    "pendula.equations.orientation.velocity_maps": "VelocityMap",
    "pendula.equations.small_motion.model": "SymbolicModel",
    "pendula.equations.small_motion.terms": "Term ToldEquation",
    "pendula.equations.stages.stages": "Stage Stages",
    "pendula.formats": "write",
    "pendula.outcome": "Outcome",
    "pendula.present.notebook.pages": "InlinePage",
    "pendula.simulation.ensemble": "Ensemble EnsembleRun",
    "pendula.simulation.events": "Crossings",
    "pendula.simulation.predictability": "Predictability",
    "pendula.simulation.trajectory": "EnergyAccount Trajectory",
    "pendula.studies.batch": "Batch Case Computed",
    "pendula.studies.estimate": "StudyCost",
    "pendula.studies.plan": "Draws",
    "pendula.studies.result": "Sweep",
    "pendula.studies.statistics": "Estimate",
    "pendula.system.joint_forces": "Wrenches",
    "pendula.system.layout": "Layout State",
    "pendula.system.loops.assembly": "Assembly",
    "pendula.system.loops.mobility": "Mobility",
    "pendula.system.orientation.singularities": "Nearest Singularity",
    "pendula.system.system": "BodyMotion Energies System",
}
"""Every public name of this module, by the module where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
