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
    "Comparison": "pendula.analysis.against",
    "Divergence": "pendula.analysis.divergence",
    "Horizon": "pendula.analysis.horizon",
    "Lyapunov": "pendula.analysis.lyapunov",
    "Ensemble": "pendula.simulation.ensemble",
    "Equations": "pendula.equations.equations",
    "Equilibria": "pendula.analysis.equilibria",
    "Equilibrium": "pendula.analysis.equilibrium",
    "Event": "pendula.simulation.events",
    "LoopNotClosed": "pendula.errors",
    "Model": "pendula.model.model",
    "ModelError": "pendula.errors",
    "NoConvergence": "pendula.errors",
    "NotAnEquilibrium": "pendula.errors",
    "NotSupported": "pendula.errors",
    "Outcome": "pendula.outcome",
    "PendulaError": "pendula.errors",
    "Reactions": "pendula.analysis.reactions",
    "SingularPose": "pendula.errors",
    "State": "pendula.system.layout",
    "System": "pendula.system.system",
    "Trajectory": "pendula.simulation.trajectory",
    "Trim": "pendula.analysis.trim",
    "UsageError": "pendula.errors",
    "assemble": "pendula.system.assembly",
    "check": "pendula.analysis.agreement",
    "check_against": "pendula.analysis.against",
    "compile_system": "pendula.system.build",
    "derive": "pendula.equations.derive",
    "find_equilibria": "pendula.analysis.equilibria",
    "formulations": "pendula.equations.derive",
    "load": "pendula.model.files",
    "loads": "pendula.model.files",
    "plot": "pendula.present.results",
    "plot_section": "pendula.present.results",
    "print_equations": "pendula.equations.printing",
    "divergence": "pendula.analysis.divergence",
    "horizon": "pendula.analysis.horizon",
    "lowest_equilibrium": "pendula.analysis.equilibria",
    "lyapunov": "pendula.analysis.lyapunov",
    "reactions": "pendula.analysis.reactions",
    "report": "pendula.present.report",
    "save": "pendula.model.files",
    "dumps": "pendula.model.files",
    "simulate": "pendula.simulation.simulate",
    "simulate_many": "pendula.simulation.simulate_many",
    "trim": "pendula.analysis.trim",
    "animate": "pendula.present.results",
    "Floquet": "pendula.analysis.floquet",
    "FloquetBoundary": "pendula.analysis.floquet_study",
    "FloquetMap": "pendula.analysis.floquet_study",
    "FreeResponse": "pendula.analysis.response",
    "HarmonicResponse": "pendula.analysis.harmonic",
    "LinearRange": "pendula.analysis.linear_range",
    "Modes": "pendula.analysis.modes",
    "animate_mode": "pendula.present.modes",
    "floquet": "pendula.analysis.floquet",
    "floquet_boundary": "pendula.analysis.floquet_study",
    "floquet_over": "pendula.analysis.floquet_study",
    "free_response": "pendula.analysis.response",
    "harmonic_response": "pendula.analysis.harmonic",
    "linear_range": "pendula.analysis.linear_range",
    "modal_coordinates": "pendula.analysis.modes",
    "modes": "pendula.analysis.modes",
    "plot_modes": "pendula.present.modes",
    "plot_response": "pendula.present.modes",
    "LinearModel": "pendula.analysis.linear_model",
    "Pencil": "pendula.analysis.pencil",
    "Spectrum": "pendula.analysis.spectrum",
    "Stability": "pendula.analysis.stability",
    "linearize": "pendula.analysis.linearize",
    "linearize_many": "pendula.analysis.linearize_many",
    "linearize_symbolic": "pendula.equations.small_motion",
    "pencil": "pendula.analysis.pencil",
    "spectrum": "pendula.analysis.spectrum",
    "stability": "pendula.analysis.stability",
    "stability_over": "pendula.analysis.stability_ranges",
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
    from pendula.analysis.against import Comparison, check_against
    from pendula.analysis.agreement import check
    from pendula.analysis.divergence import Divergence, divergence
    from pendula.analysis.equilibria import Equilibria, find_equilibria, lowest_equilibrium
    from pendula.analysis.equilibrium import Equilibrium
    from pendula.analysis.floquet import Floquet, floquet
    from pendula.analysis.floquet_study import FloquetBoundary, FloquetMap, floquet_boundary, floquet_over
    from pendula.analysis.harmonic import HarmonicResponse, harmonic_response
    from pendula.analysis.horizon import Horizon, horizon
    from pendula.analysis.linear_model import LinearModel
    from pendula.analysis.linear_range import LinearRange, linear_range
    from pendula.analysis.linearize import linearize
    from pendula.analysis.linearize_many import linearize_many
    from pendula.analysis.lyapunov import Lyapunov, lyapunov
    from pendula.analysis.modes import Modes, modal_coordinates, modes
    from pendula.analysis.pencil import Pencil, pencil
    from pendula.analysis.reactions import Reactions, reactions
    from pendula.analysis.response import FreeResponse, free_response
    from pendula.analysis.spectrum import Spectrum, spectrum
    from pendula.analysis.stability import Stability, stability
    from pendula.analysis.stability_ranges import stability_over
    from pendula.analysis.trim import Trim, trim
    from pendula.equations.derive import derive, formulations
    from pendula.equations.equations import Equations
    from pendula.equations.printing import print_equations
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
    from pendula.present.modes import animate_mode, plot_modes, plot_response
    from pendula.present.report import report
    from pendula.present.results import animate, plot, plot_section
    from pendula.simulation.ensemble import Ensemble
    from pendula.simulation.events import Event
    from pendula.simulation.simulate import simulate
    from pendula.simulation.simulate_many import simulate_many
    from pendula.simulation.trajectory import Trajectory
    from pendula.system.assembly import assemble
    from pendula.system.build import compile_system
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
