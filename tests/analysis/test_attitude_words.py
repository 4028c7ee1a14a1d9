"""Modes and pictures of bodies on ball joints speak of precession, nutation, tilt and spin."""

import numpy as np
import pytest

import pendula
from pendula.analysis.symmetry.attitude import shown_angles
from pendula.model import Model


def top_in_angles() -> Model:
    joint = {"name": "pivot", "type": "spherical", "parent": "ground", "child": "top"}
    return pendula.library.heavy_top().with_changes(
        joints=[joint | {"orientation": "zxz", "names": ["phi", "theta", "psi"]}], initial={}
    )


def test_modes_of_a_sleeping_top_are_precession_and_nutation() -> None:
    found = pendula.modes("heavy-top", {"pivot_wz": 60.0})
    told = [mode.description for mode in found]
    assert "only spin of top moves" in told[0]
    assert told[1].endswith("the axis of top goes round a cone in the sense of its spin: precession.")
    assert told[2].endswith("the axis of top goes round a cone in the sense of its spin: nutation.")
    assert not any("pivot_" in text for text in told)


def test_a_hanging_top_precesses_against_its_spin_and_nutates_with_it() -> None:
    """A W^2 - C s W - m g l = 0 has roots of both signs: the slow one against the spin seen from the support."""
    found = pendula.modes("heavy-top", {"pivot_q0": 0.0, "pivot_q1": 1.0, "pivot_wz": 60.0})
    A, C, mgl = 0.29, 0.08, 9.81 * 0.5
    slow, fast = sorted(np.abs(np.roots([A, -C * 60.0, -mgl])))
    assert [mode.frequency for mode in found][1:] == pytest.approx([slow, fast], rel=1e-11)
    assert found[2].description.endswith("against the sense of its spin: precession.")
    assert found[3].description.endswith("in the sense of its spin: nutation.")


def test_small_motion_about_precession_is_called_nutation() -> None:
    motion = pendula.equilibria.steady_precession("heavy-top", 0.5, 60.0).slow
    told = [mode.description for mode in pendula.modes("heavy-top", motion)]
    assert ": nutation of top, " in told[2]
    assert "precession of top" in told[0]


def test_bodies_of_a_chain_tilt() -> None:
    told = [mode.description for mode in pendula.modes("spatial-chain", {})]
    plane = pendula.modes(pendula.library.chain(links=2, inertia=1 / 12 + 0.05**2 / 16, com=0.5), {})
    ratio = plane[1].scaled[1]  # absolute angles of the plane chain
    assert f"tilt of rod1 about x moves 1 deg, tilt of rod2 about x moves {ratio:.4g} deg" in told[2]


def test_angles_along_a_run_are_those_of_an_euler_chart() -> None:
    """The same motion with zxz angles: phi, theta, psi, up to a constant of precession and spin."""
    angles = pendula.compile_system(top_in_angles())
    start = {"theta": 0.5, "theta_dot": 0.4, "psi_dot": 30.0, "phi_dot": 1.0}
    one = pendula.simulate(angles, 2.0, initial_state=start, tol=1e-11, samples=15)  # 4 rad apart
    q = {"pivot_q0": np.cos(0.25), "pivot_q1": np.sin(0.25)}
    v = {"pivot_wx": 0.4, "pivot_wy": np.sin(0.5), "pivot_wz": 30.0 + np.cos(0.5)}
    other = pendula.simulate("heavy-top", 2.0, initial_state={"pivot_q2": 0.0, **q, **v}, tol=1e-11, samples=15)
    shown = shown_angles(other)
    assert shown.replaced == {f"pivot_q{k}" for k in range(4)}
    assert shown.units["spin of top"] == "turns"
    found = shown.series
    np.testing.assert_allclose(found["tilt of top"], one["theta"], atol=1e-8)
    for name, of, unit in (("precession of top", "phi", 1.0), ("spin of top", "psi", 2 * np.pi)):
        np.testing.assert_allclose(unit * (found[name] - found[name][0]), one[of] - one[of][0], atol=1e-7)


def test_pictures_of_runs_show_these_angles(tmp_path: object) -> None:
    figure = pendula.plot(pendula.simulate("heavy-top", 0.5))
    names = [text.get_text() for ax in figure.axes for text in (ax.get_legend().get_texts() if ax.get_legend() else ())]
    labels = names or [line.get_label() for ax in figure.axes for line in ax.get_lines()]
    assert any("tilt of top" in label for label in labels)
    assert not any("pivot_q0" in label for label in labels)
