"""Output of linear models: text, LaTeX, python-control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pendula.errors import UsageError
from pendula.system.layout import Array

if TYPE_CHECKING:
    from pendula.analysis.linear.model import LinearModel


def control_package(who: str) -> Any:
    """The package python-control.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import control  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise UsageError(
            f"{who} needs the package control, which is not installed.\n"
            "  Try: pip install control (or `pip install pendula[control]`)."
        ) from None
    return control


def as_control(model: LinearModel) -> Any:
    """A ``control.StateSpace`` with the names of states, inputs and outputs."""
    control = control_package("to_control()")
    n, m = len(model.M), model.F.shape[1]
    B = model.B if m else np.zeros((2 * n, 1))  # python-control requires at least one input
    return control.ss(
        model.A,
        B,
        np.hstack([np.eye(n), np.zeros((n, n))]),
        np.zeros((n, B.shape[1])),
        states=[*model.coordinates, *model.speeds],
        inputs=list(model.inputs) or ["none"],
        outputs=list(model.coordinates),
        name="linear model",
    )


def as_latex(model: LinearModel, digits: int) -> str:
    """The matrices and the vectors they act on, in one display."""
    terms = [(model.M, r"\ddot "), (model.C, r"\dot "), (model.K, "")]
    left = " + ".join(rf"{_matrix(X, digits)} {_vector(model.coordinates, dots)}" for X, dots in terms)
    right = rf"{_matrix(model.F, digits)} {_vector(model.inputs, '')}" if model.inputs else "0"
    return f"{left} = {right}"


def _matrix(X: Array, digits: int) -> str:
    rows = [" & ".join(_number(x, digits) for x in row) for row in X]
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def _number(x: float, digits: int) -> str:
    text = f"{x + 0.0:.{digits}g}"  # no -0
    if "e" in text:
        number, power = text.split("e")
        return rf"{number} \cdot 10^{{{int(power)}}}"
    return text


def _vector(names: tuple[str, ...], dots: str) -> str:
    entries = [rf"\Delta {dots}{{\mathrm{{{name.replace('_', chr(92) + '_')}}}}}" for name in names]
    return r"\begin{Bmatrix} " + r" \\ ".join(entries) + r" \end{Bmatrix}"


def as_text(model: LinearModel) -> str:
    """The equilibrium, the matrices by name, the method, and the chart if it is not the system's own."""
    named = zip(model.at.layout.coordinates, model.at.q, strict=True)
    where = ", ".join(f"{name} = {x:.6g}" for name, x in list(named)[:6])
    lines = [f"M e'' + C e' + K e = F u about {where}; e = changes of {', '.join(model.coordinates[:8])}"]
    if len(model.M) <= 8:
        for name, X in (("M", model.M), ("C", model.C), ("K", model.K), ("F", model.F)):
            if X.size:
                lines += [f"{name} =", *("  " + " ".join(f"{x:12.6g}" for x in row) for row in X)]
    if model.inputs:
        lines.append(f"u = changes of {', '.join(model.inputs)}")
    how = "exact derivatives" if model.method == "exact" else f"central differences, off by {model.error:.1e}"
    lines.append(f"by {how}; {model.residual:.1e} of a typical force remains unbalanced")
    lines += [text for text in (model.chart, model.basis.remark) if text]
    if not model.chart and (near := model.nearest_singularity) is not None:
        lines.append(str(near))
    return "\n".join(lines)
