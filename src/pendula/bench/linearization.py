"""The IFToMM benchmark "3D pendulum": how exact and how fast is linearization, in several coordinates of one pendulum.

Its matrices are multiples of the identity in good coordinates, which every method gets right; a companion (two unequal
spherical pendulums in a row, damped, with all eigenvalues distinct) distinguishes methods.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pendula.analysis.equilibria.equilibrium import Equilibrium, equilibrium_at
from pendula.analysis.linear.linearize import linearize
from pendula.analysis.linear.linearize_many import linearize_many
from pendula.analysis.linear.spectrum import Eigenvalue, Spectrum, spectrum
from pendula.arguments import available
from pendula.bench import models
from pendula.errors import UsageError
from pendula.model.model import Model
from pendula.system.build import compile_system
from pendula.system.layout import Array
from pendula.system.system import System

EXECUTIONS = 10_000
LONGEST = 30.0
"""seconds of processor time after which a case is not executed any further, however busy the machine is"""
FREQUENCY = 3.132091952673165
"""sqrt(g/l) for 9.81 m/s^2 and 1 m [rad/s]"""
COMPANION = (
    -0.06349752943271088741 + 2.966119838315450589j,
    -0.33476474628634021168 + 2.965888513081912465j,
    -0.54023525371365978832 + 6.137052315803916681j,
    -0.14483580390062244593 + 6.196308400687660103j,
)
"""eigenvalues of the companion above the real axis [1/s], from matrices derived by hand with 50 digits"""
ONE_EXECUTION = (
    "One execution is spectrum(linearize(system, equilibrium)): terms of the linear model from the compiled equations "
    "with exact derivatives, the check that forces balance, all eigenvalues, and the label of each."
)


@dataclass(frozen=True)
class Case:
    """One system of coordinates.

    Attributes:
        name: short; used in files.
        coordinates: in words.
        problem: ``IFToMM`` or ``companion``.
        make: gives the model.
        at: the equilibrium by name; what is not named is zero.
        exact: the eigenvalues it should have [1/s], those above the real axis, each as often as it occurs.
        batch: whether ``linearize_many`` can take it: not where coordinates are singular.
    """

    name: str
    coordinates: str
    problem: str
    make: Callable[[], Model]
    at: Mapping[str, float]
    exact: tuple[complex, ...]
    batch: bool = True


_TWICE = (1j * FREQUENCY,) * 2
CASES = (
    Case("angles", "theta, phi (singular at the bottom)", "IFToMM", models.in_angles, {}, _TWICE, batch=False),
    Case("xy", "x, y", "IFToMM", models.in_xy, {}, _TWICE),
    Case("xyz", "x, y, z with constraints", "IFToMM", models.in_xyz, {"x": 0.0, "y": 0.0}, _TWICE),
    Case("ball", "rigid rod on a ball joint, quaternion", "IFToMM", models.on_ball_joint, {}, _TWICE),
    Case("companion-xy", "x, y of two bobs", "companion", models.companion_in_xy, {}, COMPANION),
    Case(
        "companion-xyz",
        "x, y, z of two bobs with constraints",
        "companion",
        models.companion_in_xyz,
        {"x1": 0.0, "y1": 0.0, "x2": 0.0, "y2": 0.0},
        COMPANION,
    ),
)


@dataclass(frozen=True)
class Measured:
    """What one case gave.

    Attributes:
        case: which.
        spectrum: the last result, with its labels.
        true: eigenvalues of the mechanism, each as often as it occurs [1/s].
        spurious: zeros of a free coordinate, infinite, undetermined roots and artefacts, each with its label.
        error: 2-norm of exact minus true eigenvalues [1/s], the accuracy; infinite if their numbers differ.
        executions: how often it was executed as single calls.
        seconds, cpu_seconds: time of all those single calls together, wall and CPU.
        batch_executions: number of executions in one call of ``linearize_many``.
        batch_seconds: CPU time of that call with its eigenvalues; None where it cannot be made.
    """

    case: Case
    spectrum: Spectrum
    true: Array
    spurious: tuple[Eigenvalue, ...]
    error: float
    executions: int
    seconds: float
    cpu_seconds: float
    batch_executions: int
    batch_seconds: float | None

    @property
    def per_execution(self) -> float:
        """CPU time of one single call [s]."""
        return self.cpu_seconds / self.executions


def benchmark_linearization(
    executions: int = EXECUTIONS,
    *,
    longest: float = LONGEST,
    cases: tuple[str, ...] = (),
    progress: Callable[[str], None] | None = None,
) -> tuple[Measured, ...]:
    """Accuracy and time of linearization as the benchmark defines them, case by case.

    One execution is the public call ``spectrum(linearize(system, equilibrium))`` with ``values``, ``labels`` and
    ``others`` read. Compiling and finding the equilibrium come before the clock starts.

    Args:
        executions: how often each case is executed.
        longest: seconds of processor time after which a case is not executed any further; ``executions`` of the
            result says how often.
        cases: names of cases; all if none are given.
        progress: called with the name of every case before it runs.

    Example:
        >>> found = benchmark_linearization(10, cases=("xy",))[0]
        >>> found.error < 1e-14, found.executions, sorted(set(found.spectrum.labels))
        (True, 10, ['physical'])
    """
    if executions < 1:
        raise UsageError(f"executions: at least 1, found {executions}")
    if not longest > 0:
        raise UsageError(f"longest: a time above 0 s, found {longest:g}")
    known = {case.name: case for case in CASES}
    for name in cases:
        if name not in known:
            raise UsageError(f'there is no case "{name}"; {available(known)}')
    found = []
    for name in cases or tuple(known):
        if progress is not None:
            progress(name)
        found.append(measure(known[name], executions, longest))
    return tuple(found)


def measure(case: Case, executions: int, longest: float) -> Measured:
    """One case: single calls, then the same number as one batch."""
    system = compile_system(case.make())
    at = equilibrium_at(system, case.at)
    spectrum(linearize(system, at))  # compiles
    done, wall, cpu = 0, time.perf_counter(), time.process_time()
    end = cpu + longest
    while done < executions:
        for _ in range(min(100, executions - done)):
            result = spectrum(linearize(system, at))
            _ = result.values, result.labels, result.others
            done += 1
        if time.process_time() > end:
            break
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    true, spurious = told_apart(result)
    batch = _batch_seconds(system, at, executions) if case.batch else None
    return Measured(case, result, true, spurious, error_norm(case.exact, true), done, wall, cpu, executions, batch)


def _batch_seconds(system: System, at: Equilibrium, executions: int) -> float:
    """CPU time of one batch, each case of which has its own row of parameters."""
    rows = np.repeat(system.parameters[None], executions, axis=0)
    np.asarray(linearize_many(system, at, parameters=rows[:2]).values)  # compiles
    start = time.process_time()
    np.asarray(linearize_many(system, at, parameters=rows).values)
    return time.process_time() - start


def told_apart(found: Spectrum) -> tuple[Array, tuple[Eigenvalue, ...]]:
    """True eigenvalues, each as often as it occurs, and the spurious ones, by their labels."""
    true = np.array([x for x, label in zip(found.values, found.labels, strict=True) if label.startswith("physical")])
    spurious = tuple(root for root in found.eigenvalues if not root.label.startswith("physical"))
    return true.astype(complex), spurious


def error_norm(exact: tuple[complex, ...], true: Array) -> float:
    """2-norm of the difference of exact and true eigenvalues, paired so that they are nearest; infinite if unequal
    in number."""
    wanted = np.array([*exact, *np.conj(exact)])
    if len(wanted) != len(true):
        return float("inf")
    left = list(true)
    gaps = []
    for value in wanted:
        k = int(np.argmin(np.abs(np.array(left) - value)))
        gaps.append(abs(left.pop(k) - value))
    return float(np.linalg.norm(gaps))
