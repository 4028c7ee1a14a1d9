"""Files, data frames and datasets give back what was written: bits, names, units, and everything that is known."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import extras
from pendula.errors import NotSupported, UsageError
from pendula.extend import Block, Table, TableFormat, register_table_format
from pendula.tables.datasets import from_xarray, to_xarray
from pendula.tables.formats import FORMATS, read_table, write_table
from pendula.tables.frames import from_pandas, to_pandas

ENDINGS = (".csv", ".npz", ".nc", ".parquet", ".json")


def _parallelogram() -> pendula.Model:
    """Closed by a second pin beside the first: how the two share the load is not determined."""
    model = pendula.library.four_bar()
    last = model.closures[0]
    twice = last.model_copy(update={"name": "second"})
    return model.with_changes(joints=(*model.joints, twice))


MAKERS = {
    "plane": lambda: pendula.simulate("double-pendulum", 0.5, samples=12, events=["theta1 = 0", "theta2 = 5"]),
    "space": lambda: pendula.simulate("heavy-top", 0.2),
    "chart": lambda: pendula.simulate("spatial-rod", 1.0, samples=25),
    "loop": lambda: pendula.simulate("four-bar", 0.5, samples=6, parameters={"b": 2.05}),
    "maximal": lambda: pendula.simulate(pendula.compile_system("four-bar", "maximal"), 0.3, samples=5),
    "recursive": lambda: pendula.simulate(
        pendula.compile_system("double-pendulum", engine="recursive"), 0.3, samples=5
    ),
    "driven": lambda: pendula.simulate("hoop-bead", 0.3, samples=5),
    "input": lambda: pendula.simulate("cart-pole", 0.3, samples=5, inputs={"F": "sin(t)"}),
    "stopped": lambda: pendula.simulate("pendulum", 9.0, samples=99, events=["stop: theta <= 1", "theta_dot = 0"]),
    "ensemble": lambda: pendula.simulate_many(
        "double-pendulum", 0.5, {"theta1": [0.1, 0.2, 0.3]}, samples=4, workers=1
    ),
    "swept": lambda: pendula.simulate_many(
        "four-bar", 0.2, [{}, {}], parameters={"b": [2.0, 2.05]}, samples=3, workers=1, bad_starts="mark"
    ),
    "reactions": lambda: pendula.reactions(pendula.simulate("hoop-bead", 0.3, samples=5)),
    "redundant": lambda: pendula.reactions(pendula.simulate(_parallelogram(), 0.2, samples=4)),
}


@cache
def made(name: str) -> Any:
    return MAKERS[name]()


def same(a: Any, b: Any) -> None:
    """Bits of all arrays, names, dimensions, units, and all that is known."""
    assert type(a) is type(b)
    first, second = a.table(), b.table()
    assert [x[:2] for x in first.columns()] == [x[:2] for x in second.columns()]
    assert first.units() == second.units()
    for x, y in zip(first.columns(), second.columns(), strict=True):
        assert x.values.dtype.kind == y.values.dtype.kind
        assert x.values.tobytes() == y.values.tobytes() or np.array_equal(
            x.values, y.values, equal_nan=x.values.dtype.kind == "f"
        ), x.name
    assert dict(first.attributes) == dict(second.attributes)


@pytest.mark.parametrize("name", MAKERS)
def test_files_give_back_every_bit(name: str, tmp_path: Path) -> None:
    result = made(name)
    for ending in ENDINGS:
        path = tmp_path / f"{name}{ending}"
        result.save(path)
        same(result, pendula.load_run(path))


@pytest.mark.parametrize("name", MAKERS)
def test_data_frames_and_datasets_give_back_every_bit(name: str) -> None:
    result = made(name)
    same(result, pendula.load_run(result.to_pandas()))
    same(result, pendula.load_run(result.to_xarray()))


def test_a_run_that_was_read_answers_as_before(tmp_path: Path) -> None:
    run = made("plane")
    run.save(tmp_path / "run.csv")
    again = pendula.load_run(tmp_path / "run.csv")
    assert str(again) == str(run)
    for name in ("theta1", "theta2_ddot", "kinetic", "lower.tip.x"):
        assert np.array_equal(again[name], run[name])
    assert again.predictability.text == run.predictability.text
    assert np.array_equal(pendula.reactions(again).force_world, pendula.reactions(run).force_world)


def test_requested_quantities_are_columns() -> None:
    run = made("loop")
    frame = run.to_pandas(quantities=["crank.tip.x"], accelerations=True, multipliers=True)
    assert np.array_equal(frame["crank.tip.x"], run["crank.tip.x"])
    assert np.array_equal(frame["rocker_ddot"], run["rocker_ddot"])
    assert frame.attrs["units"]["rocker_ddot"] == "rad/s^2"
    rows = run.system.multipliers(run.q, run.v, run.t, parameters=run.parameters)
    assert np.array_equal(frame[["run.multiplier1", "run.multiplier2"]], rows)
    same(run, pendula.load_run(run.to_xarray()))
    with pytest.raises(UsageError, match="crnk"):
        run.to_pandas(quantities=["crnk.tip.x"])


def test_prescribed_motions_and_energies_are_columns() -> None:
    run = made("driven")
    frame = run.to_pandas()
    rate = run.system.layout.parameter_values(run.parameters)["Omega"]
    np.testing.assert_allclose(np.diff(frame["spin"]) / np.diff(frame.index), rate, rtol=1e-12)  # a prescribed rotation
    assert np.array_equal(frame["kinetic"], run["kinetic"])


# --- what other programs see ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plane", "loop", "maximal", "driven", "ensemble", "reactions"])
def test_units_are_read_by_pint(name: str) -> None:
    pint = pytest.importorskip("pint")
    registry = pint.UnitRegistry()
    units = made(name).table().units()
    parsed = {key: registry.parse_units(unit) for key, unit in units.items()}
    assert parsed["t"] == registry.second
    if name == "plane":  # ft-slug-s: pounds are those of force
        assert parsed["kinetic"].dimensionality == registry.joule.dimensionality
        assert parsed["theta1_dot"] == registry.radian / registry.second
    if name == "reactions":
        assert parsed["force_world"] == registry.newton
        assert parsed["torque_world"].dimensionality == (registry.newton * registry.meter).dimensionality


def test_other_readers_find_names_units_and_values(tmp_path: Path) -> None:
    pandas, xarray, parquet = (pytest.importorskip(x) for x in ("pandas", "xarray", "pyarrow.parquet"))
    run = made("plane")
    for ending in ENDINGS:
        run.save(tmp_path / f"run{ending}")
    frame = pandas.read_csv(tmp_path / "run.csv", comment="#")
    assert frame.columns.tolist()[:3] == ["t [s]", "theta1 [rad]", "theta2 [rad]"]
    assert np.array_equal(frame["theta1 [rad]"], run["theta1"])
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as dataset:
        assert dataset.load().identical(run.to_xarray())
        assert dataset["theta1_dot"].attrs["units"] == "rad/s"
        assert dataset.attrs["tolerance"] == run.tolerance
        assert "theta1" in dataset.attrs["model_text"]
    found = parquet.read_table(tmp_path / "run.parquet")
    assert found.schema.field("theta1_dot").metadata == {b"unit": b"rad/s"}
    assert np.array_equal(found["theta1"].to_numpy(), run["theta1"])
    data = json.loads((tmp_path / "run.json").read_text())
    assert data["values"]["t"] == run.t.tolist()
    assert data["parameters"]["k1"] == 1000.0


def test_an_ensemble_is_indexed_by_run_and_time() -> None:
    runs = made("ensemble")
    frame, dataset = runs.to_pandas(), runs.to_xarray()
    assert frame.index.names == ["run", "t"]
    assert np.array_equal(frame.loc[1]["theta2"], runs["theta2"][1])
    assert dataset["theta2"].dims == ("run", "t")
    assert np.array_equal(dataset["theta2"].sel(run=2), runs["theta2"][2])


def test_reactions_are_indexed_by_time_joint_and_axis() -> None:
    found = made("reactions")
    assert np.array_equal(found.to_xarray()["force_world"].sel(joint="slide", axis="y"), found["slide"].force[:, 1])
    assert np.array_equal(found.to_pandas()["force_world.slide.y"], found["slide"].force[:, 1])


def test_results_at_rest_have_tables(tmp_path: Path) -> None:
    linear = pendula.linearize("double-pendulum")
    shapes = pendula.modes(linear)
    frame = shapes.to_pandas()
    assert frame["frequency"].tolist() == shapes.frequencies.tolist()
    K = linear.to_xarray()["K"]
    assert float(K.sel(coordinate="theta1", of="theta2")) == linear.K[0, 1]
    roots = pendula.linear.spectrum(linear).to_pandas()
    assert np.array_equal(roots["eigenvalue.im"], [x.value.imag for x in pendula.linear.spectrum(linear).eigenvalues])
    rest = pendula.find_equilibria("pendulum")
    assert rest.to_pandas()["theta"].tolist() == [one["theta"] for one in rest]
    response = pendula.linear.harmonic_response("cart-pole", "F", [0.5, 1.0], at={"theta": 0.0})
    assert np.array_equal(response.to_pandas()["theta.amplitude"], response.amplitudes[:, 1])
    by = pendula.sensitivities(pendula.simulate("pendulum", 0.5, samples=4), ["l"])
    assert np.array_equal(by.to_pandas()["theta by l"], by["theta", "l"])
    for result in (linear, shapes, rest, response, by):
        for ending in ENDINGS:
            path = tmp_path / f"{type(result).__name__}{ending}"
            result.save(path)
            assert read_table(path).digest() == result.table().digest()
            with pytest.raises(UsageError, match=f"holds {type(result).__name__}; those that can be read back are"):
                pendula.load_run(path)


SWEEPS = {
    "FloquetMap": "multiplier.largest",
    "StabilityRanges": "range.low",
    "StabilityChart": "chart.size",
    "LinearModels": "K.theta.theta",
    "Divergence": "distance",
    "Horizon": "distance",
    "Lyapunov": "exponent",
}


QUICK_SWEEPS = ("FloquetMap", "LinearModels", "Divergence")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK_SWEEPS else pytest.mark.slow) for name in SWEEPS]
)
def test_sweeps_have_tables(name: str, tmp_path: Path) -> None:
    from tests.test_results_show import made as shown

    found = shown(name)
    table = found.table()
    assert np.isfinite(found.to_pandas()[SWEEPS[name]]).all()
    assert {*found.to_xarray().dims} == {*table.sizes}
    for ending in ENDINGS:
        found.save(tmp_path / f"x{ending}")
        assert read_table(tmp_path / f"x{ending}").digest() == table.digest()


def test_a_chart_of_stability_is_labelled_by_its_parameters() -> None:
    from tests.test_results_show import made as shown

    chart = shown("StabilityChart")
    size = chart.to_xarray()["chart.size"]
    assert size.dims == tuple(reversed(chart.parameters))
    x, y = chart.parameters
    assert float(size.sel({x: chart.x[1], y: chart.y[0]})) == chart.size[0, 1]


# --- tables themselves ---------------------------------------------------------------------------------------------


def strange() -> Table:
    """Values that lose something in a careless format."""
    numbers = np.array([0.1, -0.0, 5e-324, 1.7976931348623157e308, math.nan, math.inf, -math.inf, 1 / 3])
    names = np.array(["plain", "with, comma", 'with "quotes"', "# hash", "Straße", "", "two\nlines", "NaN"])
    return Table(
        "Strange",
        (
            Block("t", ("t",), np.arange(8.0)),
            Block("number", ("t",), numbers, "m"),
            Block("whole", ("t",), np.array([0, 1, -1, 2**62, -(2**62), 3, 4, 5])),
            Block("yes", ("t",), numbers > 0),
            Block("name", ("t",), names),
            Block("deep", ("t", "row", "col"), np.arange(48.0).reshape(8, 3, 2)),
            Block("aside", ("other",), numbers),
            Block("empty", ("none",), np.zeros(0)),
            Block("blank", ("none",), np.zeros((0, 2)), "", ("a", "b")),
        ),
        ("t",),
        {"text": "NaN", "number": math.nan, "limit": -math.inf, "nested": {"x": [1, 2.5, None, "y"]}, "flag": True},
    )


def alike(a: Table, b: Table) -> None:
    assert a.digest() == b.digest()
    assert repr(dict(a.attributes)) == repr(dict(b.attributes))  # repr, since NaN differs from itself
    assert np.signbit(b["number"].values[1])


@pytest.mark.parametrize("ending", ENDINGS)
def test_strange_values_survive(ending: str, tmp_path: Path) -> None:
    if ending == ".csv":  # a text with a line break would be no line
        pytest.skip("names with line breaks do not occur in results")
    write_table(strange(), tmp_path / f"x{ending}")
    alike(strange(), read_table(tmp_path / f"x{ending}"))


def test_strange_values_survive_in_memory() -> None:
    alike(strange(), from_pandas(to_pandas(strange())))
    alike(strange(), from_xarray(to_xarray(strange())))


def test_blocks_and_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="2 axes"):
        Block("x", ("t",), np.zeros((2, 2)))
    with pytest.raises(UsageError, match="neither numbers nor words"):
        Block("x", ("t",), np.array([object()]))
    with pytest.raises(UsageError, match="2 entries along t"):
        Table("x", (Block("t", ("t",), np.zeros(3)), Block("x", ("t",), np.zeros(2))))
    with pytest.raises(UsageError, match='two quantities have the name "t"'):
        Table("x", (Block("t", ("t",), np.zeros(3)), Block("q", ("t",), np.zeros((3, 1)), "", ("t",))))


def test_a_format_from_outside_serves_all_results(tmp_path: Path) -> None:
    def write(table: Table, file: Any) -> None:
        file.write(table.kind.encode())

    register_table_format(".kind", TableFormat(".kind", write, lambda file: strange()))
    try:
        made("plane").save(tmp_path / "x.kind")
        pendula.results.write(made("reactions"), tmp_path / "y.kind")
        assert (tmp_path / "x.kind").read_text() == "Trajectory"
        assert (tmp_path / "y.kind").read_text() == "Reactions"
    finally:
        FORMATS.remove(".kind")
    with pytest.raises(UsageError, match=r"can end in \.csv, \.npz"):
        made("plane").save(tmp_path / "x.kind")


def test_a_missing_package_names_its_extra(tmp_path: Path, monkeypatch: Any) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", absent)
    run = made("plane")
    for call, extra in (
        (run.to_pandas, "data"),
        (run.to_xarray, "data"),
        (lambda: run.save(tmp_path / "x.nc"), "netcdf"),
        (lambda: run.save(tmp_path / "x.parquet"), "parquet"),
    ):
        with pytest.raises(NotSupported, match=rf"pendula\[{extra}\]"):
            call()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("ending", ["csv", "json", "npz"])
def test_a_list_of_no_equilibria_is_a_table_without_rows(ending: str, tmp_path: Path) -> None:
    pushed = pendula.find_equilibria("cart-pole", inputs={"F": 0.1})
    assert len(pushed) == 0
    pushed.save(tmp_path / f"none.{ending}")
    assert (tmp_path / f"none.{ending}").stat().st_size > 0
