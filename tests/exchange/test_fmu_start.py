"""Start values that tools set in FMUs of closed loops: kept where the loops allow it; the others by closed forms."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula.exchange.exporting import export
from pendula.exchange.fmu.compiler import find_compiler
from tests.exchange.test_fmu import instance
from tests.system.test_redundancy import parallelogram

EXACT = 1e-9
pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine"),
]


def slider_crank(crank: float, l: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Crank, rod and slider for r = 1, e = 0, and their rates for crank_dot = 1, from the triangle of the mechanism."""
    reach = math.sqrt(l**2 - math.cos(crank) ** 2)
    rod = math.atan2(reach, -math.cos(crank))
    rate = -math.sin(crank) / reach
    return np.array([crank, rod, math.sin(crank) + reach]), np.array([1.0, rate, math.cos(crank) * (1 - rate)])


def started(path: str, given: dict[str, float], names: list[str], fmi: int = 2, kind: str = "CoSimulation"):
    fmpy = pytest.importorskip("fmpy")
    settings = {"start_values": given, "output": names, "fmi_type": kind, "logger": None}
    found = fmpy.simulate_fmu(path, stop_time=1e-3, output_interval=1e-3, **settings)
    return np.array([found[name][0] for name in names])


@pytest.fixture(scope="module", params=[2, 3])
def path(request, tmp_path_factory) -> tuple[str, int]:
    folder = tmp_path_factory.mktemp("slider")
    return str(export("slider-crank", folder / "toy.fmu", fmi=request.param).path), request.param


NAMES = ["crank", "rod", "x"]
RATES = ["crank_dot", "rod_dot", "x_dot"]


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
@pytest.mark.parametrize("more", [{}, {"l": 2.4}])
@pytest.mark.parametrize("crank", [-0.7, 0.4, 2.5])
def test_an_angle_that_a_tool_sets_stays_and_the_others_follow(crank: float, more, kind: str, path) -> None:
    """Speeds that are not set change least: they are projected onto the one direction in which the loop moves."""
    found = started(path[0], {"crank": crank, **more}, NAMES + RATES, path[1], kind)
    pose, way = slider_crank(crank, **more)
    before = 4.0 * slider_crank(math.radians(120), **more)[1]
    speeds = way * (way @ before) / (way @ way)
    assert np.abs(found - np.concatenate([pose, speeds])).max() < EXACT


def test_speeds_that_a_tool_sets_stay(path) -> None:
    found = started(path[0], {"rod_dot": 0.3, "x": 3.1}, NAMES + RATES, path[1])
    pose, way = slider_crank(found[0])
    assert abs(found[2] - 3.1) < EXACT
    assert np.abs(found - np.concatenate([pose, 0.3 * way / way[1]])).max() < EXACT


def test_a_tool_may_set_all_start_values_and_change_one(path) -> None:
    """Many tools set what the description says; a value that differs from it is what somebody wants."""
    import fmpy

    told = fmpy.read_model_description(path[0])
    start = {v.name: float(v.start) for v in told.modelVariables if v.name in (*NAMES, *RATES)}
    found = started(path[0], start | {"crank": 0.4, "crank_dot": 2.0}, NAMES + RATES, path[1])
    pose, way = slider_crank(0.4)
    assert np.abs(found - np.concatenate([pose, 2.0 * way])).max() < EXACT


def test_what_the_initialization_shows_is_what_it_ends_with(path) -> None:
    pytest.importorskip("fmpy")
    fmu, names = instance(*path)
    fmu.instantiate()
    set_, get = (fmu.setReal, fmu.getReal) if path[1] == 2 else (fmu.setFloat64, fmu.getFloat64)
    if path[1] == 2:
        fmu.setupExperiment(startTime=0.0)
    set_([names["crank"]], [0.4])
    fmu.enterInitializationMode()
    pose = slider_crank(0.4)[0]
    assert np.abs(np.array(get([names[n] for n in NAMES])) - pose).max() < EXACT
    set_([names["l"]], [2.4])
    pose = slider_crank(0.4, 2.4)[0]
    assert np.abs(np.array(get([names[n] for n in NAMES])) - pose).max() < EXACT
    fmu.exitInitializationMode()
    assert np.abs(np.array(get([names[n] for n in NAMES])) - pose).max() < EXACT
    fmu.freeInstance()


def test_a_value_that_the_loops_do_not_allow_is_a_warning_with_its_name(path, capfd) -> None:
    """The rod of length 3 cannot turn further from upright than its crank of length 1 allows: asin(1/3)."""
    fmpy = pytest.importorskip("fmpy")
    found = fmpy.simulate_fmu(path[0], stop_time=1e-3, start_values={"rod": 2.5}, output=NAMES, debug_logging=True)
    pose, _ = slider_crank(found["crank"][0])
    assert np.abs(np.array([found[n][0] for n in NAMES]) - pose).max() < EXACT
    assert "could not be closed with rod = 2.5" in "".join(capfd.readouterr())


def test_speeds_that_contradict_the_loops_are_refused(path, capfd) -> None:
    fmpy = pytest.importorskip("fmpy")
    with pytest.raises(Exception, match="ExitInitializationMode"):
        fmpy.simulate_fmu(path[0], stop_time=1e-3, start_values={"crank_dot": 1.0, "rod_dot": 1.0}, debug_logging=True)
    assert "no speeds are compatible" in "".join(capfd.readouterr())


def test_redundant_loops_and_dead_points_close(tmp_path: Path) -> None:
    """A coupler on three parallel cranks; and a slider whose crank is asked for where rod and crank are in line."""
    model = parallelogram(3)
    names = ["crank1", "crank2", "crank3", "coupler"]
    found = started(str(export(model, tmp_path / "three.fmu").path), {"crank2": 0.2}, names)
    assert np.abs(found - [0.2, 0.2, 0.2, math.pi / 2]).max() < EXACT
    line = pendula.library.slider_crank().with_changes(initial={"crank": "-90deg", "rod": "90deg", "x": 2})
    toy = str(export(line, tmp_path / "line.fmu").path)
    found = started(toy, {"x": 2.5}, NAMES)
    assert abs(found[2] - 2.5) < EXACT
    assert np.abs(found - slider_crank(found[0])[0]).max() < EXACT


def test_a_driven_loop_closes_at_the_time_at_which_it_starts(tmp_path: Path) -> None:
    """A slider pushed by x = 3 + 0.5 sin t, from t = 1: crank and rod are sides of a triangle."""
    fmpy = pytest.importorskip("fmpy")
    model = pendula.library.slider_crank()
    joints = [j.model_dump(exclude_unset=True) for j in model.joints]
    joints[2]["motion"] = "3 + 0.5*sin(t)"
    driven = model.with_changes(joints=joints, initial={"crank": "20deg", "rod": "110deg"})
    path = str(export(driven, tmp_path / "driven.fmu").path)
    found = fmpy.simulate_fmu(path, start_time=1.0, stop_time=1.001, output=["crank", "rod"])
    crank, rod, x = found["crank"][0], found["rod"][0], 3 + 0.5 * math.sin(1.0)
    assert abs(math.sin(crank) + 3 * math.sin(rod) - x) < EXACT
    assert abs(math.cos(crank) + 3 * math.cos(rod)) < EXACT
