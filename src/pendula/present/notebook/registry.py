"""Registry of displays by type of result: those of the package, and those of user code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pendula.registry import Registry

Show = Callable[[Any], "str | Mapping[str, Any]"]

DISPLAYS: Registry[Show] = Registry("display")
"""By the name of a result's class: functions that show it in a notebook."""


def register_display(kind: type | str, show: Show | str, *, summary: str = "") -> None:
    """Adds a display: notebooks then show results of this type with it.

    Args:
        kind: the type of the result, or its name.
        show: called as ``show(result)``; returns HTML, or a dictionary of contents by MIME type (``text/html``,
            ``text/latex``). HTML must not load anything, and text in it must be escaped.
        summary: what is shown, in one line.

    Raises:
        UsageError: another module has registered a display of this type.

    Example:
        >>> from pendula.present.notebook.show import bundle
        >>> class Orbit:
        ...     pass
        >>> register_display(Orbit, lambda orbit: "<b>round</b>", summary="the orbit")
        >>> bundle(Orbit())["text/html"]
        '<b>round</b>'
        >>> _ = DISPLAYS.remove("Orbit")
    """
    DISPLAYS.register(kind if isinstance(kind, str) else kind.__name__, show, summary=summary)


for _kind, _where, _summary in (
    ("Model", "mechanisms:show_model", "a drawing, bodies, joints, parameters"),
    ("System", "mechanisms:show_system", "a drawing, formulation, coordinates"),
    ("Equations", "mechanisms:show_equations", "the equations of motion as formulas"),
    ("SymbolicModel", "mechanisms:show_symbolic", "the linear equations as formulas"),
    ("Trajectory", "runs:show_run", "the motion in the player"),
    ("Ensemble", "runs:show_ensemble", "outcomes and the spread of the coordinates"),
    ("Sweep", "runs:show_sweep", "all results in short, and a map of one"),
    ("Reactions", "runs:show_reactions", "largest forces and torques, and their course"),
    ("Equilibria", "at_rest:show_equilibria", "all equilibria, and the potential"),
    ("LinearModel", "at_rest:show_linear", "matrices and eigenvalues"),
    ("Spectrum", "at_rest:show_spectrum", "eigenvalues"),
    ("Stability", "at_rest:show_stability", "the verdict, its reason, eigenvalues"),
    ("Modes", "at_rest:show_modes", "frequencies and shapes"),
    ("Certificate", "at_rest:show_certificate", "all pairs of formulations"),
    ("Floquet", "at_rest:show_floquet", "the verdict, multipliers"),
    ("State", "mechanisms:show_state", "coordinates and speeds"),
    ("Explanation", "mechanisms:show_explanation", "the derivation as a page"),
):
    register_display(_kind, f"pendula.present.notebook.{_where}", summary=_summary)
