"""The public surface: names, first arguments, examples, and how results show themselves."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import math
import re
from pathlib import Path
from typing import Any

import pytest

import pendula
from pendula.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/pendula"


def _script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STUBS = _script("make_stubs")
MODULES = [*STUBS.MODULES, "pendula.errors"]


def public(module: str) -> dict[str, Any]:
    """Public names of a module with what is behind them, modules left out."""
    found = importlib.import_module(module)
    values = {name: getattr(found, name) for name in found.__all__ if name != "__version__"}
    return {name: value for name, value in values.items() if not inspect.ismodule(value)}


# --- names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", STUBS.MODULES)
def test_type_checkers_see_the_names_that_there_are(module: str) -> None:
    made = STUBS.stub(module)
    assert STUBS.path_of(module).read_text(encoding="utf-8") == made, "run python docs/make_stubs.py"


@pytest.mark.parametrize("module", [*MODULES, "pendula.library"])
def test_dir_shows_public_names_alone(module: str) -> None:
    found = importlib.import_module(module)
    assert public(module)
    assert {*dir(found)} | {"__version__"} == {*found.__all__} | {"__version__"}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        found.nothing  # noqa: B018


def test_every_error_is_public() -> None:
    found = importlib.import_module("pendula.errors")
    kinds = {n for n, x in vars(found).items() if isinstance(x, type) and x.__module__ == found.__name__}
    assert kinds == {*found.__all__}


def test_the_root_is_small() -> None:
    modules = {name for name in pendula.__all__ if inspect.ismodule(getattr(pendula, name))}
    assert modules == {
        "chaos",
        "derivation",
        "driven",
        "equilibria",
        "errors",
        "exchange",
        "extend",
        "library",
        "linear",
        "model",
        "studies",
        "results",
    }
    assert len({*pendula.__all__} - modules) <= 36


@pytest.mark.parametrize("module", [m for m in MODULES if m != "pendula.model"])
def test_every_public_name_has_an_example(module: str) -> None:
    """Parts of models have theirs in docs/model.md, which is made from their fields."""
    assert not [name for name, value in public(module).items() if ">>>" not in (inspect.getdoc(value) or "")]


def test_every_type_that_a_public_function_returns_is_public() -> None:
    types = {value for module in MODULES for value in public(module).values() if isinstance(value, type)}
    missing = set()
    for module in MODULES:
        for name, value in public(module).items():
            if not inspect.isfunction(value):
                continue
            returned = _annotation(value)
            for word in re.findall(r"[A-Z]\w+", returned):
                if word not in {"Any", "Array", "Command", "Path", "Make", "ModuleType", "None"} and word not in {
                    t.__name__ for t in types
                }:
                    missing.add(f"{name} -> {word}")
    assert not missing


def _annotation(function: Any) -> str:
    return str(inspect.signature(function).return_annotation)


# --- first arguments -------------------------------------------------------------------------------------------

HANGING = {"theta": 0.0}
TAKE_A_SYSTEM: dict[str, tuple[Any, ...]] = {
    "assemble": (),
    "compile_system": (),
    "find_equilibria": (),
    "fit": ({"t": [0.0, 0.1, 0.2], "theta": [1.5, 1.4, 1.3]}, ["l"]),
    "integrals": (),
    "equilibria.routh": (),
    "linearize": (HANGING,),
    "modes": (HANGING,),
    "mobility": (),
    "stability": (HANGING,),
    "simulate": (0.1,),
    "simulate_many": (0.1, {"theta": [0.1, 0.2]}),
    "studies.estimate_sweep": ({"theta": [0.1, 0.2]},),
    "sweep": ({"theta": [0.1, 0.2]},),
    "linear.free_response": ({"theta": 0.1},),
    "linear.linearize_many": (HANGING,),
    "linear.pencil": (HANGING,),
    "linear.spectrum": (HANGING,),
    "linear.stability_chart": (("l", 1.0, 2.0), ("g", 5.0, 10.0)),
    "linear.stability_over": ("l", 1.0, 2.0),
    "linear.forced_response": ({"theta": 1.0}, 1.0),
    "linear.harmonic_response": ({"theta": 1.0}, [1.0]),
    "linear.linearize_motions": (),
    "driven.floquet": (1.0,),
    "driven.floquet_chart": (("l", 1.0, 2.0), ("g", 5.0, 10.0)),
    "driven.floquet_over": ("l", 1.0, 2.0),
    "driven.floquet_boundary": ("l", 1.0, 2.0),
    "chaos.divergence": (0.1,),
    "chaos.lyapunov": (0.5,),
    "derivation.projection_matrices": (HANGING,),
    "equilibria.equilibrium_at": (HANGING,),
    "equilibria.lowest_equilibrium": (),
    "equilibria.steady_precession": (0.5, 60.0),
    "equilibria.trim": ({"theta": 0.5}, ["theta"]),
}
TAKE_A_MODEL: dict[str, tuple[Any, ...]] = {
    "check": (),
    "derivation.check_against": ({"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta)"]},),
    "derivation.compile_equations": ({"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta)"]},),
    "derive": (),
    "print_equations": (),
    "derivation.stages": (),
    "explain": (),
    "exchange.export": ("model.c",),
    "exchange.to_casadi": (),
    "exchange.to_jax": (),
    "exchange.to_sympy": (),
    "play": ("page.html",),
    "report": ("page.html",),
    "derivation.velocity_maps": (),
    "linear.linearize_symbolic": (),
}
TAKE_OTHERS: dict[str, tuple[Any, ...]] = {
    "animate": ("page.html",),
    "convert": ("quaternion",),
    "dumps": (),
    "load": (),
    "load_run": (),
    "load_sweep": (),
    "plot": (),
    "reactions": (),
    "save": ("model.toml",),
    "sensitivities": (["g"],),
    "chaos.horizon": (),
    "exchange.compile_sympy": (),
    "exchange.from_sympy": (),
    "exchange.load_mjcf": (),
    "exchange.load_robot": (),
    "exchange.load_urdf": (),
    "linear.animate_mode": (1, "page.html"),
    "linear.linear_range": (),
    "linear.modal_coordinates": ([0.1],),
}
NO_ARGUMENT = {"derivation.formulations", "exchange.exporters", "loads"}


def function(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(f"pendula.{module}" if module else "pendula"), last)


def test_the_tables_of_first_arguments_are_complete() -> None:
    named = {*TAKE_A_SYSTEM, *TAKE_A_MODEL, *TAKE_OTHERS, *NO_ARGUMENT}
    there = set()
    for module in STUBS.MODULES:
        if module in ("pendula.extend", "pendula.model", "pendula.results"):
            continue
        prefix = module.removeprefix("pendula").removeprefix(".")
        for name, value in public(module).items():
            if inspect.isfunction(value):
                there.add(f"{prefix}.{name}" if prefix and name not in pendula.__all__ else name)
    assert there == named


@pytest.mark.parametrize("wrong", [None, 3, "nope", [1.0], math.inf, pendula.Outcome.FINISHED], ids=repr)
@pytest.mark.parametrize("name", [*TAKE_A_SYSTEM, *TAKE_A_MODEL, *TAKE_OTHERS])
def test_a_wrong_first_argument_is_one_sentence(name: str, wrong: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    if name == "load" and wrong == "nope":
        pytest.skip("a path that is not there is a ModelError, which names the file")
    arguments = (TAKE_A_SYSTEM | TAKE_A_MODEL | TAKE_OTHERS)[name]
    with pytest.raises(UsageError) as caught:
        function(name)(wrong, *arguments)
    assert "\n" not in str(caught.value)
    assert name.rpartition(".")[2] in str(caught.value) or wrong == "nope"


@pytest.mark.parametrize("name", [*TAKE_A_SYSTEM, *TAKE_A_MODEL])
def test_first_arguments_have_one_name_for_each_kind(name: str) -> None:
    first = next(iter(inspect.signature(function(name)).parameters))
    both = {"modes", "stability", "linear.spectrum", "linear.free_response", "linear.harmonic_response"}
    of_equations = {"print_equations", "derivation.stages"}
    both.add("linear.forced_response")
    of_model = {*TAKE_A_MODEL, "compile_system"} - of_equations
    expected = "linear" if name in both else "model" if name in of_model else "system"
    assert first == ("equations" if name in of_equations else expected)


@pytest.mark.parametrize(
    "name", ["linearize", "modes", "stability", "find_equilibria", "simulate", "assemble", "linear.spectrum", "linear.pencil",
             "equilibria.lowest_equilibrium", "equilibria.trim"]
)  # fmt: skip
def test_a_name_a_model_and_a_system_mean_the_same(name: str) -> None:
    arguments = TAKE_A_SYSTEM[name]
    model = pendula.library.pendulum()
    texts = {str(function(name)(given, *arguments)) for given in ("pendulum", model, pendula.compile_system(model))}
    assert len(texts) == 1


def test_results_are_read_with_a_name_a_model_or_a_system(tmp_path: Path) -> None:
    run = pendula.simulate("pendulum", 0.1, samples=3)
    run.save(tmp_path / "run.csv")
    pendula.sweep("pendulum", {"theta": [0.1, 0.2]}, save=tmp_path / "study", on="here", duration=0.1)
    model = pendula.library.pendulum()
    for given in ("pendulum", model, pendula.compile_system(model)):
        assert (pendula.load_run(tmp_path / "run.csv", system=given).q == run.q).all()
        assert pendula.load_sweep(tmp_path / "study", system=given).complete
    for load, place in ((pendula.load_run, "run.csv"), (pendula.load_sweep, "study")):
        with pytest.raises(UsageError, match=f"^{load.__name__} takes a model, a system or the name"):
            load(tmp_path / place, system=3)


@pytest.mark.parametrize("wrong", ["driven-chain", pendula.compile_system("pendulum"), None], ids=str)
def test_a_window_of_a_drive_takes_a_model(wrong: Any) -> None:
    with pytest.raises(UsageError, match="drive_window takes a model, found a"):
        pendula.model.drive_window(wrong)


def test_models_and_systems_give_the_same_equations() -> None:
    model = pendula.library.pendulum()
    system = pendula.compile_system(model)
    texts = {pendula.print_equations(pendula.derive(x)) for x in ("pendulum", model, system, system.equations)}
    assert len(texts) == 1
    assert {pendula.print_equations(x) for x in ("pendulum", model, system)} == texts


def test_systems_made_on_the_way_are_kept_and_few() -> None:
    from pendula.system import entry

    first = entry.system_of("pendulum", "test")
    assert entry.system_of(pendula.library.pendulum(), "test") is first  # an equal model
    for links in range(1, 4 + entry.MOST_KEPT):
        entry.system_of(pendula.library.chain(links=links, kind="point"), "test")
    assert len(entry._compiled) == entry.MOST_KEPT
    assert entry.system_of("pendulum", "test") is not first


def test_sweeps_have_the_same_arguments() -> None:
    sweeps = ("linear.stability_over", "driven.floquet_over", "driven.floquet_boundary")
    heads = {tuple(inspect.signature(function(name)).parameters)[:4] for name in sweeps}
    assert heads == {("system", "parameter", "low", "high")}
    runs = [tuple(inspect.signature(function(name)).parameters)[:2] for name in ("simulate", "simulate_many")]
    assert runs == [("system", "duration")] * 2


# --- names of arguments ----------------------------------------------------------------------------------------

ONE_WORD: dict[str, set[str]] = {
    "at": {"point", "state", "where", "operating_point", "equilibrium"},
    "duration": {"length", "t_end", "seconds"},
    "given": {"against", "written"},
    "initial_state": {"start", "initial", "begin", "x0", "y0"},
    "inputs": {"u", "controls"},
    "max_steps": {"limit", "steps", "most_steps"},
    "near": {"close_to", "around"},
    "on_progress": {"callback", "progress", "tell"},
    "parameters": {"names", "params", "values", "constants"},
    "path": {"file", "filename", "folder", "source", "target"},
    "run": {"trajectory", "motion"},
    "samples": {"n_samples", "count", "num", "points"},
    "seed": {"rng", "random_state"},
    "system": {"mechanism"},
    "t_span": {"span", "interval", "times"},
    "tol": {"tolerance", "rtol", "eps"},
    "workers": {"jobs", "processes"},
}
"""for each thing the name of its argument, and the names that would be second words for it"""

OTHER_THINGS = {
    "ForcedResponse.point point": "a point of a body",
    "HarmonicResponse.point point": "a point of a body",
    "Layout.by_coordinates values": "values of coordinates and speeds",
    "Model.with_parameters values": "new values of the parameters that the method names",
    "Reduced.state state": "a state to express in fewer coordinates",
    "Signal.check_span span": "times of a run that exists",
    "State.replace values": "values of coordinates and speeds",
    "System.state values": "values of coordinates and speeds",
    "System.watching values": "numbers in the texts to watch",
    "Trajectory.acceleration point": "a point of a body",
    "Trajectory.position point": "a point of a body",
    "Trajectory.velocity point": "a point of a body",
    "chaos.divergence points": "points of bodies",
    "chaos.horizon points": "points of bodies",
    "derivation.stages seconds": "a limit of computing time",
    "linear.linearize_symbolic seconds": "a limit of computing time",
    "load_run source": "a file, or a data frame",
    "load_sweep folder": "a study is a folder, as sweep(save=folder) made it",
    "loads source": "what messages call the text",
}
"""arguments with such a name that are something else; ``faults`` of forces take the numbers in their fields"""

KEYWORDS = {"inputs", "parameters", "initial_state", "t_span", "tol", "samples", "seed", "on_progress", "max_steps",
            "workers"}  # fmt: skip
BY_POSITION = {
    "LinearModel.bode inputs": "names of inputs, after those of outputs",
    "LinearModel.step inputs": "names of inputs, after those of outputs",
    "StateSpace.selected inputs": "names of inputs, after those of outputs",
    "System.dynamics parameters": "all that the result depends on",
    "System.forward_dynamics parameters": "all that the result depends on",
    "System.initial_state parameters": "all that the result depends on",
    "System.series parameters": "all that the result depends on",
    "System.watching parameters": "the numbers behind the texts",
    "System.with_inputs inputs": "all that the result depends on",
    "fit parameters": "names of what is wanted, not changes of values",
    "sensitivities parameters": "names of what is wanted, not changes of values",
}
"""arguments of these names that may be given by position, with the reason"""


def callables() -> dict[str, Any]:
    """Public functions, and public methods of public classes, as far as Pendula defines them."""
    found: dict[str, Any] = {}
    for module in STUBS.MODULES:
        prefix = module.removeprefix("pendula").removeprefix(".")
        for name, value in public(module).items():
            if inspect.isfunction(value):
                found[f"{prefix}.{name}" if prefix and name not in pendula.__all__ else name] = value
            elif inspect.isclass(value):
                for method in (m for m in dir(value) if not m.startswith("_")):
                    raw = inspect.getattr_static(value, method)
                    raw = getattr(raw, "__func__", raw)
                    if inspect.isfunction(raw) and raw.__module__.startswith("pendula"):
                        found[f"{value.__name__}.{method}"] = raw
    return found


def arguments() -> dict[str, inspect.Parameter]:
    return {f"{f} {n}": p for f, c in callables().items() for n, p in inspect.signature(c).parameters.items()}


def test_the_same_argument_has_the_same_name() -> None:
    words = {second: word for word, others in ONE_WORD.items() for second in others}
    second = {key for key in arguments() if key.split()[1] in words and ".faults" not in key}
    assert second == {*OTHER_THINGS}, "name them by the word of ONE_WORD, or say what else they are"


def test_options_are_given_by_name() -> None:
    found = {
        key for key, p in arguments().items() if p.name in KEYWORDS and p.kind is not inspect.Parameter.KEYWORD_ONLY
    }
    assert found == {*BY_POSITION}, "make them keyword-only, or say why not"


# --- messages --------------------------------------------------------------------------------------------------


def test_messages_of_the_library_name_no_options_of_the_command_line() -> None:
    found = []
    for path in SOURCE.rglob("*.py"):
        if path.is_relative_to(SOURCE / "app"):
            continue
        text = path.read_text(encoding="utf-8")
        if "--" not in text and "`pendula" not in text:
            continue
        docs = set()
        for node in ast.walk(ast.parse(text)):  # a statement comes before what it consists of
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                docs.add(id(node.value))
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docs:
                continue
            if re.search(r"(?<![-\w])--[a-z]|`pendula [a-z]", node.value):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno}: {node.value[:60]!r}")
    assert not found
