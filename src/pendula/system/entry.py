"""Functions of a compiled system that also accept a model or a library name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import Any

from pendula.equations.equations import Equations
from pendula.errors import NotSupported
from pendula.library.lookup import model_of
from pendula.model.model import Model
from pendula.system import refusals
from pendula.system.build import compile_system
from pendula.system.layout import State
from pendula.system.loops import assembly
from pendula.system.loops import mobility as of_loops
from pendula.system.parameters import Parameters
from pendula.system.system import System

AnySystem = System | Model | str
"""What a call accepts as a system: the system, a model, or the name of a library mechanism."""

MOST_KEPT = 8
"""number of systems compiled by such calls that are kept, so that the next call with the same model is quick"""

_compiled: OrderedDict[Any, System] = OrderedDict()


BY_EQUATIONS_ALONE = (
    "simulate",
    "linearize",
    "equilibrium_at",
    "lyapunov",
    "divergence",
    "floquet",
    "assemble",
    "mobility",
    "plot",
)
"""functions that use the equations of motion of a system and draw no conclusions from its model"""


IN_A_RUN = (
    "simulate",
    "simulate_many",
    "load_run",
    "convert",
    "fit",
    "sweep",
    "estimate_sweep",
    "load_sweep",
    "lyapunov",
    "divergence",
    "floquet",
    "floquet_over",
    "floquet_boundary",
    "floquet_chart",
    "routh",
    "integrals",
    "projection_matrices",
    "assemble",
    "mobility",
    "plot",
)
"""functions that use the inputs of a run, use none, or refuse them in their own words; all others need held values"""


def refuse_written(system: System, who: str) -> None:
    """Raises NotSupported for equations that others wrote (``compile_equations``)."""
    if system.written:
        raise NotSupported(
            refusals.GIVEN_EQUATIONS, who=who, source=system.written, able=", ".join(BY_EQUATIONS_ALONE[:4])
        )


def system_of(given: Any, who: str, *, also: str = "", inputs: Any = None) -> System:
    """Compiles an argument, unless it is a system already.

    A model, equations or the name of a library mechanism are compiled with the defaults of ``compile_system``; the
    last few systems are kept. To choose a formulation or an engine, call :func:`pendula.compile_system` once.

    Args:
        given: a system, a model, equations, or the name of a library mechanism.
        who: the function with this argument, for the message.
        also: what else it accepts, for the message.
        inputs: values of inputs that ``who`` was given. If they take the place of all inputs that only a run knows,
            the system of the run becomes one with the inputs of its model.

    Raises:
        UsageError: it is none of these; the message states what ``who`` accepts.
        NotSupported: it is the system of a run, and ``who`` needs a value of an input that only the run knows.

    Example:
        >>> system_of("pendulum", "simulate") is system_of("pendulum", "linearize")
        True
    """
    if isinstance(given, System):
        if given.written and who not in BY_EQUATIONS_ALONE:
            refuse_written(given, who)
        own = given.inputs if who in IN_A_RUN else given.inputs.held(inputs)
        return given if own is given.inputs else given.with_inputs(own)
    if isinstance(given, Equations):
        return _kept(id(given), given)
    model = model_of(given, who, also=also)
    return _kept(model, model)


def _kept(key: Any, source: Model | Equations) -> System:
    found = _compiled.get(key)
    if found is None or (isinstance(source, Equations) and found.equations is not source):
        found = compile_system(source)
    _compiled[key] = found
    _compiled.move_to_end(key)
    while len(_compiled) > MOST_KEPT:
        _compiled.popitem(last=False)
    return found


def assemble(
    system: AnySystem,
    near: State | Mapping[str, Any] | None = None,
    *,
    parameters: Parameters = None,
    keep: Collection[str] = (),
    prefer: Collection[str] | None = None,
) -> assembly.Assembly:
    """The consistent state nearest to a given one: loops closed, speeds compatible with them.

    It is the state from which ``simulate`` starts: values by name stay if they can, others move as little as possible.

    Args:
        system: a system, a model, or the name of a library mechanism.
        near, parameters, keep, prefer: as in :func:`pendula.system.loops.assembly.assemble`.

    Raises:
        LoopNotClosed: no consistent state was found, or the speeds in ``keep`` contradict the loops.

    Example:
        >>> import pendula
        >>> model = pendula.library.four_bar()
        >>> sorted(assemble(model, {"rocker": 3.9}, keep={"crank", "coupler", "crank_dot"}).moved)
        ['rocker']
    """
    return assembly.assemble(system_of(system, "assemble"), near, parameters=parameters, keep=keep, prefer=prefer)


def mobility(system: AnySystem, *, parameters: Parameters = None) -> of_loops.Mobility:
    """Degrees of freedom by count and by rank, and redundant constraints, at poses near the initial state.

    Example:
        >>> mobility("four-bar").text
        '1 degree of freedom'
    """
    return of_loops.mobility(system_of(system, "mobility"), parameters)
