"""Derivations explained from the frames to the equations of motion, in one call."""

from __future__ import annotations

import os

from pendula.analysis.explain.explanation import Explanation, explained
from pendula.arguments import read_path
from pendula.errors import UsageError
from pendula.formats import endings, write
from pendula.library.lookup import model_of
from pendula.model.model import Model


def explain(
    model: Model | str, path: str | os.PathLike[str] | None = None, *, formulation: str = "lagrange"
) -> Explanation:
    """The derivation of a mechanism's equations of motion, explained step by step and checked at every step.

    It shows frames and angles with a drawing, positions, velocities, then energies, partial velocities, free bodies or
    whatever the formulation uses, constraints of closed loops, and the final equations. Its formulas are read from the
    derivation that makes the compiled equations; each is compared with an independent value at random states. Up to
    six bodies are derived in full; for more, the page shows the pattern and folds the rest.

    Args:
        model: a model, the name of a library mechanism, or a system.
        path: file to write, a self-contained page (.html) or a LaTeX document (.tex); default: none.
        formulation: "lagrange", "kane", "newton-euler", "maximal" or "projection".

    Raises:
        UsageError: there is no such formulation, or the file has another ending.
        NotSupported: the derivation by this formulation cannot be explained.

    Example:
        >>> import tempfile, pendula
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     told = explain("pendulum", f"{folder}/pendulum.html", formulation="kane")
        >>> told.passed, told.worst < 1e-12
        (True, True)
    """
    target = None if path is None else read_path(path, "path")
    if target is not None and target.suffix.lower() not in endings("Explanation"):
        known = " or ".join(endings("Explanation"))
        raise UsageError(f'a derivation is written to a file that ends in {known}, found "{target.name}"')
    told = explained(model_of(model, "explain", alone=True), formulation)
    if target is not None:
        write(told, target)
    return told
