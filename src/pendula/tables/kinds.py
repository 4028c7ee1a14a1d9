"""Which results become tables, and which tables become results again: two registries by type of result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pendula.errors import UsageError
from pendula.registry import Registry

if TYPE_CHECKING:
    from pendula.tables.table import Table  # loads NumPy

Make = Callable[..., "Table"]
Restore = Callable[..., Any]

MAKERS: Registry[Make] = Registry("table", returns=("Table",))
"""By the name of a result's class: functions that turn it into a table."""
RESTORERS: Registry[Restore] = Registry("kind of result")
"""By the kind of a table: functions that turn it into the result again, called as ``restore(table, system)``."""


def register_table(
    kind: type | str, make: Make | str, restore: Restore | str | None = None, *, summary: str = ""
) -> None:
    """Makes results of a type writable in every format of tables, and readable if ``restore`` is given.

    Args:
        kind: the type of the result, or its name.
        make: called as ``make(result, **options)``; returns a :class:`~pendula.tables.table.Table`.
        restore: called as ``restore(table, system)``; returns the result. ``system`` is None unless the caller of
            ``load_run`` gave one.
        summary: what the table holds, in one line.

    Raises:
        UsageError: another module has registered this type.

    Example:
        >>> from pendula.extend import Block, Table
        >>> class Swing:
        ...     heights = [1.0, 0.5]
        >>> register_table(Swing, lambda s: Table("Swing", (Block("t", ("t",), s.heights, "m"),)))
        >>> table_of(Swing()).sizes
        {'t': 2}
        >>> _ = MAKERS.remove("Swing")
    """
    name = kind if isinstance(kind, str) else kind.__name__
    MAKERS.register(name, make, summary=summary)
    if restore is not None:
        RESTORERS.register(name, restore, summary=summary)


def has_table(result: Any) -> bool:
    """Whether a result can become a table."""
    return any(kind.__name__ in MAKERS for kind in type(result).__mro__)


def table_of(result: Any, **options: Any) -> Table:
    """A result as labelled arrays with units and metadata.

    Args:
        result: the result.
        options: of this kind of result, such as ``quantities`` of a run.

    Raises:
        UsageError: there is no table of such a result.

    Example:
        >>> import pendula
        >>> table_of(pendula.simulate("pendulum", 1.0, samples=3))["theta_dot"].unit
        'rad/s'
    """
    for kind in type(result).__mro__:
        if kind.__name__ in MAKERS:
            return MAKERS.checked(kind.__name__, MAKERS[kind.__name__](result, **options))
    known = ", ".join(sorted(MAKERS))
    raise UsageError(f"a {type(result).__name__} has no table; those that have one are {known}")


for _kind, _room, _make, _restore, _summary in (
    ("Trajectory", "simulation.tables", "runs:run_table", "restore:restored_run", "states and energies over time"),
    ("Ensemble", "simulation.tables", "ensembles:ensemble_table", "ensembles:restored_ensemble", "states of all runs"),
    ("Reactions", "analysis.tables", "reactions:reactions_table", "reactions:restored_reactions", "joint forces"),
    ("Equilibria", "analysis.tables", "at_rest:equilibria_table", "", "coordinates and residuals of all equilibria"),
    ("LinearModel", "analysis.tables", "at_rest:linear_table", "", "matrices and eigenvalues"),
    ("Spectrum", "analysis.tables", "at_rest:spectrum_table", "", "eigenvalues with their labels"),
    ("Modes", "analysis.tables", "at_rest:modes_table", "", "frequencies, damping ratios and shapes"),
    ("HarmonicResponse", "analysis.tables", "at_rest:response_table", "", "amplitudes and phases over frequency"),
    ("Sensitivities", "analysis.tables", "at_rest:sensitivities_table", "", "derivatives of the states over time"),
    ("FloquetMap", "analysis.tables", "sweeps:floquet_table", "", "largest multipliers over a parameter"),
    ("StabilityRanges", "analysis.tables", "sweeps:ranges_table", "", "ranges of a parameter with their verdicts"),
    ("StabilityChart", "analysis.tables", "sweeps:chart_table", "", "stability over two parameters"),
    ("LinearModels", "analysis.tables", "sweeps:linear_many_table", "", "matrices and eigenvalues of every case"),
    ("Separated", "analysis.tables", "sweeps:separation_table", "", "distance between two motions over time"),
    ("Lyapunov", "analysis.tables", "sweeps:lyapunov_table", "", "running average of the exponent"),
    ("Sweep", "studies", "result:sweep_table", "result:restored_sweep", "results of all cases of a study"),
):
    _back = f"pendula.{_room}.{_restore}" if _restore else None
    register_table(_kind, f"pendula.{_room}.{_make}", _back, summary=_summary)
