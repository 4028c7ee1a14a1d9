"""Equations written by others as a system: what ``check_against`` reads can be run, linearized and compared.

The rows of a file become M a = f in symbols; energies, poses and the power of loads stay those of the model, so that
the energy account of a run shows what the given equations lose or gain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pendula.analysis import refusals
from pendula.analysis.court.against import check_determined, random_points
from pendula.analysis.court.given import Numbers, evaluate, read_given
from pendula.equations.derive import DEFAULT, derive
from pendula.equations.equations import Equations
from pendula.equations.variants.written import Given, written_equations
from pendula.errors import NotSupported, PendulaError
from pendula.library.lookup import model_of
from pendula.model.model import Model
from pendula.system.build import compile_system
from pendula.system.layout import Array
from pendula.system.symbolic import SymbolicSystem
from pendula.system.system import System

STATES = 24
"""number of random states at which the equations are tried before they are compiled"""
VARIED = 0.3
"""parameters are varied by up to this fraction, so that equal values do not make M symmetric by chance"""


def compile_equations(
    model: Model | str, given: str | Path | Mapping[str, Any], *, formulation: str = DEFAULT
) -> System:
    """A system that moves by equations from a paper, a script or a notebook instead of those derived from the model.

    It can be simulated, linearized at a state you name, and compared with the system of the model. Energies, poses and
    the power of loads are the model's: if the given equations are wrong, the energy drift of a run shows it. The
    equations must be linear in the accelerations, and what multiplies these must not depend on speeds. If the matrix of
    these factors is not symmetric and positive definite, all equations are multiplied by its transpose, which leaves
    the accelerations as they are.

    Args:
        model: a model, the name of a library mechanism, or a system: names, parameters, initial state, energies.
        given: a TOML file, or its content as a mapping; see the page "Checking your own equations".
        formulation: the formulation that derives energies and poses.

    Raises:
        UsageError: the equations cannot be used; the message names file and entry.
        NotSupported: the model has closed loops, or the factors of the accelerations depend on speeds.

    Example:
        >>> import pendula
        >>> wrong = {"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta)*(1 + theta_dot/100)"]}
        >>> system = pendula.derivation.compile_equations("pendulum", wrong)
        >>> system.formulation, pendula.simulate(system, 5.0).energy_drift > 0.01
        ('given equations', True)
    """
    model = model_of(model, "compile_equations")
    if model.closures:
        raise NotSupported(refusals.GIVEN_LOOPS, model=model.name)
    return compile_system(_written(model, given, formulation))


def _written(model: Model, source: str | Path | Mapping[str, Any], formulation: str) -> Equations:
    """The equations of a model with M and f replaced by those given."""
    base = derive(model, formulation)
    system = SymbolicSystem(base)
    given = read_given(system, source)
    points = random_points(system, STATES, 0)
    numbers = evaluate(given, system, points)
    check_determined(given, system, numbers, points)
    samples = [_factors(numbers), *_with_other_parameters(given, system)]
    return written_equations(
        given, base, system.layout.speed_of, samples, lambda other: _written(other, source, formulation)
    )


def _factors(numbers: Numbers) -> Array:
    """The factors of the unknowns at every state; for M a = f, multiplied as in ``_mass_form``."""
    return numbers.A if numbers.M is None or numbers.basis is None else np.asarray(numbers.basis.T @ numbers.A)


def _with_other_parameters(given: Given, system: System) -> list[Array]:
    """Factors of the accelerations with other values of the parameters; empty if these have no meaning."""
    rng = np.random.default_rng(1)
    points = random_points(system, STATES, 1)
    other = system.parameters * (1 + VARIED * rng.uniform(-1, 1, size=len(system.parameters)))
    try:
        return [_factors(evaluate(given, system, replace(points, p=other)))]
    except PendulaError:
        return []
