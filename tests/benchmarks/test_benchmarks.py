"""The benchmarks measure what they say: arithmetic of timings, and peers that compute the same thing. No timings."""

import json
import os

import numpy as np
import pytest

import pendula
from benchmarks import __main__ as command
from benchmarks import compile_backend, derivation, maximal, simulation, taylor
from benchmarks.ball_joints import random_state, rods_on_balls
from benchmarks.measure import Goal, Side, Timing, difference, duration, interleave, number, one_core, ratio
from benchmarks.report import WIDTH, Report, Table
from pendula.system.symbolic import SymbolicSystem

SAME = 1e-10  # relative: two derivations of the same accelerations, rounding only


def test_best_is_the_least_and_noise_the_median_above_it() -> None:
    timing = Timing((3.0, 2.0, 5.0), (4.0, 6.0, 7.0))
    assert timing.best == 2.0
    assert timing.best_wall == 4.0
    assert timing.noise == pytest.approx(0.5)
    assert timing.per(2).cpu == (1.5, 1.0, 2.5)
    assert timing.figures() == {"cpu_s": 2.0, "wall_s": 4.0, "noise": pytest.approx(0.5), "samples": 3}


def test_a_timing_without_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="samples"):
        Timing((), ())


def test_interleaving_runs_sides_in_turn_and_prepares_every_sample(monkeypatch) -> None:
    monkeypatch.setattr("gc.collect", lambda: 0)  # slow where many tests ran before, and nothing is timed here
    seen: list[str] = []
    sides = {
        "a": Side(lambda given: seen.append(f"a{given}"), lambda: seen.append("prepare") or 1),
        "b": Side(lambda given: seen.append(f"b{given}")),
    }
    times = interleave(sides, rounds=2, share=0.0)
    assert seen == ["prepare", "a1", "bNone"] * 2
    assert {name: len(timing.cpu) for name, timing in times.items()} == {"a": 2, "b": 2}
    with pytest.raises(ValueError, match="round"):
        interleave(sides, rounds=0)


def test_ratio_says_how_many_times_faster() -> None:
    assert ratio(6.0, 2.0) == 3.0
    assert ratio(1.0, 0.0) == float("inf")


def test_difference_is_relative_and_never_hides_a_nan() -> None:
    assert difference([1.0, 4.0], [1.0, 5.0]) == pytest.approx(0.2)
    assert difference([0.0], [0.0]) == 0.0
    assert difference([np.nan], [1.0]) == float("inf")
    with pytest.raises(ValueError, match="shapes"):
        difference([1.0], [1.0, 2.0])


def test_goals_look_at_the_right_side() -> None:
    assert Goal("gain", 50.0, "at least", 50.0).met
    assert not Goal("gain", 49.0, "at least", 50.0).met
    assert Goal("time", 3.0, "at most", 3.0).met
    assert not Goal("time", float("nan"), "at most", 3.0).met
    assert Goal("time", 4.0, "at most", 3.0, " s").sentence() == "MISSED time: 4.00 s, goal at most 3 s"


def test_numbers_and_durations_read_well() -> None:
    assert [number(x) for x in (0.0, 1234.5, 12.34, 0.5, 1e-9)] == ["0", "1234", "12.3", "0.500", "1.0e-09"]
    assert [duration(x) for x in (2.0, 0.0123, 4.5e-6, 2e-8)] == ["2.00 s", "12.3 ms", "4.50 us", "20.0 ns"]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not pin processes")
def test_pinning_is_undone() -> None:
    before = os.sched_getaffinity(0)
    with one_core() as core:
        assert os.sched_getaffinity(0) == {core}
    assert os.sched_getaffinity(0) == before


def test_tables_fit_and_refuse_ragged_rows() -> None:
    table = Table(["what", "value"], [["a", "1"], ["longer", "22"]])
    assert table.text().splitlines()[0] == "  what    value"
    assert max(map(len, Report("name", "question?", [table], notes=["long " * 50]).text().splitlines())) <= WIDTH
    with pytest.raises(ValueError, match="cells"):
        Table(["a", "b"], [["1"]]).text()


def test_sympy_chain_has_our_accelerations() -> None:
    apart = derivation.compare_chain(2)
    assert set(apart) == set(derivation.FORMULATIONS)
    assert max(apart.values()) < SAME


@pytest.mark.parametrize("chart", ["euler", "quaternion"])
def test_rods_on_balls_have_the_same_accelerations_by_all_formulations(chart: str) -> None:
    model = rods_on_balls(2, chart)
    q, v = random_state(model)
    found = [SymbolicSystem(pendula.derive(model, f)).accelerations(q, v) for f in derivation.FORMULATIONS]
    assert difference(*found) < SAME


def test_wrappers_for_scipy_give_our_rates() -> None:
    system = pendula.compile_system(pendula.library.chain(links=2))
    dynamics = system.dynamics()
    q, v = np.array([0.3, -0.5]), np.array([1.0, 2.0])
    y = np.concatenate([q, v])
    expected = np.concatenate([v, system.accelerations(q, v)])
    for wrap in (simulation.lean_rhs, simulation.ctypes_rhs):
        assert difference(wrap(dynamics.rhs, 4)(0.0, y), expected) < SAME


@pytest.mark.slow
def test_sparse_and_dense_solvers_find_our_accelerations() -> None:
    case = maximal.Accelerations.of(SymbolicSystem(pendula.derive(pendula.library.chain(links=5), "maximal")))
    np.testing.assert_array_equal(case.ours, case.system.accelerations(case.q, case.v))
    apart = maximal.others_differ(case)
    assert set(apart) == {*maximal.ORDERS, "dense"}
    assert max(apart.values()) < SAME
    case.solve(3)
    case.program(3)
    np.testing.assert_array_equal(case.ours, case.system.accelerations(case.q, case.v))


def test_both_backends_compute_the_same_outputs() -> None:
    model = pendula.library.chain(links=2)
    equations = pendula.derive(model)
    q, v = random_state(model)
    values = [model.parameter_values[str(s)] for s in equations.p]
    inlined = [equations.inline(e) for e in compile_backend.outputs(equations)]
    theirs = compile_backend.compile_symengine(equations, inlined)(np.concatenate([[0.0], q, v, values]))
    system = SymbolicSystem(equations)
    ours = np.concatenate([system.mass_matrix(q)[np.triu_indices(2)], system.forces(q, v)])
    assert difference(ours, np.ravel(theirs)) < SAME
    native = compile_backend.compile_ours(equations)
    assert (native.outputs, native.parameters) == (5, 3)


def test_command_writes_figures_and_does_not_fail_on_missed_goals(tmp_path, monkeypatch, capsys) -> None:
    report = Report("derivation", "How fast?", goals=[Goal("speed", 1.0, "at least", 50.0)], figures={"x": 1})
    monkeypatch.setattr(derivation, "run", lambda quick: report)
    where = tmp_path / "deep"
    assert command.main(["derivation", "--quick", "--results", str(where)]) == 0
    assert "MISSED speed" in capsys.readouterr().out
    written = json.loads((where / "derivation.json").read_text())
    assert written["figures"]["x"] == 1
    assert not written["figures"]["goals"][0]["met"]
    assert {"date", "cpu", "versions"} <= set(written["environment"])


def test_command_says_when_a_benchmark_crashed(tmp_path, monkeypatch) -> None:
    def crash(quick: bool) -> Report:
        raise RuntimeError("no")

    monkeypatch.setattr(derivation, "run", crash)
    assert command.main(["derivation", "--results", str(tmp_path)]) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_lanes_and_their_peer_solve_the_same_pendulums() -> None:
    """For the first starts, whose motion is not chaotic; heyoka where it is installed, else our other stepper."""
    system = pendula.compile_system(pendula.library.chain(links=2))
    y0 = 0.2 * taylor.starts(8)
    found = taylor.ours(system)(y0)
    peer = taylor.heyoka_batch(system)
    if peer is not None:
        expected = peer(y0)
    else:
        states = [pendula.State(0.0, y[:2], y[2:], system.layout) for y in y0]
        runs = [pendula.simulate(system, taylor.SPAN, initial_state=s, tol=1e-11) for s in states]
        expected = np.array([np.concatenate([run.q[-1], run.v[-1]]) for run in runs])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert taylor.energy_error(system, y0, found)[1] < 1e-8
