"""Random draws until an estimate is accurate, and grids refined at borders: against exact answers."""

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError


def inside_disc(case):
    x, y = case.initial_state["theta"], case.initial_state["theta_dot"]
    return {"inside": float(x * x + y * y < 1.0), "square": x * x}


OVER = {"theta": {"uniform": [-1.0, 1.0]}, "theta_dot": {"uniform": [-1.0, 1.0]}}


@pytest.mark.parametrize("design", ["random", "latin", "sobol"])
def test_draws_until_a_probability_is_known(design):
    until = {"quantity": "inside == 1", "half_width": 0.02}
    found = pendula.sweep("pendulum", OVER, inside_disc, draws={"design": design, "seed": 3}, until=until, on="here")
    (one,) = found.estimates
    assert one.half_width <= 0.02
    assert one.low <= np.pi / 4 <= one.high
    assert len(found) == one.samples
    assert "probability" in str(found)


def test_a_mean_over_draws(tmp_path):
    found = pendula.sweep("pendulum", OVER, inside_disc, draws={"count": 2048, "design": "sobol"}, on="here")
    one = found.estimate("square")
    assert one.low <= 1 / 3 <= one.high
    assert one.half_width < 1e-3
    assert found.estimate("inside == 1").of == "probability"
    with pytest.raises(UsageError, match="has no"):
        found.estimate("nothing")


def test_a_staged_study_resumes_to_the_same_result(tmp_path):
    until = {"quantity": "square", "half_width": 0.01}
    asked = dict(over=OVER, compute=inside_disc, draws={"seed": 5}, until=until, on="here")
    quiet = pendula.sweep("pendulum", **asked)
    whole = pendula.sweep("pendulum", **asked, save=tmp_path / "s")
    for path in sorted((tmp_path / "s" / "parts").iterdir())[-2:]:
        path.unlink()
    again = pendula.sweep("pendulum", **asked, save=tmp_path / "s")
    loaded = pendula.load_sweep(tmp_path / "s")
    assert len(quiet) > 256
    for other in (whole, again, loaded):
        assert np.array_equal(quiet["square"], other["square"])
    assert again.estimates == quiet.estimates


def test_a_larger_study_contains_the_smaller_one():
    few, many = (
        pendula.sweep("pendulum", OVER, inside_disc, draws={"count": n, "seed": 9}, on="here") for n in (50, 80)
    )
    assert np.array_equal(few["square"], many["square"][:50])


def disc(case):
    x, y = case.initial_state["theta"], case.initial_state["theta_dot"]
    return {"region": "in" if x * x + y * y < 0.5 else "out", "calls": 1.0}


def test_a_refined_grid_equals_the_full_one_with_few_points():
    over = {"theta": "-1:1:101", "theta_dot": "-1:1:101"}
    full = pendula.sweep("pendulum", over, disc, on="here")
    refined = pendula.sweep("pendulum", over, disc, refine={"by": "region", "coarse": 16}, on="here")
    assert np.array_equal(full["region"], refined["region"])
    computed = np.isfinite(refined["calls"]).sum()
    assert computed < len(full) / 4
    assert (refined.status == 3).sum() == len(full) - computed
    assert refined.complete
    assert "were computed" in str(refined)


def test_refined_studies_resume(tmp_path):
    over = {"theta": "-1:1:65", "theta_dot": "-1:1:65"}
    asked = dict(over=over, compute=disc, refine="region", on="here")
    quiet = pendula.sweep("pendulum", **asked)
    pendula.sweep("pendulum", **asked, save=tmp_path / "s")
    sorted((tmp_path / "s" / "parts").iterdir())[1].unlink()
    again = pendula.sweep("pendulum", **asked, save=tmp_path / "s")
    assert np.array_equal(quiet["region"], again["region"])
    assert np.array_equal(quiet.status, again.status)


def test_wrong_rules_are_refused():
    with pytest.raises(UsageError, match="give one of them"):
        pendula.sweep("pendulum", OVER, inside_disc, until={"quantity": "x", "half_width": 1}, refine="region")
    with pytest.raises(UsageError, match="until"):
        pendula.sweep("pendulum", OVER, inside_disc, until={"half_width": 1})
    with pytest.raises(UsageError, match="number of draws follows"):
        pendula.sweep("pendulum", OVER, inside_disc, draws=10, until={"quantity": "square", "half_width": 1})
    over = {**OVER, "l": [1.0]}
    with pytest.raises(UsageError, match="random quantities alone"):
        pendula.sweep("pendulum", over, inside_disc, until={"quantity": "square", "half_width": 1})
    with pytest.raises(UsageError, match="refine is for grids"):
        pendula.sweep("pendulum", OVER, inside_disc, draws=10, refine="inside", on="here")
