"""The Python script that reproduces what a page shows: the model as text, then one call for each result.

The model is a string of the script and everything else a literal, so that nothing in a model file becomes code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pendula.app.studio.asking import Options, asked_model, number_of
from pendula.errors import UsageError

CHANGES = ("parameters", "inputs", "start")
"""Options that change the model."""
NUMBERS = ("duration", "tol", "step", "low", "high", "prove")
"""Options that are numbers, or expressions with a value."""
PAIR = ("first", "second")
"""Options of a comparison: the options of its runs."""
TABLES = ("at", "rates", "vary", "spread")
"""Options that are tables of such, or of pairs of such."""


def python_script(text: str, shown: Sequence[Mapping[str, Any]]) -> str:
    """The script for a model and what is shown of it.

    Args:
        text: of the model, TOML.
        shown: kinds of jobs with their options, in the order in which they are to be computed.

    Example:
        >>> from pendula import dumps, library
        >>> made = python_script(dumps(library.pendulum()), [{"kind": "certificate", "options": {}}])
        >>> made.splitlines()[-1]
        'print(pendula.check(model))'
    """
    lines = [
        '"""Written by the studio of Pendula: reproduces what it showed."""',
        "",
        "import pendula",
        "",
        f"MODEL = {literal(text)}",
        "",
        *_changed("", {}),
    ]
    before = _changed("", {})
    for one in shown:
        kind, options = one.get("kind"), one.get("options") or {}
        if not isinstance(kind, str) or kind not in WRITERS or not isinstance(options, Mapping):
            known = ", ".join(WRITERS)
            raise UsageError(f"a script can reproduce results of the kinds {known}")
        made = _changed(kind, options)
        lines += ["", f"# {kind}", *(made if made != before else []), *WRITERS[kind](_in_numbers(text, options))]
        before = made if kind != "compare" else []  # it leaves the system of its second run
    return "\n".join(lines) + "\n"


def _in_numbers(text: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with numbers in place of expressions such as ``"90deg"``, which the library takes in models only."""
    known = asked_model(text, Options({name: options.get(name) for name in CHANGES})).parameter_values

    def valued(value: Any, name: str) -> Any:
        if isinstance(value, (list, tuple)):
            return [valued(entry, name) for entry in value]
        return number_of(value, name, known)

    found = dict(options)
    for name in NUMBERS:
        if found.get(name) is not None:
            found[name] = valued(found[name], name)
    for name in TABLES:
        if isinstance(found.get(name), Mapping):
            found[name] = {key: valued(value, name) for key, value in found[name].items()}
    for name in PAIR:
        if isinstance(found.get(name), Mapping):
            found[name] = _in_numbers(text, found[name])
    return found


def literal(text: str) -> str:
    """A text as a Python literal over several lines, with everything unprintable escaped.

    Example:
        >>> import ast
        >>> hostile = "a" + 3 * '"' + "b" + chr(0x202E) + chr(92) + chr(0)
        >>> ast.literal_eval(literal(hostile)) == hostile
        True
    """
    inside = "".join(_escaped(letter) for letter in text)
    if '"""' in inside or inside.endswith('"'):  # these would end the literal early
        inside = inside.replace('"', '\\"')
    return f'"""\\\n{inside}"""'


def _escaped(letter: str) -> str:
    if letter == "\\":
        return "\\\\"
    return letter if letter == "\n" or letter.isprintable() else ascii(letter)[1:-1]


def _value(value: Any) -> str:
    """A literal of plain data: numbers, texts, lists and tables."""
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        return ascii(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_value(str(k))}: {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    raise UsageError("options must be numbers, texts, lists and tables")


def _changed(kind: str, options: Mapping[str, Any]) -> list[str]:
    """The model with changed parameters, inputs and initial state, and the system by its formulation."""
    parameters, inputs, start = (options.get(name) or {} for name in CHANGES)
    lines = ["model = pendula.loads(MODEL)"]
    if parameters:
        lines.append(f"model = model.with_parameters({_value(parameters)})")
    if inputs:
        lines.append(f"model = model.with_changes(inputs=dict(model.inputs) | {_value(inputs)})")
    if start:
        lines.append(f"model = model.with_changes(initial=dict(model.initial) | {_value(start)})")
    formulation = options.get("formulation") if kind != "equations" else None  # these name it themselves
    return [*lines, f"system = pendula.compile_system(model{f', {_value(formulation)}' if formulation else ''})"]


def _given(options: Mapping[str, Any], *names: str) -> str:
    """The options that were given, as arguments of a call."""
    return "".join(f", {name}={_value(options[name])}" for name in names if options.get(name) is not None)


def _simulate(options: Mapping[str, Any]) -> list[str]:
    given = {"duration": 10.0, "samples": 500, **{k: v for k, v in options.items() if v is not None}}
    how = _given(given, "tol", "samples", "stepper", "step", "events", "max_steps")
    return [f"run = pendula.simulate(system, {_value(given['duration'])}{how})", "print(run)"]


def _rest(options: Mapping[str, Any]) -> list[str]:
    """The equilibrium that ``at`` names."""
    at, rates = options.get("at"), _given(options, "rates")
    if isinstance(at, Mapping) and at:
        return [f"rest = pendula.equilibria.equilibrium_at(system, {_value(at)}{rates})"]
    which = "0" if at is None or at == {} else ascii(str(at))
    return [f"rest = pendula.find_equilibria(system{rates})[{which}]"]


def _ensemble(options: Mapping[str, Any]) -> list[str]:
    vary, spread = options.get("vary") or {}, options.get("spread") or {}
    runs, seed = options.get("runs") or 200, options.get("seed") or 1
    given = {"duration": 10.0, "samples": 200, **{k: v for k, v in options.items() if v is not None}}
    return [
        "import numpy as np",
        "",
        f"runs, seed = {_value(runs)}, {_value(seed)}",
        "start = dict(model.parameter_values) | system.in_joints.initial_state().as_dict()",
        "drawn = {}",
        f"for name, (low, high) in {_value(vary)}.items():",
        "    drawn[name] = np.random.default_rng([seed, *name.encode()]).uniform(low, high, runs)",
        f"for name, width in {_value(spread)}.items():",
        "    noise = np.random.default_rng([seed, *name.encode()]).standard_normal(runs)",
        "    drawn[name] = start[name] + width * noise",
        "values = {name: x for name, x in drawn.items() if name in model.parameters}",
        "states = {name: x for name, x in drawn.items() if name not in values}",
        f"many = pendula.simulate_many(system, {_value(given['duration'])}, states, parameters=values or None, "
        f'bad_starts="mark"{_given(given, "tol", "samples")})',
        "print(many)",
    ]


def _locus(options: Mapping[str, Any]) -> list[str]:
    name, low, high = (_value(options.get(key)) for key in ("parameter", "low", "high"))
    return [
        "import numpy as np",
        "",
        *_rest(options),
        f"for value in np.linspace({low}, {high}, {_value(options.get('count') or 100)}):",
        "    try:",
        f"        near = pendula.linearize(system, rest.state, parameters={{{name}: value}})",
        "    except pendula.errors.PendulaError as error:",
        "        print(value, error)",
        "        continue",
        "    print(value, pendula.linear.spectrum(near).roots)",
    ]


def _equations(options: Mapping[str, Any]) -> list[str]:
    formulation = _value(options.get("formulation") or "lagrange")
    form = options.get("format") or "text"
    shown = _value("latex" if form == "mathml" else form)
    return [f"print(pendula.print_equations(pendula.derive(model, {formulation}), {shown}))"]


def _reactions(options: Mapping[str, Any]) -> list[str]:
    return [*_simulate(options), "print(pendula.reactions(run))"]


def _compare(options: Mapping[str, Any]) -> list[str]:
    """Two runs at the same times, and the largest differences of their states."""
    runs = [options.get(name) or {} for name in PAIR]
    duration = min(run.get("duration", 10.0) if run.get("duration") is not None else 10.0 for run in runs)
    lines = ["import numpy as np", "", f"times = np.linspace(0.0, {_value(duration)}, 500)"]
    for name, run in zip(PAIR, runs, strict=True):
        how = _given(run, "tol", "stepper", "step", "events", "max_steps")
        lines += [*_changed("simulate", run), f"{name} = pendula.simulate(system, times[-1], samples=times{how})"]
    return [
        *lines,
        "for name in (*first.joint_layout.coordinates, *first.joint_layout.speeds):",
        "    print(name, np.abs(first[name] - second[name]).max())",
    ]


def _section(options: Mapping[str, Any]) -> list[str]:
    events = [options.get("event") or ""]
    crossings = "for found in run.events.values():"
    return [*_simulate({**options, "events": events}), crossings, "    print(found)"]


def _stability(options: Mapping[str, Any]) -> list[str]:
    return [*_rest(options), "print(pendula.stability(system, rest))"]


def _floquet(options: Mapping[str, Any]) -> list[str]:
    given = {**options, "at": options.get("at") or None}
    return [f"print(pendula.driven.floquet(system{_given(given, 'period', 'at', 'close')}))"]


WRITERS: dict[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "simulate": _simulate,
    "equilibria": lambda options: [f"print(pendula.find_equilibria(system{_given(options, 'prove', 'rates')}))"],
    "linear": lambda options: [*_rest(options), "linear = pendula.linearize(system, rest)", "print(linear)"],
    "modes": lambda options: [*_rest(options), f"print(pendula.modes(system, rest{_given(options, 'damped')}))"],
    "stability": _stability,
    "locus": _locus,
    "floquet": _floquet,
    "reactions": _reactions,
    "section": _section,
    "compare": _compare,
    "ensemble": _ensemble,
    "certificate": lambda options: ["print(pendula.check(model))"],
    "equations": _equations,
}
"""How each kind of result is written."""
