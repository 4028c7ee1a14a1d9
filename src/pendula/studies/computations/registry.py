"""Registry of what studies compute: runs, analyses, and functions of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pendula.errors import UsageError
from pendula.registry import Registry
from pendula.studies.batch import Batch, Computed, Tell

Compute = Callable[[Batch, Tell], Computed]


@dataclass(frozen=True)
class Computation:
    """One thing that studies compute.

    Attributes:
        compute: called with a batch of cases and a function for progress; returns arrays over ``case``.
        options: its settings with their defaults; ``...`` marks those that must be given.

    Example:
        >>> Computation(lambda batch, tell: Computed((), {}), {"duration": 10.0}).options["duration"]
        10.0
    """

    compute: Compute
    options: Mapping[str, Any] = field(default_factory=dict)


COMPUTATIONS: Registry[Computation] = Registry("computation", returns=("Computed",))
"""What ``sweep(..., compute=)`` accepts by name."""


def register_computation(name: str, computation: Computation | str, *, summary: str = "") -> None:
    """Adds a computation, so that studies can ask for it by name, also from files.

    Args:
        name: what studies call it.
        computation: the function and its settings.
        summary: one line for lists and help.

    Raises:
        UsageError: another module has registered this name.

    Example:
        >>> from pendula.extend import Block
        >>> def squares(batch, tell):
        ...     return Computed((Block("square", ("case",), batch.initial["theta"] ** 2),), {})
        >>> register_computation("squares", Computation(squares), summary="the squares of the angles")
        >>> import pendula
        >>> pendula.sweep("pendulum", {"theta": [1.0, 2.0]}, "squares", on="here")["square"].tolist()
        [1.0, 4.0]
        >>> _ = COMPUTATIONS.remove("squares")
    """
    if not isinstance(computation, (Computation, str)):
        raise UsageError(f'computation "{name}": give a Computation(function, options), found {computation!r}')
    if not name.isidentifier():
        raise UsageError(f'the name of a computation is a word of letters, digits and _, found "{name}"')
    COMPUTATIONS.register(name, computation, summary=summary)


for _name, _where, _summary in (
    ("end", "runs:END", "the state at the end of a run, its outcome and its energy drift"),
    ("states", "runs:STATES", "states at times along a run"),
    ("energies", "runs:ENERGIES", "kinetic and potential energy at times along a run"),
    ("extremes", "extremes:EXTREMES", "smallest and largest values of coordinates and speeds along a run"),
    ("first", "crossings:FIRST", "when events occur for the first time, and which comes first"),
    ("equilibria", "at_rest:EQUILIBRIA", "how many equilibria there are, how many are stable, the lowest one"),
    ("spectrum", "at_rest:SPECTRUM", "eigenvalues about an equilibrium"),
    ("verdict", "at_rest:VERDICT", "whether an equilibrium is stable, and by which argument"),
    (
        "frequencies",
        "at_rest:FREQUENCIES",
        "frequencies |s| and damping ratios of the modes that oscillate about an equilibrium",
    ),
    ("floquet", "over_time:FLOQUET", "Floquet multipliers of a periodically driven mechanism"),
    ("lyapunov", "over_time:LYAPUNOV", "the largest Lyapunov exponent"),
):
    register_computation(_name, f"pendula.studies.computations.{_where}", summary=_summary)
