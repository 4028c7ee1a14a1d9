"""Values that are given for a linkage stay: several at once, rounded ones, and at dead points. Plane geometry decides."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Model
from pendula.errors import LoopNotClosed, NotAnEquilibrium, UsageError
from pendula.results import System
from tests.analysis.test_reactions import belted
from tests.helpers.loops import spherical_four_bar
from tests.helpers.mechanisms import library_system

R, L = 0.1, 0.3

DIGITS = 6
"""Given values are exact up to rounding to this many decimals."""
ROUNDING = 1e-5
"""Given values may move by about their rounding: half a unit of the last digit, and what that does to others."""


def piston(phi: float) -> float:
    """Place of the piston of a slider-crank, outer branch."""
    return float(R * np.cos(phi) + np.sqrt(L**2 - (R * np.sin(phi)) ** 2))


def slider_crank(**initial: Any) -> Model:
    """Crank, rod on its tip, piston on the x axis; the wrist closes the loop."""
    return Model(
        name="slider-crank",
        gravity=[0, -9.81, 0],
        bodies=[
            {"name": "crank", "rod": {"mass": 1.0, "length": R, "axis": [1, 0, 0]}},
            {"name": "rod", "rod": {"mass": 0.5, "length": L, "axis": [1, 0, 0]}},
            {"name": "piston", "box": {"mass": 0.8, "size": [0.06, 0.05, 0.05]}},
        ],
        joints=[
            {"name": "phi", "type": "revolute", "parent": "ground", "child": {"body": "crank", "at": "start"}},
            {
                "name": "beta",
                "type": "revolute",
                "parent": {"body": "crank", "at": "end"},
                "child": {"body": "rod", "at": "start"},
            },
            {"name": "s", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "piston"},
            {"name": "wrist", "type": "coincident", "parent": {"body": "rod", "at": "end"}, "child": "piston"},
        ],
        initial=initial,
    )


@cache
def compiled(formulation: str = "kane", **initial: Any) -> System:
    return pendula.compile_system(slider_crank(**initial), formulation)


@pytest.mark.parametrize("formulation", ["kane", "newton-euler", "maximal"])
@pytest.mark.parametrize("phi", [1.0471975512, -0.4, 2.5])
def test_two_given_coordinates_stay_up_to_their_rounding(formulation: str, phi: float) -> None:
    given = {"phi": round(phi, DIGITS), "s": round(piston(phi), DIGITS)}
    run = pendula.simulate(compiled(formulation, phi="60deg"), 0.01, initial_state=given, samples=2)
    assert {n: float(run[n][0]) for n in given} == pytest.approx(given, abs=ROUNDING)
    assert run.ok
    assert run.constraint_violation < 1e-12
    found = pendula.assemble(compiled(formulation, phi="60deg"), given)
    assert all(abs(found.moved.get(n, 0.0)) < ROUNDING for n in given)


@pytest.mark.parametrize("sample", [20, 90, 150])
def test_a_rounded_pose_of_a_four_bar_is_found_again(sample: int) -> None:
    system = library_system("four-bar")
    run = pendula.simulate(system, 2.0, samples=200)
    given = {n: round(float(run[n][sample]), DIGITS) for n in ("crank", "rocker")}
    found = pendula.assemble(system, given).state
    assert [found[n] for n in given] == pytest.approx(list(given.values()), abs=ROUNDING)
    assert np.cos(found["coupler"] - run["coupler"][sample]) == pytest.approx(1.0, abs=1e-8)


def test_values_of_the_model_count_as_given() -> None:
    phi = 0.8
    system = compiled(phi=phi, s=round(piston(phi), DIGITS))
    run = pendula.simulate(system, 0.01, samples=2)
    assert run["phi"][0] == pytest.approx(phi, abs=ROUNDING)
    assert run["s"][0] == pytest.approx(piston(phi), abs=ROUNDING)


@pytest.mark.parametrize("s", [0.35, 0.25, 0.399])
@pytest.mark.parametrize("by_name", [False, True])
def test_a_dead_point_is_left_if_a_given_value_asks_for_it(s: float, by_name: bool) -> None:
    """Crank and rod in line (all angles zero): to first order no motion of theirs moves the piston."""
    system = compiled() if by_name else compiled(s=s)
    run = pendula.simulate(system, 0.01, initial_state={"s": s} if by_name else None, samples=2)
    assert run["s"][0] == s
    assert piston(float(run["phi"][0])) == pytest.approx(s, abs=1e-12)
    again = pendula.simulate(system, 0.01, initial_state={"s": s} if by_name else None, samples=2)
    assert np.array_equal(run.q, again.q)


def test_given_coordinates_that_contradict_each_other_raise_a_doubt() -> None:
    run = pendula.simulate(compiled(phi="60deg"), 0.01, initial_state={"phi": "60deg", "s": 0.30})
    assert not run.ok
    assert "phi = 1.0472 rad, s = 0.3 m, which contradict each other" in run.doubts[0]
    assert abs(piston(float(run["phi"][0])) - run["s"][0]) < 1e-12
    assert abs(run["phi"][0] - np.pi / 3) < 0.05, "moved more than it had to"


def test_one_given_coordinate_out_of_reach_raises_a_doubt() -> None:
    run = pendula.simulate(compiled(phi="60deg"), 0.01, initial_state={"s": 0.5})
    assert not run.ok
    assert "s = 0.5 m; the nearest pose found has s = 0.4" in run.doubts[0].replace("0.39999", "0.4")


def test_contradicting_values_of_the_model_are_noted() -> None:
    notes = pendula.simulate(compiled(phi="60deg", s=0.30), 0.01).notes
    assert any("initial values of the model" in x and "contradict each other" in x for x in notes)


def test_many_runs_over_two_given_coordinates_start_there() -> None:
    angles = np.linspace(0.3, 2.8, 6)
    given = {"phi": angles.round(DIGITS), "s": np.array([piston(x) for x in angles]).round(DIGITS)}
    runs = pendula.simulate_many(compiled(phi="60deg"), 0.01, initial_states=given, samples=2, workers=1)
    assert runs.ok.all()
    for name, values in given.items():
        np.testing.assert_allclose(runs[name][:, 0], values, atol=ROUNDING)


def test_many_runs_name_the_one_whose_given_coordinates_contradict_each_other() -> None:
    given = {"phi": np.array([0.5, 0.5]), "s": np.array([piston(0.5), 0.3])}
    with pytest.raises(UsageError, match=r"run 1 cannot be started.*contradict each other"):
        pendula.simulate_many(compiled(phi="60deg"), 0.01, initial_states=given, samples=2, workers=1)
    runs = pendula.simulate_many(
        compiled(phi="60deg"), 0.01, initial_states=given, samples=2, workers=1, bad_starts="mark"
    )
    assert runs.ok.tolist() == [True, False]


def test_two_given_speeds_stay_up_to_their_rounding() -> None:
    """ds/dphi = -R sin(phi) (1 + R cos(phi) / (s - R cos(phi))); nothing is known of beta_dot."""
    phi, rate = 0.8, 10.0
    slope = -R * np.sin(phi) * (1 + R * np.cos(phi) / (piston(phi) - R * np.cos(phi)))
    given = {"phi": phi, "phi_dot": rate, "s_dot": round(slope * rate, DIGITS)}
    run = pendula.simulate(compiled(phi="60deg"), 0.01, initial_state=given, samples=2)
    assert run["phi_dot"][0] == pytest.approx(rate, abs=1e-4)
    assert run["s_dot"][0] == pytest.approx(given["s_dot"], abs=1e-5)
    found = pendula.assemble(compiled(phi="60deg"), given).state
    assert [found[n] for n in given] == pytest.approx(list(given.values()), abs=1e-4)


def test_a_lyapunov_exponent_belongs_to_the_motion_from_the_given_values() -> None:
    system, given = compiled(phi="60deg"), {"phi": 0.8}
    found = pendula.chaos.lyapunov(system, 0.2, initial_state=given, segments=20)
    run = pendula.simulate(system, 0.2, initial_state=given, tol=1e-9)
    assert found.state.q == pytest.approx(run.q[-1], abs=1e-6)
    with pytest.raises(LoopNotClosed, match="contradict each other"):
        pendula.chaos.lyapunov(system, 0.2, initial_state={"phi": 0.8, "s": 0.3}, segments=20)


def test_a_live_page_refuses_a_start_that_the_loops_do_not_allow() -> None:
    from pendula.present.live.content import live_content

    with pytest.raises(LoopNotClosed, match="contradict each other"):
        live_content(slider_crank(phi="60deg"), {"phi": 0.8, "s": 0.3})


# --- orientations -------------------------------------------------------------------------------------


def spatial_four_bar(coordinates: str) -> Model:
    """A crank and a rocker about skew axes; a coupler between them on ball joints."""
    return Model(
        name="spatial four-bar",
        gravity=[0, 0, 0],
        bodies=[
            {
                "name": n,
                "box": {"mass": 1.0, "size": [x, 0.04, 0.03]},
                "points": {"tip": [x / 2, 0, 0], "tail": [-x / 2, 0, 0]},
            }
            for n, x in (("crank", 0.2), ("coupler", 0.9), ("rocker", 0.5))
        ],
        joints=[
            {"name": "crank", "type": "revolute", "parent": "ground", "child": {"body": "crank", "at": "tail"}},
            {
                "name": "ball",
                "type": "spherical",
                "orientation": coordinates,
                "parent": {"body": "crank", "at": "tip"},
                "child": {"body": "coupler", "at": "tail"},
            },
            {
                "name": "rocker",
                "type": "revolute",
                "axis": [0, 1, 0],
                "parent": {"body": "ground", "position": [0.8, 0.3, 0.1]},
                "child": {"body": "rocker", "at": "tail"},
            },
            {
                "name": "pin",
                "type": "coincident",
                "parent": {"body": "coupler", "at": "tip"},
                "child": {"body": "rocker", "at": "tip"},
            },
        ],
        initial={"crank": 0.5, "rocker": -1.0},
    )


@pytest.mark.parametrize("coordinates", ["quaternion", "zyx"])
def test_an_orientation_given_by_its_coordinates_stays(coordinates: str) -> None:
    system = pendula.compile_system(spatial_four_bar(coordinates))
    somewhere = pendula.assemble(system, {"crank": 0.9}).state
    given = {n: round(somewhere[n], DIGITS) for n in system.layout.coordinates if n != "rocker"}
    found = pendula.assemble(system, given).state
    assert [found[n] for n in given] == pytest.approx(list(given.values()), abs=ROUNDING)
    assert found["rocker"] == pytest.approx(somewhere["rocker"], abs=1e-4)
    given.pop("crank")
    found = pendula.assemble(system, given).state
    assert [found[n] for n in given] == pytest.approx(list(given.values()), abs=ROUNDING)


# --- not at rest --------------------------------------------------------------------------------------


def test_the_unbalanced_force_of_a_linkage_is_the_one_along_its_motion() -> None:
    """At the dead point the piston stands still; crank and rod have their centres lifted by r/2 for each radian."""
    with pytest.raises(NotAnEquilibrium) as error:
        pendula.equilibria.equilibrium_at(compiled(), {"phi": 0.0})
    assert "motion that the constraints allow" in str(error.value)
    torque = -(1.0 + 0.5) * 9.81 * R / 2
    assert f'torque of {torque:.6g} N m remains on "phi_dot"' in str(error.value)


@pytest.mark.parametrize("point", [{"s": 0.5}, {"phi": 0.5, "s": 0.3}])
def test_a_point_with_which_the_loops_cannot_close_is_refused(point: dict[str, float]) -> None:
    with pytest.raises(LoopNotClosed, match="could not be closed with"):
        pendula.equilibria.equilibrium_at(compiled(), point)


def test_what_is_kept_stays_exactly_if_that_is_possible() -> None:
    """All values are given, and agree up to rounding; the one to keep does not share the correction."""
    phi = 0.8
    given = {"phi": phi, "beta": -phi - np.arcsin(R / L * np.sin(phi)) + 1e-4, "s": piston(phi)}
    assert pendula.assemble(compiled(), given, keep={"phi"}).state["phi"] == phi


@pytest.mark.parametrize("crank", [-2.5, -1.0, 0.5, 2.0, 3.0])
def test_one_angle_of_a_linkage_is_enough_wherever_the_others_begin(crank: float) -> None:
    found = pendula.assemble(spherical_four_bar(t1=crank))
    assert found.state["t1"] == crank
    ends = [
        _about_z(found.state["t1"]) @ _about_x(30) @ _about_z(found.state["t2"]) @ _about_x(60)
        @ _about_z(found.state["t3"]) @ _about_x(50) @ [0, 0, 1],
        _about_x(-70) @ [0, 0, 1],
    ]  # fmt: skip
    np.testing.assert_allclose(*ends, atol=1e-10)
    assert all(abs(change) <= np.pi for change in found.moved.values())


def _about_z(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])


def _about_x(degrees: float) -> np.ndarray:
    angle = np.radians(degrees)
    return np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])


# --- orientations -------------------------------------------------------------------------------------


def ball(orientation: str) -> Model:
    return Model(
        name="ball",
        gravity=[0, 0, -10],
        bodies=[{"name": "arm", "mass": 2, "com": [0.5, 0, 1], "inertia": [5, 7, 2]}],
        joints=[{"name": "pivot", "type": "spherical", "orientation": orientation, "parent": "ground", "child": "arm"}],
    )


@pytest.mark.parametrize("orientation", ["quaternion", "zyx"])
def test_an_orientation_is_given_by_the_name_of_its_joint(orientation: str) -> None:
    quarter = {"pivot": {"axis": [0, 0, 1], "angle": "90deg"}}
    model = ball(orientation)
    run = pendula.simulate(model, 0.01, initial_state=quarter, samples=2)
    np.testing.assert_allclose(run.position("arm", "com")[0], [0, 0.5, 1], atol=1e-15)
    by_sequence = pendula.assemble(model, {"pivot": {"sequence": "xz", "angles": [0, np.pi / 2]}}).state
    np.testing.assert_allclose(by_sequence.q, run.q[0], atol=1e-15)
    one = model.coordinates[0].name
    for wrong, text in (
        ({"pivot": 3}, "found 3"),
        ({"pivot": {"axis": [0, 0, 1]}}, "angle: is missing"),
        ({"pivot": {"axis": [0, 0, 1], "angle": "k"}}, 'needs a value for "k"'),
        ({**quarter, one: 1.0}, f"given twice, by a rotation and by {one}"),
    ):
        with pytest.raises(UsageError, match=text):
            pendula.simulate(model, 0.01, initial_state=wrong)


# --- guesses -------------------------------------------------------------------------------------------

GUESS = "a place for guesses in models, which are meant to be moved, will mend it"


@pytest.mark.xfail(strict=True, reason=GUESS)
def test_a_whole_pose_that_is_written_nearly_right_is_a_guess_and_no_contradiction() -> None:
    """One degree of freedom and a value for each coordinate: only one of them can be meant exactly."""
    beta = -1.0 - np.arcsin(R * np.sin(1.0) / L)
    found = pendula.assemble(compiled(phi="60deg"), {"phi": 1.0}).state
    assert found["beta"] == pytest.approx(beta, abs=1e-12)
    nearly = compiled(phi=1.0, beta=round(beta + 0.02, 3), s=round(piston(1.0) + 0.01, 3))
    run = pendula.simulate(nearly, 0.01, samples=2)
    assert run.ok
    assert piston(float(run["phi"][0])) == pytest.approx(run["s"][0], abs=1e-12)
    assert not any("contradict" in note for note in run.notes)


PINNED = """
import {{ addPin }} from "{edits}";
const data = {data};
addPin(data, {{ body: "link3", at: "tip" }}, {{ body: "ground", position: [1.5, 0, 0] }});
console.log(JSON.stringify(data));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="no node found")
@pytest.mark.xfail(strict=True, reason=GUESS)
def test_a_chain_that_is_pinned_in_the_studio_starts_without_a_word_about_its_angles(tmp_path: Path) -> None:
    """The file is written as it stood when the pin was set: its angles are where the search for a closed loop begins."""
    chain = pendula.library.chain(links=3, start=["30deg", "80deg", "150deg"])
    edits = Path(pendula.__file__).parent / "present/web/studio/edits.js"
    script = tmp_path / "pin.mjs"
    script.write_text(PINNED.format(edits=edits.as_uri(), data=json.dumps(tomllib.loads(pendula.dumps(chain)))))
    told = subprocess.run(["node", str(script)], capture_output=True, text=True, check=True)
    run = pendula.simulate(pendula.Model(**json.loads(told.stdout)), 0.1, samples=2)
    assert run.ok
    tip = run.position("link3", "tip")
    np.testing.assert_allclose(tip, [[1.5, 0, 0]] * 2, atol=1e-9)
    assert not any("contradict" in note for note in run.notes)


def three_cranks(**initial: float) -> Model:
    """A coupler on three parallel cranks: one row too many, and a flat pose towards which Newton's method may lead."""

    def rod(name: str, length: float) -> dict[str, Any]:
        return {"name": name, "rod": {"mass": 0.4, "length": length, "axis": [1, 0, 0]}}

    def crank(name: str, x: float) -> dict[str, Any]:
        return {"name": name, "type": "revolute", "parent": {"body": "ground", "position": [x, 0, 0]},
                "child": {"body": name, "at": "start"}}  # fmt: skip

    def pin(name: str, x: float, body: str) -> dict[str, Any]:
        return {"name": name, "type": "coincident", "parent": {"body": "coupler", "position": [x, 0, 0]},
                "child": {"body": body, "at": "end"}}  # fmt: skip

    on_crank = {"parent": {"body": "crank", "at": "end"}, "child": {"body": "coupler", "position": [0, 0, 0]}}
    return Model(
        name="three cranks",
        gravity=[0, -9.81, 0],
        bodies=[rod("crank", 0.4), rod("rocker", 0.4), rod("third", 0.4),
                {"name": "coupler", "mass": 0.4, "com": [0.5, 0, 0], "inertia": [0.01, 0.03, 0.03]}],
        joints=[crank("crank", 0.0), {"name": "coupler", "type": "revolute", **on_crank}, crank("rocker", 1.0),
                crank("third", 0.5), pin("pin", 1.0, "rocker"), pin("second_pin", 0.5, "third")],
        initial=initial,
    )  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [("coupler", 1.103), ("rocker", -1.23)])
def test_a_run_starts_at_a_given_value_from_which_a_search_nearby_leads_elsewhere(name: str, value: float) -> None:
    run = pendula.simulate(three_cranks(**{name: value}), 0.01)
    assert run.ok
    assert run[name][0] == pytest.approx(value, abs=1e-9)
    assert not any("could not be closed" in note for note in run.notes)


def test_rounded_values_stay_where_constraints_are_redundant() -> None:
    """A belt holds the cranks of a parallelogram parallel, as its coupler does: its row counts only off the loop."""
    system = pendula.compile_system(belted("a - c"))
    given = {"a": 1.21802, "b": -1.21787}
    run = pendula.simulate(system, 0.01, initial_state=given, samples=2)
    assert {"a": run["a"][0], "b": run["b"][0]} == pytest.approx({"a": given["a"], "b": given["b"]}, abs=2e-4)
    assert run["c"][0] == pytest.approx(run["a"][0], abs=1e-12)
