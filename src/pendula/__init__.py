"""Pendula: equations, motion and pictures of mechanisms, from one description.

    import pendula

    model = pendula.library.chain(links=10)          # or pendula.load("my.toml")
    system = pendula.compile_system(model)           # derive and compile
    run = pendula.simulate(system, 10.0, tol=1e-8)
    print(run.outcome, run.energy_drift)

What takes a system also takes a model or the name of a library mechanism: ``pendula.simulate("double-pendulum", 10)``.
More is in the modules ``linear`` (linear models, eigenvalues, responses), ``driven`` (Floquet), ``chaos``,
``equilibria``, ``model`` (parts of a model), ``results`` (types of all results), ``errors`` and ``extend``.

Names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

from pendula.lazy import attach

__version__ = "0.1.0"

NAMES = {
    "Event": "pendula.simulation.events",
    "Model": "pendula.model.model",
    "Outcome": "pendula.outcome",
    "State": "pendula.system.layout",
    "animate": "pendula.present.pictures.results",
    "assemble": "pendula.system.entry",
    "chaos": "pendula.chaos",
    "check": "pendula.analysis.court.agreement",
    "check_against": "pendula.analysis.court.against",
    "compile_system": "pendula.system.build",
    "derive": "pendula.equations.derive",
    "driven": "pendula.driven",
    "dumps": "pendula.model.files",
    "equilibria": "pendula.equilibria",
    "errors": "pendula.errors",
    "extend": "pendula.extend",
    "find_equilibria": "pendula.analysis.equilibria.find",
    "formulations": "pendula.equations.formulations.registry",
    "library": "pendula.library",
    "linear": "pendula.linear",
    "linearize": "pendula.analysis.linear.linearize",
    "load": "pendula.model.files",
    "loads": "pendula.model.files",
    "model": "pendula.model",
    "mobility": "pendula.system.entry",
    "modes": "pendula.analysis.modes.modes",
    "plot": "pendula.present.pictures.results",
    "print_equations": "pendula.equations.printing.formats",
    "reactions": "pendula.analysis.reactions.forces",
    "report": "pendula.present.report.page",
    "results": "pendula.results",
    "save": "pendula.model.files",
    "simulate": "pendula.simulation.simulate",
    "simulate_many": "pendula.simulation.simulate_many",
    "stability": "pendula.analysis.stability.verdict",
}
"""Every public name and where it lives. Stub files (``docs/make_stubs.py``) show the same to type checkers."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
__all__ += ["__version__"]
