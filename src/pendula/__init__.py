"""Pendula: equations, motion and pictures of mechanisms, from one description.

    import pendula

    model = pendula.library.chain(links=10)          # or pendula.load("my.toml")
    system = pendula.compile_system(model)           # derive and compile
    run = pendula.simulate(system, 10.0, tol=1e-8)
    print(run.outcome, run.energy_drift)

Names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "Body": "pendula.model.bodies",
    "Comparison": "pendula.analysis.court.against",
    "Divergence": "pendula.analysis.chaos.divergence",
    "Horizon": "pendula.analysis.chaos.horizon",
    "Lyapunov": "pendula.analysis.chaos.lyapunov",
    "Ensemble": "pendula.simulation.ensemble",
    "Equations": "pendula.equations.equations",
    "Equilibria": "pendula.analysis.equilibria.find",
    "Equilibrium": "pendula.analysis.equilibria.equilibrium",
    "Event": "pendula.simulation.events",
    "LoopNotClosed": "pendula.errors",
    "Model": "pendula.model.model",
    "ModelError": "pendula.errors",
    "NoConvergence": "pendula.errors",
    "NotAnEquilibrium": "pendula.errors",
    "NotSupported": "pendula.errors",
    "Outcome": "pendula.outcome",
    "PendulaError": "pendula.errors",
    "Reactions": "pendula.analysis.reactions.forces",
    "SingularPose": "pendula.errors",
    "State": "pendula.system.layout",
    "System": "pendula.system.system",
    "Trajectory": "pendula.simulation.trajectory",
    "Trim": "pendula.analysis.equilibria.trim",
    "UsageError": "pendula.errors",
    "assemble": "pendula.system.build",
    "check": "pendula.analysis.court.agreement",
    "check_against": "pendula.analysis.court.against",
    "compile_system": "pendula.system.build",
    "derive": "pendula.equations.derive",
    "find_equilibria": "pendula.analysis.equilibria.find",
    "formulations": "pendula.equations.derive",
    "load": "pendula.model.files",
    "loads": "pendula.model.files",
    "plot": "pendula.present.pictures.results",
    "plot_section": "pendula.present.pictures.results",
    "print_equations": "pendula.equations.printing.formats",
    "divergence": "pendula.analysis.chaos.divergence",
    "horizon": "pendula.analysis.chaos.horizon",
    "lowest_equilibrium": "pendula.analysis.equilibria.find",
    "lyapunov": "pendula.analysis.chaos.lyapunov",
    "reactions": "pendula.analysis.reactions.forces",
    "report": "pendula.present.report.page",
    "save": "pendula.model.files",
    "dumps": "pendula.model.files",
    "simulate": "pendula.simulation.simulate",
    "simulate_many": "pendula.simulation.simulate_many",
    "trim": "pendula.analysis.equilibria.trim",
    "animate": "pendula.present.pictures.results",
    "Floquet": "pendula.analysis.driven.floquet",
    "FloquetBoundary": "pendula.analysis.driven.study",
    "FloquetMap": "pendula.analysis.driven.study",
    "FreeResponse": "pendula.analysis.modes.response",
    "HarmonicResponse": "pendula.analysis.modes.harmonic",
    "LinearRange": "pendula.analysis.linear.linear_range",
    "Modes": "pendula.analysis.modes.modes",
    "animate_mode": "pendula.present.pictures.modes",
    "floquet": "pendula.analysis.driven.floquet",
    "floquet_boundary": "pendula.analysis.driven.study",
    "floquet_over": "pendula.analysis.driven.study",
    "free_response": "pendula.analysis.modes.response",
    "harmonic_response": "pendula.analysis.modes.harmonic",
    "linear_range": "pendula.analysis.linear.linear_range",
    "modal_coordinates": "pendula.analysis.modes.modes",
    "mobility": "pendula.system.mobility",
    "modes": "pendula.analysis.modes.modes",
    "plot_modes": "pendula.present.pictures.modes",
    "plot_response": "pendula.present.pictures.modes",
    "LinearModel": "pendula.analysis.linear.model",
    "Pencil": "pendula.analysis.linear.pencil",
    "Spectrum": "pendula.analysis.linear.spectrum",
    "Stability": "pendula.analysis.stability.verdict",
    "linearize": "pendula.analysis.linear.linearize",
    "linearize_many": "pendula.analysis.linear.linearize_many",
    "linearize_symbolic": "pendula.equations.small_motion",
    "pencil": "pendula.analysis.linear.pencil",
    "spectrum": "pendula.analysis.linear.spectrum",
    "stability": "pendula.analysis.stability.verdict",
    "stability_over": "pendula.analysis.stability.ranges",
}
_MODULES = ("library",)

__all__ = [
    "Body",
    "Comparison",
    "Divergence",
    "Ensemble",
    "Equations",
    "Equilibria",
    "Equilibrium",
    "Event",
    "Floquet",
    "FloquetBoundary",
    "FloquetMap",
    "FreeResponse",
    "HarmonicResponse",
    "Horizon",
    "LinearModel",
    "LinearRange",
    "LoopNotClosed",
    "Lyapunov",
    "Model",
    "ModelError",
    "Modes",
    "NoConvergence",
    "NotAnEquilibrium",
    "NotSupported",
    "Outcome",
    "Pencil",
    "PendulaError",
    "Reactions",
    "SingularPose",
    "Spectrum",
    "Stability",
    "State",
    "System",
    "Trajectory",
    "Trim",
    "UsageError",
    "__version__",
    "animate",
    "animate_mode",
    "assemble",
    "check",
    "check_against",
    "compile_system",
    "derive",
    "divergence",
    "dumps",
    "find_equilibria",
    "floquet",
    "floquet_boundary",
    "floquet_over",
    "formulations",
    "free_response",
    "harmonic_response",
    "horizon",
    "library",
    "linear_range",
    "linearize",
    "linearize_many",
    "linearize_symbolic",
    "load",
    "loads",
    "lowest_equilibrium",
    "lyapunov",
    "mobility",
    "modal_coordinates",
    "modes",
    "pencil",
    "plot",
    "plot_modes",
    "plot_response",
    "plot_section",
    "print_equations",
    "reactions",
    "report",
    "save",
    "simulate",
    "simulate_many",
    "spectrum",
    "stability",
    "stability_over",
    "trim",
]

if TYPE_CHECKING:
    from pendula import library
    from pendula.analysis.chaos.divergence import Divergence, divergence
    from pendula.analysis.chaos.horizon import Horizon, horizon
    from pendula.analysis.chaos.lyapunov import Lyapunov, lyapunov
    from pendula.analysis.court.against import Comparison, check_against
    from pendula.analysis.court.agreement import check
    from pendula.analysis.driven.floquet import Floquet, floquet
    from pendula.analysis.driven.study import FloquetBoundary, FloquetMap, floquet_boundary, floquet_over
    from pendula.analysis.equilibria.equilibrium import Equilibrium
    from pendula.analysis.equilibria.find import Equilibria, find_equilibria, lowest_equilibrium
    from pendula.analysis.equilibria.trim import Trim, trim
    from pendula.analysis.linear.linear_range import LinearRange, linear_range
    from pendula.analysis.linear.linearize import linearize
    from pendula.analysis.linear.linearize_many import linearize_many
    from pendula.analysis.linear.model import LinearModel
    from pendula.analysis.linear.pencil import Pencil, pencil
    from pendula.analysis.linear.spectrum import Spectrum, spectrum
    from pendula.analysis.modes.harmonic import HarmonicResponse, harmonic_response
    from pendula.analysis.modes.modes import Modes, modal_coordinates, modes
    from pendula.analysis.modes.response import FreeResponse, free_response
    from pendula.analysis.reactions.forces import Reactions, reactions
    from pendula.analysis.stability.ranges import stability_over
    from pendula.analysis.stability.verdict import Stability, stability
    from pendula.equations.derive import derive, formulations
    from pendula.equations.equations import Equations
    from pendula.equations.printing.formats import print_equations
    from pendula.equations.small_motion import linearize_symbolic
    from pendula.errors import (
        LoopNotClosed,
        ModelError,
        NoConvergence,
        NotAnEquilibrium,
        NotSupported,
        PendulaError,
        SingularPose,
        UsageError,
    )
    from pendula.model.bodies import Body
    from pendula.model.files import dumps, load, loads, save
    from pendula.model.model import Model
    from pendula.outcome import Outcome
    from pendula.present.pictures.modes import animate_mode, plot_modes, plot_response
    from pendula.present.pictures.results import animate, plot, plot_section
    from pendula.present.report.page import report
    from pendula.simulation.ensemble import Ensemble
    from pendula.simulation.events import Event
    from pendula.simulation.simulate import simulate
    from pendula.simulation.simulate_many import simulate_many
    from pendula.simulation.trajectory import Trajectory
    from pendula.system.build import assemble, compile_system
    from pendula.system.layout import State
    from pendula.system.system import System


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"pendula.{name}")
    if name in _WHERE:
        value = getattr(importlib.import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pendula' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *globals()])
