"""The bench command: fields, accuracy and labels of the IFToMM benchmark and of its companion. Times decide nothing."""

from __future__ import annotations

import itertools
import json
import time
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import sympy as sm

from pendula.bench import linearization
from pendula.bench import models as benchmark_models
from pendula.bench.linearization import CASES, COMPANION, FREQUENCY, benchmark_linearization, error_norm
from pendula.errors import UsageError

WIDTH = 80
PAPER_000 = 1e-14  # 2-norm, a few units in the last place of four eigenvalues of size 3
COMPANION_ERROR = 1e-13  # eight eigenvalues of size 6 through a matrix that is not normal: about 15 digits each
LABELS = {  # of what is spurious: what the label starts with, and how often
    "angles": [("undetermined", 2)],
    "xy": [],
    "xyz": [("infinite", 9)],
    "ball": [("zero: cyclic coordinate ball_rz", 2)],
    "companion-xy": [],
    "companion-xyz": [("infinite", 18)],
}


@pytest.mark.parametrize(("clock", "executed"), [("perf_counter", 250), ("process_time", 100)])
def test_processor_time_limits_executions_and_a_busy_machine_does_not(
    clock: str, executed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of the two clocks goes a hundred seconds ahead whenever it is read."""
    ahead = itertools.count(0.0, 100.0)
    clocks = {"perf_counter": time.perf_counter, "process_time": time.process_time, clock: lambda: next(ahead)}
    monkeypatch.setattr(linearization, "time", SimpleNamespace(**clocks))
    (found,) = benchmark_linearization(250, longest=30.0, cases=("xy",))
    assert found.executions == executed


def companion_with_many_digits() -> list[mpmath.mpc]:
    """Eigenvalues of the companion from Lagrange's equations in SymPy, with 40 digits.

    Positions of both bobs in space, heights to second order; the dampers by their dissipation function. Nothing of it
    goes through a model of ours: only the data are shared.
    """
    data = {name: sm.Rational(str(value)) for name, value in benchmark_models.COMPANION.items()}
    m1, m2, l1, l2, g, c1, c2, cd = (data[name] for name in ("m1", "m2", "l1", "l2", "g", "c1", "c2", "cd"))
    q, v = sm.symbols("X1 Y1 X2 Y2"), sm.symbols("U1 W1 U2 W2")
    lower = [l1 - sm.sqrt(l1**2 - q[0] ** 2 - q[1] ** 2)]
    lower.append(lower[0] + l2 - sm.sqrt(l2**2 - (q[2] - q[0]) ** 2 - (q[3] - q[1]) ** 2))
    potential = g * (m1 * lower[0] + m2 * lower[1])
    along = sm.sqrt(3) / 2 * v[2] + v[3] / 2
    loss = (c1 * (v[0] ** 2 + v[1] ** 2) + c2 * ((v[2] - v[0]) ** 2 + (v[3] - v[1]) ** 2) + cd * along**2) / 2
    stiffness = sm.hessian(potential, q).subs({x: 0 for x in q})
    with mpmath.workdps(40):
        K = mpmath.matrix(stiffness.evalf(40).tolist())
        C = mpmath.matrix(sm.hessian(loss, v).evalf(40).tolist())
        masses = [mpmath.mpf(x.p) / x.q for x in (m1, m1, m2, m2)]
        A = mpmath.zeros(8)
        for i in range(4):
            A[i, 4 + i] = 1
            for j in range(4):
                A[4 + i, j], A[4 + i, 4 + j] = -K[i, j] / masses[i], -C[i, j] / masses[i]
        values = mpmath.eig(A, left=False, right=False)
        return [x for x in values if x.imag > 0]


def test_stated_eigenvalues_of_the_companion_are_right_to_the_last_digit() -> None:
    exact = companion_with_many_digits()
    assert len(exact) == 4
    for stated in COMPANION:
        assert min(abs(complex(x) - stated) for x in exact) < 1e-15
    gaps = [abs(complex(a - b)) for k, a in enumerate(exact) for b in exact[:k]]
    assert min(gaps) > 0.2  # distinct, so that an error cannot hide in a repeated root


def test_stated_frequency_is_that_of_the_pendulum() -> None:
    assert mpmath.mpf(FREQUENCY) == pytest.approx(float(mpmath.sqrt(mpmath.mpf("9.81"))), rel=1e-16)


@pytest.fixture(scope="module")
def measured():
    return {x.case.name: x for x in benchmark_linearization(3)}


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_accuracy_and_labels_of_every_case(measured, name: str) -> None:
    found = measured[name]
    limit = PAPER_000 if found.case.problem == "IFToMM" else COMPANION_ERROR
    assert found.error <= limit
    assert len(found.true) == (4 if found.case.problem == "IFToMM" else 8)
    expected = LABELS[name]
    assert len(found.spurious) == len(expected)
    for root, (start, times) in zip(found.spurious, expected, strict=True):
        assert root.label.startswith(start)
        assert root.multiplicity == times
    assert found.spectrum.backward_errors.max() < 1e-14
    assert (found.executions, found.batch_seconds is None) == (3, name == "angles")


def test_the_error_is_a_norm_and_counts_missing_eigenvalues() -> None:
    exact = (3j, 4j)
    assert error_norm(exact, np.array([3j, -3j, 4j, -4j])) == 0.0
    assert error_norm(exact, np.array([3j + 3e-3, -3j, 4j + 4e-3, -4j])) == pytest.approx(5e-3)
    assert error_norm(exact, np.array([3j, -3j, 4j])) == np.inf
    assert error_norm((3j, 3j), np.array([3j, 3j, -3j, 3j])) == pytest.approx(6.0)  # none is used twice


def test_command_prints_a_table_and_writes_the_solution(pendula, tmp_path) -> None:
    result = pendula("bench", "linearization", "--executions", "20", "-o", "solution.json")
    assert result.code == 0, result.err
    assert max(map(len, result.out.splitlines())) <= WIDTH
    rows = {line.split()[0]: line.split() for line in result.out.splitlines() if line.startswith(("xy ", "xyz "))}
    assert "infinite: due to 3\n" in result.out
    assert "undetermined: 0/0" in result.out
    assert "wrote solution.json" in result.out
    assert set(rows) == {"xy", "xyz"}
    cases = {case["name"]: case for case in json.loads((tmp_path / "solution.json").read_text())["cases"]}
    assert set(cases) == set(LABELS)
    assert {root["label"] for root in cases["xy"]["true"]} == {"physical"}
    assert [root["im"] for root in cases["xy"]["true"]] == pytest.approx([FREQUENCY, -FREQUENCY] * 2, abs=1e-14)
    assert cases["xyz"]["spurious"][0]["re"] is None
    assert cases["xyz"]["spurious"][0]["multiplicity"] == 9
    assert "phi" in cases["angles"]["chart"]


def test_json_has_accuracy_time_and_every_eigenvalue(pendula) -> None:
    result = pendula("bench", "linearization", "--executions", "4", "--case", "xy", "--case", "companion-xy", "--json")
    assert result.err == ""
    one, two = json.loads(result.out)["cases"]
    assert one["accuracy_2norm"] <= PAPER_000
    assert one["executions"] == 4
    assert min(one["seconds"], one["cpu_seconds"], one["batch_cpu_seconds"]) >= 0
    assert (len(one["exact"]), len(two["exact"]), len(two["true"])) == (4, 8, 8)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--executions", "0"], "executions"),
        (["--longest", "0"], "longest"),
        (["--case", "zyx"], 'no case "zyx"'),
        (["-o", "."], "folder"),
    ],
)
def test_bad_options_end_in_one_message(pendula, arguments: list[str], says: str) -> None:
    result = pendula("bench", "linearization", *arguments)
    assert result.code == 2
    assert says in result.err
    assert len(result.err.strip().splitlines()) <= 2


def test_unknown_cases_are_refused_by_the_library() -> None:
    with pytest.raises(UsageError, match="available: angles, xy"):
        benchmark_linearization(1, cases=("nothing",))
