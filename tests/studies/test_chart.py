"""A chart of stability with borders refined where the answer changes equals that of the full grid."""

import numpy as np
import pytest

import pendula


def study(side: int) -> dict:
    """Stability of a pendulum that stands upright on a shaken pivot, over amplitude and frequency of the shaking."""
    shaken = pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100.0, direction=0)
    over = {"alpha": {"grid": [0.0, 0.5, side]}, "omega": {"grid": [5.0, 60.0, side]}}
    return {"system": shaken, "over": over, "compute": "floquet", "at": {"theta1": np.pi}, "floquet_tol": 1e-10}


@pytest.mark.slow
def test_a_refined_chart_equals_the_full_grid_with_a_tenth_of_the_points():
    full = pendula.sweep(**study(240))
    refined = pendula.sweep(**study(240), refine={"by": "stable", "coarse": 16})
    assert np.array_equal(full["stable"], refined["stable"], equal_nan=True)
    computed = int(np.isfinite(refined["radius"]).sum())
    assert computed <= len(full) / 10
    stable = full["stable"] == 1.0
    assert 0.05 < stable.mean() < 0.95
