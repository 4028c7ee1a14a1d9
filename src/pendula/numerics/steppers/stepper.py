"""The definition of a stepper, and the registry of all steppers with their names and abilities.

A stepper from outside the package is a :class:`Stepper` with its own ``step``, see :func:`register_stepper`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pendula.errors import NotSupported, UsageError
from pendula.numerics import refusals
from pendula.registry import Registry

STEPPERS: Registry[Stepper] = Registry("stepper")


def _stepper_named(name: str) -> Stepper:
    return STEPPERS[name]


@dataclass(frozen=True)
class Stepper:
    """An integration method: its name, orders, abilities, and its step.

    Attributes:
        name: its name for users.
        order: order of the solution; 0 if it depends on the tolerance.
        error_order: the error estimate falls as step ** (error_order + 1); 0 if there is none, and steps are fixed.
        dense_order: order of the dense output, by which samples and events are found; the default is the cubic Hermite
            polynomial, which needs nothing from the stepper.
        events, constraints, lanes, stiff: its abilities, see :data:`pendula.numerics.refusals.LACKS`.
        summary: one line for lists and help.
        step: the step of a stepper from outside the package, ``step(run, t, h, y, slope, new, error)``: from the state
            ``y`` at time t, whose derivative is ``slope``, to ``new`` at t + h. All are plain arrays of ``run.n``
            numbers, first ``run.coordinates`` positions, then ``run.speeds`` speeds, then quadratures, on which nothing
            depends. Numba compiles it; ``rates(run, t, y, dy)`` evaluates derivatives (False if they are
            not finite, in which case the step must return False). With ``error_order`` above 0 it fills ``error``.
            It returns whether it succeeded.
        splits: whether the step distinguishes positions and speeds.
        tableau: tableau of a Runge-Kutta method, as ``"module:attribute"``.
        code: native functions of a stepper inside the package: ``attempt``, ``prepare``, ``settle``, as
            ``"module:attribute"`` (see :data:`pendula.numerics.steppers.run.RUN`).
        setup: function (components, controlled, rtol) that makes the record of the method, as ``"module:attribute"``.
        series: integrates by Taylor series, in a separate loop.

    Example:
        >>> STEPPERS["radau"].order, STEPPERS["radau"].stiff, STEPPERS["rk4"].fixed
        (5, True, True)
    """

    name: str
    order: int
    error_order: int = 0
    dense_order: int = 3
    events: bool = True
    constraints: bool = True
    lanes: bool = False
    stiff: bool = False
    summary: str = ""
    step: Callable[..., Any] | None = None
    splits: bool = False
    tableau: str = ""
    code: Mapping[str, str] = field(default_factory=dict)
    setup: str = ""
    series: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Other processes look it up by its name; its compiled step stays here."""
        return _stepper_named, (self.name,)

    @property
    def fixed(self) -> bool:
        """Whether all steps have the same size, which the user must give."""
        return self.error_order == 0

    @property
    def tolerance(self) -> bool:
        """Whether a tolerance controls the step size."""
        return not self.fixed

    def require(self, ability: str) -> None:
        """Raises an error if the stepper lacks an ability.

        Raises:
            NotSupported: this stepper does not have the ability; the message names those that do.
        """
        if getattr(self, ability):
            return
        can = [one for one in STEPPERS if getattr(STEPPERS[one], ability)]
        raise NotSupported(refusals.LACKS[ability], stepper=self.name, able=", ".join(can))

    @cached_property
    def native(self) -> Any:
        """The compiled step and the tableau, see :mod:`pendula.numerics.steppers.native`."""
        from pendula.numerics.steppers.native import native_step

        return native_step(self)


def register_stepper(stepper: Stepper) -> Stepper:
    """Registers your own stepper under its name.

    Raises:
        UsageError: the name is taken, or the stepper has no step of seven arguments, or no order. Before its first
            run the step is tried on simple equations, and refused if its error does not fall as the orders say.

    Example:
        >>> def step(run, t, h, y, slope, new, error):
        ...     new[:] = y + h * slope
        ...     return True
        >>> register_stepper(Stepper("euler", order=1, summary="for the first lesson", step=step)).fixed
        True
        >>> STEPPERS.remove("euler").name
        'euler'
    """
    step: Any = getattr(stepper, "step", None)
    if not isinstance(stepper, Stepper) or not inspect.isfunction(getattr(step, "py_func", step)):
        raise UsageError(f"register_stepper takes a Stepper with a step function, found {stepper!r}")
    if not (isinstance(stepper.name, str) and stepper.name.replace("-", "_").isidentifier()):
        raise UsageError(f'the name of a stepper is a word of letters, digits, - and _, found "{stepper.name}"')
    for what, least in (("order", 1), ("error_order", 0)):
        if type(number := getattr(stepper, what)) is not int or number < least:
            raise UsageError(f'stepper "{stepper.name}": {what} must be a whole number from {least}, found {number!r}')
    try:
        inspect.signature(step).bind(*range(7))
    except TypeError as error:
        raise UsageError(
            f'stepper "{stepper.name}": its step is called as step(run, t, h, y, slope, new, error): {error}'
        ) from None
    if stepper.lanes or stepper.series:
        raise UsageError(
            f'stepper "{stepper.name}": steppers from outside the package integrate one run at a time; omit lanes'
        )
    if stepper.name in STEPPERS and STEPPERS[stepper.name].step is None:
        raise UsageError(f'stepper "{stepper.name}" is part of the package; choose another name')
    STEPPERS.register(stepper.name, stepper, summary=stepper.summary)
    return stepper


def _built_in(*steppers: Stepper) -> None:
    for one in steppers:
        STEPPERS.register(one.name, one, summary=one.summary)


_ROOM = "pendula.numerics.steppers"
_EXPLICIT = {"attempt": f"{_ROOM}.runge_kutta:attempt_explicit", "prepare": f"{_ROOM}.runge_kutta:prepare_explicit"}
_built_in(
    Stepper(
        "dop853", 8, 7, 7, lanes=True, code=_EXPLICIT, tableau=f"{_ROOM}.tableaus:DOP853",
        summary="order 8, for most mechanisms",
    ),
    Stepper(
        "rk45", 5, 4, 4, lanes=True, code=_EXPLICIT, tableau=f"{_ROOM}.tableaus:RK45",
        summary="order 5, for loose tolerances",
    ),
    Stepper(
        "taylor", 0, 1, 6, events=False, constraints=False, lanes=True, series=True,
        summary="Taylor series, for high accuracy with few speeds",
    ),
    Stepper(
        "radau", 5, 3, 3, stiff=True, tableau=f"{_ROOM}.tableaus:RADAU", setup=f"{_ROOM}.radau:collocation",
        code={"attempt": f"{_ROOM}.radau:attempt_radau", "settle": f"{_ROOM}.radau:settle_radau"},
        summary="implicit, order 5, for stiff mechanisms",
    ),
    Stepper(
        "rk4", 4, code={"attempt": _EXPLICIT["attempt"]}, tableau=f"{_ROOM}.tableaus:RK4",
        summary="order 4, steps of a fixed size",
    ),
)  # fmt: skip


def stepper_help(*, ability: str = "") -> str:
    """One line for help texts: names with summaries of all steppers, or of those with an ``ability``.

    Example:
        >>> "radau (implicit, order 5, for stiff mechanisms)" in stepper_help(ability="stiff")
        True
    """
    names = [name for name in STEPPERS if not ability or getattr(STEPPERS[name], ability)]
    return ", ".join(f"{name} ({STEPPERS.summary(name)})" for name in names)
