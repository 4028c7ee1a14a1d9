"""Registry of plots by type of result: those of the package, and those of user code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pendula.errors import UsageError
from pendula.registry import Registry

Draw = Callable[..., Any]

PLOTS: Registry[Draw] = Registry("plot", returns=("Figure",))
"""By the name of a result's class: functions that draw it as a Matplotlib figure."""


def register_plot(kind: type | str, draw: Draw | str, *, summary: str = "") -> None:
    """Adds a plot: ``pendula.plot`` then shows results of this type.

    Args:
        kind: the type of the result, or its name.
        draw: called as ``draw(result, **options)``; returns a Matplotlib figure, which ``plot`` writes if a path was
            given. ``options`` are the keywords that ``plot`` was called with.
        summary: what the picture shows, in one line.

    Raises:
        UsageError: another module has registered a plot of this type.

    Example:
        >>> class Orbit:
        ...     pass
        >>> register_plot(Orbit, lambda orbit: None, summary="the orbit")
        >>> plot_of(Orbit()) is not None
        True
        >>> _ = PLOTS.remove("Orbit")
    """
    PLOTS.register(kind if isinstance(kind, str) else kind.__name__, draw, summary=summary)


def plot_of(result: Any) -> Draw:
    """The function that draws a result: that of :func:`plot_name`."""
    return PLOTS[plot_name(result)]


def plot_name(result: Any) -> str:
    """The class of a result, or the nearest base class with a plot.

    Raises:
        UsageError: results of this type have no plot.
    """
    for kind in type(result).__mro__:
        if kind.__name__ in PLOTS:
            return kind.__name__
    from pendula.library.lookup import shown

    raise UsageError(f"plot expects a model or a result ({', '.join(sorted(PLOTS))}), found {shown(result)}")


for _kind, _where, _summary in (
    ("Trajectory", "results:plot_trajectory", "coordinates, speeds and errors over time"),
    ("Crossings", "maps:plot_crossings", "a coordinate and its speed wherever an event occurred"),
    ("Ensemble", "ensembles:plot_ensemble", "how the coordinates of all runs spread"),
    ("Reactions", "results:plot_reactions", "magnitudes of forces and torques by joint"),
    ("EnsembleRun", "results:plot_one_of_ensemble", "coordinates and speeds over time"),
    ("JointReaction", "results:plot_reaction", "components of force and torque in one joint"),
    ("Divergence", "maps:plot_distance", "distance between two motions over time"),
    ("Horizon", "maps:plot_distance", "distance from a tighter run over time"),
    ("Lyapunov", "maps:plot_exponent", "running average of the largest Lyapunov exponent"),
    ("Sensitivities", "modes:plot_sensitivities", "derivatives of the coordinates over time"),
    ("Model", "mechanisms:plot_mechanism", "the mechanism at its initial state"),
    ("System", "mechanisms:plot_mechanism", "the mechanism at its initial state"),
    ("Equations", "mechanisms:plot_mechanism", "the mechanism at its initial state"),
    ("Assembly", "mechanisms:plot_assembly", "the mechanism with its loops closed"),
    ("Equilibrium", "mechanisms:plot_equilibrium", "the mechanism at this equilibrium"),
    ("Trim", "mechanisms:plot_trim", "the mechanism in the trimmed pose"),
    ("Equilibria", "landscapes:plot_equilibria", "potential with the equilibria, or their poses"),
    ("LinearModel", "planes:plot_linear", "eigenvalues in the complex plane"),
    ("LinearModels", "planes:plot_linear_many", "eigenvalues of all cases in the complex plane"),
    ("Pencil", "planes:plot_linear", "eigenvalues in the complex plane"),
    ("Spectrum", "planes:plot_spectrum", "eigenvalues in the complex plane"),
    ("Stability", "planes:plot_stability", "eigenvalues in the complex plane, with the verdict"),
    ("StabilityRanges", "planes:plot_ranges", "verdicts over a parameter"),
    ("Floquet", "planes:plot_multipliers", "multipliers and the unit circle"),
    ("FloquetMap", "planes:plot_floquet_over", "largest multiplier over a parameter"),
    ("StabilityChart", "charts:plot_chart", "stable and unstable regions over two parameters"),
    ("Sweep", "sweeps:plot_sweep", "one result over everything that varies"),
    ("FloquetBoundary", "planes:plot_boundary", "multipliers at the boundary and the unit circle"),
    ("Modes", "modes:plot_modes", "mode shapes"),
    ("FreeResponse", "modes:plot_free_response", "free response over time"),
    ("ForcedResponse", "modes:plot_forced_response", "motion under a harmonic input over time, with its envelope"),
    ("HarmonicResponse", "modes:plot_response", "amplitudes and phases over frequency"),
    ("LinearRange", "modes:plot_linear_range", "error of the linear model over amplitude"),
    ("Bode", "control:plot_bode", "magnitudes and phases over frequency"),
    ("StepResponse", "control:plot_step", "outputs after a unit step of each input"),
    ("RootLocus", "control:plot_locus", "poles of the closed loop over the gain"),
    ("Margins", "control:plot_margins", "Bode diagram of a loop with its gain and phase margins"),
    ("Gain", "control:plot_gain", "poles without and with feedback"),
    ("Estimator", "control:plot_estimator", "poles of a Kalman filter"),
    ("Fit", "fits:plot_fit", "measured and fitted values, and residuals"),
    ("Reach", "control:plot_reach", "margins of controllability or observability"),
    ("Certificate", "agreement:plot_certificate", "largest difference of each pair of formulations"),
    ("Comparison", "agreement:plot_comparison", "given equations and those of the model at the counterexample"),
):
    register_plot(_kind, f"pendula.present.pictures.{_where}", summary=_summary)
