"""All errors that Pendula raises on purpose::

    PendulaError
    |- ModelError          the description of the mechanism is wrong; lists every problem found
    |- NotSupported        this formulation or method cannot do that; names those that can
    |- NoConvergence       an iteration did not converge; carries the last iterate and its residual
    |  '- LoopNotClosed    a closed loop cannot be assembled
    |- SingularPose        the equations lose rank at a pose; names the motion that is undetermined
    |- ComputationError    a computation gave a value that is not finite
    |  '- WorkerDied       worker processes died repeatedly
    '- UsageError          a command or a call got an argument that it cannot use
       '- NotAnEquilibrium a state was passed as an equilibrium, but forces do not balance there

An error states what was requested, what was found (names and numbers) and what to try.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pendula.refusals import Refusal

__all__ = [
    "ComputationError",
    "LoopNotClosed",
    "ModelError",
    "NoConvergence",
    "NotAnEquilibrium",
    "NotSupported",
    "PendulaError",
    "Problem",
    "SingularPose",
    "UsageError",
    "WorkerDied",
]


def __dir__() -> list[str]:
    return __all__


class PendulaError(Exception):
    """Base of all errors raised by Pendula.

    Example:
        >>> import pendula
        >>> pendula.library.chain(links=0)
        Traceback (most recent call last):
        pendula.errors.UsageError: ...
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors arrive unchanged from other processes, whatever arguments their constructors take."""
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(kind: type[PendulaError], arguments: tuple[Any, ...], content: dict[str, Any]) -> PendulaError:
    """An error that was pickled."""
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(content)
    return error


@dataclass(frozen=True)
class Problem:
    """One problem in a model: where it is, what was found, what to try.

    Args:
        element: the part of the model, for example ``joint "theta1"``.
        field: the field inside it, for example ``axis``; empty if it is the element itself.
        cause: what was found and why it is wrong.
        advice: what to try; may be empty.

    Example:
        >>> print(Problem('body "rod"', "mass", "it is negative"))
        body "rod": mass: it is negative
    """

    element: str
    field: str
    cause: str
    advice: str = ""

    def __str__(self) -> str:
        place = f"{self.element}: {self.field}" if self.field else self.element
        text = f"{place}: {self.cause}"
        return f"{text}\n      Try: {self.advice}" if self.advice else text


class ModelError(PendulaError):
    """The description of a mechanism is wrong. ``problems`` lists all problems found, not only the first.

    Example:
        >>> import pendula
        >>> try:
        ...     pendula.Model(name="x", gravity=[0, 0, 0])
        ... except pendula.errors.ModelError as error:
        ...     print(error.problems[0].field)
        bodies
    """

    def __init__(self, problems: Iterable[Problem], *, source: str = "") -> None:
        self.problems = tuple(problems)
        self.source = source
        super().__init__(self._text())

    def _text(self) -> str:
        where = f"{self.source}: " if self.source else ""
        if len(self.problems) == 1:
            return f"{where}{self.problems[0]}"
        listing = "\n".join(f"  {k}. {problem}" for k, problem in enumerate(self.problems, 1))
        return f"{where}{len(self.problems)} problems in the model\n{listing}"

    def in_file(self, source: str) -> ModelError:
        """The same error, with the name of the file in which it was found."""
        return ModelError(self.problems, source=source)


class NotSupported(PendulaError):
    """A request is valid, and a formulation or method does not support it.

    Args:
        refusal: what is refused and why, as stated in the module ``refusals`` of the room that refuses it.
        found: values for the names in braces in its sentence.

    Example:
        >>> import pendula
        >>> pendula.reactions(pendula.simulate("pendulum", 0.1), formulation="kane")
        Traceback (most recent call last):
        pendula.errors.NotSupported: ...newton-euler...
    """

    def __init__(self, refusal: Refusal, /, **found: object) -> None:
        if isinstance(refusal, str):
            raise TypeError(f"NotSupported takes a Refusal (see pendula.refusals), found the text: {refusal}")
        super().__init__(refusal.sentence.format(**found))
        self.refusal = refusal

    def with_advice(self, advice: str) -> NotSupported:
        """The same error, with one more line of advice."""
        error = copy(self)
        error.args = (f"{self}\n  {advice}",)
        return error


class NoConvergence(PendulaError):
    """An iteration did not converge. ``last`` is its last iterate, ``residual`` the residual there.

    Example:
        >>> import pendula
        >>> try:
        ...     pendula.equilibria.trim("cart-pole", {"theta": 0.5}, ["F"])
        ... except pendula.errors.NoConvergence as error:
        ...     print(error.residual > 0)
        True
    """

    def __init__(self, message: str, *, last: Any = None, residual: float = float("nan")) -> None:
        super().__init__(message)
        self.last = last
        self.residual = residual


class LoopNotClosed(NoConvergence):
    """The constraints of a closed loop cannot be satisfied from the given start.

    Example:
        >>> import pendula
        >>> pendula.assemble("four-bar", parameters={"b": 50.0})
        Traceback (most recent call last):
        pendula.errors.LoopNotClosed: ...cannot close...
    """


class SingularPose(PendulaError):
    """The equations lose rank at a pose, so a motion or a force is not determined there.

    Example:
        >>> issubclass(SingularPose, PendulaError)
        True
    """


class ComputationError(PendulaError):
    """A computation gave a value that is not finite.

    Example:
        >>> issubclass(ComputationError, PendulaError)
        True
    """


class WorkerDied(ComputationError):
    """Worker processes died repeatedly, at one task or before they could begin.

    Example:
        >>> issubclass(WorkerDied, ComputationError)
        True
    """


class UsageError(PendulaError):
    """A command or a call got an argument that it cannot use.

    Example:
        >>> import pendula
        >>> pendula.simulate(3, 1.0)
        Traceback (most recent call last):
        pendula.errors.UsageError: simulate takes a model, a system or the name of a library mechanism, found 3
    """


class NotAnEquilibrium(UsageError):
    """A state was passed as an equilibrium, but forces do not balance there. ``residual`` says by how much.

    Example:
        >>> import pendula
        >>> try:
        ...     pendula.linearize("pendulum", {"theta": 0.5})
        ... except pendula.errors.NotAnEquilibrium as error:
        ...     print(error.residual > 0)
        True
    """

    def __init__(self, message: str, *, residual: float) -> None:
        super().__init__(message)
        self.residual = residual
