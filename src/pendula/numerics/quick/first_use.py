"""Calls of the quick linear models, to compile them ahead of their use."""

from __future__ import annotations

import numpy as np

from pendula.numerics.compiled.ahead import Ahead

ROOTS = Ahead("pendula.numerics.quick.small_quadratic:undamped_roots", f"{__name__}:use_roots")
CHECKED = Ahead("pendula.numerics.quick.small_quadratic:evaluate_checked", f"{__name__}:use_checked")


def use_roots() -> None:
    """Computes the frequency of one oscillator."""
    from pendula.numerics.quick.small_quadratic import output_size, undamped_roots

    terms = np.array([1.0, 0.0, 1.0])
    limits = np.array([1e-13, 1e-13, 1e-10, 1e-8, 1e-8])
    undamped_roots(terms, np.array([1, 1, 2]), limits, np.empty(output_size(1)))


def use_checked() -> None:
    """Asks for terms with a wrong number of inputs, which is refused before any program is called."""
    from pendula.numerics.quick.small_quadratic import evaluate_checked

    none = np.zeros(0)
    evaluate_checked(np.array([0, 0, 0, -1, 0, 0]), none, none, none, none, np.zeros(3), none)
