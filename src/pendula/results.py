"""Types of everything that Pendula returns, and ``write``, which writes any of it to a file.

Example:
    >>> import pendula
    >>> isinstance(pendula.simulate("pendulum", 1.0), pendula.results.Trajectory)
    True
"""

from __future__ import annotations

from pendula.lazy import attach

NAMES = {
    "Agreement": "pendula.analysis.court.agreement",
    "Assembly": "pendula.system.loops.assembly",
    "BodyMotion": "pendula.system.system",
    "Certificate": "pendula.analysis.court.agreement",
    "Comparison": "pendula.analysis.court.against",
    "CriticalValue": "pendula.analysis.stability.ranges",
    "Crossings": "pendula.simulation.events",
    "Difference": "pendula.analysis.court.against",
    "Divergence": "pendula.analysis.chaos.divergence",
    "Eigenvalue": "pendula.analysis.linear.spectrum",
    "Energies": "pendula.system.system",
    "EnergyAccount": "pendula.simulation.trajectory",
    "Ensemble": "pendula.simulation.ensemble",
    "EnsembleRun": "pendula.simulation.ensemble",
    "Equations": "pendula.equations.equations",
    "Equilibria": "pendula.analysis.equilibria.find",
    "Equilibrium": "pendula.analysis.equilibria.equilibrium",
    "Floquet": "pendula.analysis.driven.floquet",
    "FloquetBoundary": "pendula.analysis.driven.study",
    "FloquetMap": "pendula.analysis.driven.study",
    "Formulation": "pendula.equations.formulations.registry",
    "FreeResponse": "pendula.analysis.modes.response",
    "HarmonicResponse": "pendula.analysis.modes.harmonic",
    "Horizon": "pendula.analysis.chaos.horizon",
    "Indeterminate": "pendula.analysis.reactions.forces",
    "JointReaction": "pendula.analysis.reactions.forces",
    "Layout": "pendula.system.layout",
    "LinearModel": "pendula.analysis.linear.model",
    "LinearModels": "pendula.analysis.linear.linearize_many",
    "LinearRange": "pendula.analysis.linear.linear_range",
    "Lyapunov": "pendula.analysis.chaos.lyapunov",
    "Mobility": "pendula.system.loops.mobility",
    "Mode": "pendula.analysis.modes.eigenmodes",
    "Modes": "pendula.analysis.modes.modes",
    "Outcome": "pendula.outcome",
    "Peak": "pendula.analysis.reactions.forces",
    "Pencil": "pendula.analysis.linear.pencil",
    "Range": "pendula.analysis.stability.ranges",
    "Reactions": "pendula.analysis.reactions.forces",
    "Resonance": "pendula.analysis.modes.harmonic",
    "Spectrum": "pendula.analysis.linear.spectrum",
    "Stability": "pendula.analysis.stability.verdict",
    "StabilityRanges": "pendula.analysis.stability.ranges",
    "State": "pendula.system.layout",
    "Support": "pendula.equations.formulations.support",
    "SymbolicModel": "pendula.equations.small_motion",
    "System": "pendula.system.system",
    "Trajectory": "pendula.simulation.trajectory",
    "Trim": "pendula.analysis.equilibria.trim",
    "Wrenches": "pendula.system.joint_forces",
    "write": "pendula.formats",
}
"""Every public name of this module and where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
