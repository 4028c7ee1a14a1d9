"""Common parts of the commands about small motion: reading the mechanism, and selecting an equilibrium."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from pendula.app import options as opt
from pendula.app.progress import Progress
from pendula.arguments import available
from pendula.errors import UsageError
from pendula.model.model import Model
from pendula.system.parameters import typical_length
from pendula.words import some

if TYPE_CHECKING:
    from pendula.analysis.equilibria.equilibrium import Equilibrium
    from pendula.analysis.equilibria.find import Equilibria
    from pendula.system.system import System

ROUNDED = 1e-3
"""values of --at within this [rad, or fraction of a typical length] of an equilibrium select it"""
LISTED = 6
"""largest number of degrees of freedom for which all equilibria are searched, to count them"""

_OPTIONS = (
    opt.model_argument,
    opt.parameter_option,
    opt.start_option,
    opt.input_option,
    opt.formulation_option(None, "default: kane, where equations are derived"),
    opt.engine_option,
    opt.equations_option,
)
rate_option = click.option(
    "--rate",
    "rates",
    multiple=True,
    metavar="NAME=VALUE",
    help="Constant rate of a steady motion: of a cyclic coordinate, such as phi=3, or of a ball joint by quaternion, "
    'such as "pivot about body z=60" or "pivot about world z=2".',
)
at_option = click.option(
    "--at",
    "at",
    multiple=True,
    metavar="WHICH",
    help='The equilibrium: its number in "pendula equilibria", or values such as theta=180deg; other coordinates are '
    "zero or follow from closed loops. Default: the one of least effective potential.",
)


def mechanism_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """MODEL, -p, --start, --input, --formulation, --engine, --equations."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Asked:
    """The mechanism that the options describe, compiled, and the rates of a steady motion."""

    model: Model
    system: System
    rates: Mapping[str, float]

    @property
    def values(self) -> dict[str, float]:
        """Values of parameters."""
        return self.model.parameter_values

    def with_parameters(self, values: Mapping[str, float]) -> Asked:
        """The same mechanism at other values of some parameters, compiled in the same way."""
        from pendula.system.build import compile_alike

        model = self.model.with_parameters(dict(values))
        return Asked(model, compile_alike(self.system, model), self.rates)


def read_asked(
    model: str,
    settings: tuple[str, ...],
    start: tuple[str, ...],
    inputs: tuple[str, ...],
    formulation: str | None,
    engine: str,
    rates: tuple[str, ...],
    progress: Progress,
    equations: str | None = None,
) -> Asked:
    """Compiles the mechanism that the options describe."""
    from pendula.system.first_use import prepare_linear_models

    found = opt.with_inputs(opt.read_model(model, settings), inputs)
    begin = opt.read_state(found, start)
    opt.hint_degrees(found, begin, "--start")
    if begin:
        found = found.with_changes(initial=dict(found.initial) | begin)
    turning = opt.read_numbers(found.parameter_values, opt.pairs(rates, "--rate"), "--rate")
    progress.say("deriving and compiling (the first run on a machine also compiles the solver, once)")
    prepare_linear_models(found, formulation, engine)
    return Asked(found, opt.compile_asked(found, formulation, engine, equations), turning)


def read_range(model: Model, text: str, option: str, what: str) -> tuple[str, float, float]:
    """NAME=LOW:HIGH of a parameter."""
    name, sign, span = (piece.strip() for piece in text.partition("="))
    low, colon, high = (piece.strip() for piece in span.partition(":"))
    if not (name and sign and low and colon and high):
        raise UsageError(f'{option} expects NAME=LOW:HIGH, such as {what}, found "{text}"')
    if name not in model.parameters:
        raise UsageError(f'{option}: there is no parameter "{name}"; {available(model.parameters)}')
    ends = opt.read_numbers(model.parameter_values, {"low": low, "high": high}, f"{option} {name}")
    if not ends["low"] < ends["high"] < float("inf"):
        raise UsageError(f'{option} {name}: the range must go from a smaller to a larger number, found "{span}"')
    return name, ends["low"], ends["high"]


# --- which equilibrium ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chosen:
    """An equilibrium and how it was selected, in words."""

    point: Equilibrium
    why: str


class NoEquilibrium(Exception):
    """There is no equilibrium. Holds the result of the search."""

    def __init__(self, found: Equilibria) -> None:
        super().__init__("no equilibrium")
        self.found = found


def choose(asked: Asked, at: tuple[str, ...], progress: Progress) -> Chosen:
    """The equilibrium that ``--at`` selects; by default the one of least effective potential.

    Raises:
        NoEquilibrium: there is none at all.
        UsageError: no equilibrium has this number or these values.
    """
    if asked.system.written:
        return _of_given_equations(asked, at, progress)
    if not at:
        return _lowest(asked, progress)
    if any("=" in text for text in at):
        return _by_values(asked, at_values(at), progress)
    if len(at) > 1:
        raise UsageError(f"--at expects one number, or values such as theta=180deg, found {' and '.join(at)}")
    found = _all(asked, progress)
    names = [e.name for e in found]
    if at[0] not in names:
        known = f"1 to {len(names)}" if len(names) > 1 else "only 1"
        raise UsageError(
            f'--at: there is no equilibrium "{at[0]}"; there are {known} (see "pendula equilibria"), '
            "or give values such as theta=180deg"
        )
    return Chosen(found[at[0]], f"{_number(found, at[0])}, as requested")


def _of_given_equations(asked: Asked, at: tuple[str, ...], progress: Progress) -> Chosen:
    """An equilibrium of equations from a file: the values of ``--at``, or an equilibrium of the model itself."""
    from pendula.analysis.equilibria.equilibrium import equilibrium_at
    from pendula.errors import NotAnEquilibrium
    from pendula.system.build import compile_system

    if any("=" in text for text in at):
        values: Mapping[str, float] = read_at(asked, at)
        return Chosen(equilibrium_at(asked.system, values, rates=asked.rates), "the values given with --at")
    own = choose(Asked(asked.model, compile_system(asked.model), asked.rates), at, progress)
    joints = own.point.system.in_joints if own.point.system is not None else asked.system.in_joints
    try:
        point = equilibrium_at(asked.system, joints.read_state(own.point.state, own.point.parameters).as_dict())
    except NotAnEquilibrium as error:
        raise NotAnEquilibrium(
            f"{error}\n  This is {own.why}, of the model; the equations of {asked.system.written} do not balance "
            "there. Give --at with values at which they do.",
            residual=error.residual,
        ) from None
    return Chosen(point, f"{own.why}, of the model")


def at_values(at: tuple[str, ...], option: str = "--at") -> dict[str, str]:
    """Values of an option as texts by name; several may be in one, separated by commas."""
    return opt.pairs(tuple(piece for text in at for piece in _pieces(text)), option)


def read_at(asked: Asked, at: tuple[str, ...], option: str = "--at") -> dict[str, float]:
    """Values of an option as numbers in the units of the model, with a hint about angles that look like degrees."""
    found = opt.read_numbers(asked.values, at_values(at, option), option, opt.state_units(asked.model))
    opt.hint_degrees(asked.model, found, option)
    return found


def _pieces(text: str) -> list[str]:
    """Parts separated by commas outside parentheses."""
    found, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    return [piece for piece in found if piece.strip()]


def _all(asked: Asked, progress: Progress) -> Equilibria:
    from pendula.analysis.equilibria.find import find_equilibria

    progress.say("searching for equilibria")
    found = find_equilibria(asked.system, rates=asked.rates, on_progress=progress.done)
    if not len(found):
        raise NoEquilibrium(found)
    return found


def _lowest(asked: Asked, progress: Progress) -> Chosen:
    from pendula.analysis.equilibria.find import lowest_equilibrium

    steady = bool(asked.rates or asked.system.drives)
    least = f"least {'effective ' if steady else ''}potential"
    if len(asked.model.speeds) > LISTED:
        progress.say("searching for equilibria")
        lowest = lowest_equilibrium(asked.system, rates=asked.rates)
        if lowest is not None:
            return Chosen(lowest, f"the equilibrium of {least}")
    found = _all(asked, progress)
    if len(found) == 1:
        return Chosen(found[0], f"the only {_kind(found)} found")
    same = [e.name for e in found if abs(e.potential - found[0].potential) <= 1e-9 * (abs(found[0].potential) or 1.0)]
    others = f"; {', '.join(same[1:])} has the same" if len(same) == 2 else ""
    return Chosen(found[0], f"{_number(found, '1')}, the one of {least}{others}")


def _kind(found: Equilibria) -> str:
    return "steady motion" if found[0].steady else "equilibrium"


def _number(found: Equilibria, name: str) -> str:
    return f"{_kind(found)} {name} of {len(found)}"


def _by_values(asked: Asked, given: Mapping[str, str], progress: Progress) -> Chosen:
    """The given state if it is an equilibrium, else the only equilibrium with these values."""
    from pendula.analysis.equilibria.equilibrium import equilibrium_at
    from pendula.errors import NotAnEquilibrium

    numbers = opt.read_numbers(asked.values, given, "--at", opt.state_units(asked.model))
    opt.hint_degrees(asked.model, numbers, "--at")
    layout = asked.system.in_joints.layout
    for name in numbers:
        layout.position(name)
    others = [n for n, kind in _kinds(asked.system).items() if n not in numbers and kind in ("angle", "length")]
    assumed = _assumed(asked, others) if others else ""
    try:
        point = equilibrium_at(asked.system, numbers, rates=asked.rates)
        return Chosen(point, f"the values given with --at{assumed}")
    except NotAnEquilibrium as error:
        refused = error
    first = str(refused).splitlines()[0] + (f"\n  Its values are those given with --at{assumed}." if others else "")
    if len(asked.model.speeds) > LISTED:
        raise NotAnEquilibrium("\n".join([first, *str(refused).splitlines()[1:]]), residual=refused.residual)
    found = _all(asked, progress)
    far = {e.name: _distance(asked.system, e, numbers, found.circles) for e in found}
    same = [e for e in found if far[e.name] <= ROUNDED]
    filled = f"; {some(others)}, not given, as there" if others else ""
    if len(same) == 1:
        return Chosen(same[0], f"{_number(found, same[0].name)}, which has these values up to rounding{filled}")
    if same:
        names = ", ".join(e.name for e in same)
        more = f", such as {others[0]}" if others else ""
        raise UsageError(f"--at: equilibria {names} have these values; give their number, or more values{more}")
    moved = {} if asked.model.closures else _moved_along(asked, found, numbers)
    if len(moved) > 1:
        more = f", such as {others[0]}" if others else ""
        raise UsageError(
            f"--at: with these values, equilibria {', '.join(moved)} are equilibria too; give more values{more}"
        )
    if moved:
        ((name, point),) = moved.items()
        return Chosen(point, f"the values given with --at; {some(others)}, not given, as at equilibrium {name}")
    from pendula.present.words.equilibria import place

    pose = _pose(asked, numbers)
    nearest = min(found, key=lambda e: _distance(asked.system, e, pose, found.circles))
    where = place(asked.system, nearest)
    raise NotAnEquilibrium(
        f"{first}\n  The nearest equilibrium is {nearest.name}: {where}. Try: --at {nearest.name}",
        residual=refused.residual,
    )


def _pose(asked: Asked, numbers: Mapping[str, float]) -> dict[str, float]:
    """Angles and lengths of the whole pose with the given values: loops closed, others at zero."""
    from pendula.analysis.equilibria.equilibrium import closed_state

    joints, vector = asked.system.in_joints, asked.system.parameters
    state = joints.read_state(closed_state(asked.system, numbers, vector), vector)
    return {n: state[n] for n, kind in _kinds(asked.system).items() if n in numbers or kind in ("angle", "length")}


def _assumed(asked: Asked, others: list[str]) -> str:
    """The values of the coordinates that ``--at`` does not give, in words."""
    how = "following from the closed loops" if asked.model.closures else "at zero"
    return f"; {some(others)}, not given, {how}"


def _moved_along(asked: Asked, found: Equilibria, numbers: Mapping[str, float]) -> dict[str, Equilibrium]:
    """Equilibria that remain equilibria with these values, as a free coordinate may have any value."""
    from pendula.analysis.equilibria.equilibrium import equilibrium_at
    from pendula.errors import NotAnEquilibrium
    from pendula.present.words.equilibria import joint_values

    moved = {}
    for one in found:
        with suppress(NotAnEquilibrium):
            here = {n: x for n, x in joint_values(asked.system, one).items() if n in _kinds(asked.system)}
            moved[one.name] = equilibrium_at(asked.system, {**here, **numbers}, rates=asked.rates)
    return moved


def _kinds(system: System) -> dict[str, str]:
    """Kinds of the coordinates of the joints by name."""
    layout = system.in_joints.layout
    return dict(zip(layout.coordinates, layout.coordinate_kinds, strict=True))


def _distance(system: System, one: Equilibrium, values: Mapping[str, float], circles: tuple[str, ...]) -> float:
    """Distance of an equilibrium from some values: the largest difference in radians or typical lengths."""
    import math

    from pendula.present.words.equilibria import joint_values

    here = joint_values(system, one)
    kinds = _kinds(system)
    worst = 0.0
    for name, value in values.items():
        gap = abs(here[name] - value)
        if name in circles:
            gap = min(gap % (2 * math.pi), -gap % (2 * math.pi))
        elif kinds.get(name) == "length":
            gap /= typical_length(system)
        worst = max(worst, gap)
    return worst
