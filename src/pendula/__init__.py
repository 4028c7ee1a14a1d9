"""Pendula: equations, motion and pictures of mechanisms, from one description.

    import pendula

    model = pendula.library.chain(links=10)          # or pendula.load("my.toml")
    system = pendula.compile_system(model)           # derive and compile
    run = pendula.simulate(system, 10.0, tol=1e-8)
    print(run.outcome, run.energy_drift)

What takes a system also takes a model or the name of a library mechanism: ``pendula.simulate("double-pendulum", 10)``.
More is in the modules ``derivation`` (equations told, simplified, written by others), ``linear`` (linear models,
eigenvalues, responses), ``driven`` (Floquet), ``chaos``, ``equilibria``, ``exchange`` (other tools), ``model`` (parts
of a model), ``results`` (types of all results), ``studies`` (costs and estimates), ``errors`` and ``extend``.

Names are loaded when they are first used, so that importing the package is quick.
"""

from pendula.lazy import attach

__version__ = "0.1.0"

NAMES = {
    "pendula": "chaos derivation driven equilibria errors exchange extend library linear model results studies",
    "pendula.analysis.court.agreement": "check",
    "pendula.analysis.equilibria.find": "find_equilibria",
    "pendula.analysis.fit.fit": "fit",
    "pendula.analysis.linear.linearize": "linearize",
    "pendula.analysis.modes.modes": "modes",
    "pendula.analysis.reactions.forces": "reactions",
    "pendula.analysis.sensitivities": "sensitivities",
    "pendula.analysis.stability.verdict": "stability",
    "pendula.analysis.symmetry.integrals": "integrals",
    "pendula.equations.derive": "derive",
    "pendula.equations.printing.formats": "print_equations",
    "pendula.model.files": "dumps load loads save",
    "pendula.model.model": "Model",
    "pendula.outcome": "Outcome",
    "pendula.present.explain.explain": "explain",
    "pendula.present.live.page": "play",
    "pendula.present.pictures.results": "animate plot",
    "pendula.present.report.page": "report",
    "pendula.simulation.charts.convert": "convert",
    "pendula.simulation.events": "Event",
    "pendula.simulation.inputs.kinds": "Sampled Signal",
    "pendula.simulation.simulate": "simulate",
    "pendula.simulation.simulate_many": "simulate_many",
    "pendula.simulation.tables.load": "load_run",
    "pendula.studies.sweep": "load_sweep sweep",
    "pendula.system.build": "compile_system",
    "pendula.system.entry": "assemble mobility",
    "pendula.system.layout": "State",
}
"""Every public name, by the module where it lives. Type checkers see the same in stubs (``docs/make_stubs.py``)."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
__all__ += ["__version__"]
