"""Notes of studies about values that cannot be predicted."""

import numpy as np
import pytest

import pendula

BOUNDS = {"theta1": "180deg", "theta2": "180deg"}


@pytest.fixture(scope="module")
def double():
    return pendula.compile_system(pendula.library.chain(links=2))


def test_values_after_the_noted_time_depend_on_the_tolerance_and_those_before_do_not(double, tmp_path):
    over = {"theta1": "60deg:175deg:12", "theta2": "-170deg:160deg:12"}
    how = {"within": BOUNDS, "duration": 300.0, "on": "here"}
    found = pendula.sweep(double, over, "first", save=tmp_path / "s", **how)
    (note,) = found.notes
    assert "single values may not be predictable" in note
    assert note.split()[0] in str(found)
    until = float(note.split("about t = ")[1].split()[0])
    other = pendula.sweep(double, over, "first", tol=1e-9, **how)
    a, b = found["first_t"], other["first_t"]
    early, late = a < 0.5 * until, a > 2.0 * until
    assert np.abs(a[early] - b[early]).max() < 0.01
    assert late.any()
    assert not np.allclose(a[late], b[late], atol=0.01)
    assert pendula.load_sweep(tmp_path / "s").notes == found.notes
    assert pendula.sweep(double, over, "first", save=tmp_path / "s", **how).notes == found.notes


def test_regular_motions_have_no_note():
    assert pendula.sweep("pendulum", {"theta": "0.1:3:20"}, duration=40.0, on="here").notes == ()
    random = {"theta": {"uniform": [-1.0, 1.0]}}
    rule = {"quantity": "end.theta > 0", "half_width": 0.1}
    drawn = pendula.sweep("pendulum", random, "end", duration=20.0, until=rule, on="here")
    assert not any("predictable" in note for note in drawn.notes)


def test_random_draws_that_are_chaotic_have_a_note(double):
    random = {"theta1": {"uniform": ["100deg", "170deg"]}, "theta2": {"uniform": ["100deg", "170deg"]}}
    rule = {"quantity": "end.theta1 > 0", "half_width": 0.1}
    found = pendula.sweep(double, random, "end", duration=60.0, until=rule, on="here")
    assert any("single values may not be predictable" in note for note in found.notes)
