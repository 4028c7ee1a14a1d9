"""Samples that are given while a run continues: together they are those of the finished run, also where it goes back."""

from __future__ import annotations

import numpy as np
import pytest

import pendula

SAMPLES = 800


def streamed(system, duration, **how):
    """The run, and what was kept of the samples that it gave on its way."""
    kept, batches = [], []

    def take(t, q, v):
        batches.append(len(t))
        while kept and kept[-1][0] >= t[0]:
            kept.pop()
        kept.extend(zip(t, q, v, strict=True))

    run = pendula.simulate(system, duration, samples=SAMPLES, on_samples=take, **how)
    return run, kept, batches


@pytest.mark.parametrize(
    ("name", "formulation", "how"),
    [
        ("double-pendulum", None, {}),
        ("double-pendulum", "maximal", {}),
        ("double-pendulum", None, {"stepper": "taylor"}),
        ("double-pendulum", None, {"stepper": "rk4", "step": 1e-3}),
        ("four-bar", None, {}),
        ("heavy-top", None, {}),
    ],
)
def test_samples_on_the_way_are_those_of_the_run(name, formulation, how):
    system = pendula.compile_system(pendula.library.mechanisms()[name].make(), formulation)
    run, kept, batches = streamed(system, 20.0, **how)
    assert len(batches) > 1  # not all at the end
    t, q, v = (np.array(part) for part in zip(*kept, strict=True))
    assert np.array_equal(t, run.t)
    assert np.array_equal(q, run.q)
    assert np.array_equal(v, run.v)


def test_stretches_in_other_coordinates_are_given_in_those_of_the_run():
    """A top in Euler angles that falls through its pole continues in quaternions for a while."""
    model = pendula.library.heavy_top()
    joint = model.joints[0].model_copy(update={"orientation": "zxz"})
    model = model.with_changes(joints=(joint,), initial={"pivot_1": 0.0, "pivot_2": "25deg", "pivot_3": 0.0})
    run, kept, _ = streamed(pendula.compile_system(model), 8.0)
    assert any(note.startswith("changed charts") for note in run.notes)  # it did change its coordinates
    t, q, v = (np.array(part) for part in zip(*kept, strict=True))
    assert np.array_equal(t, run.t)
    assert np.allclose(q, run.q, rtol=0, atol=1e-12)
    assert np.allclose(v, run.v, rtol=1e-12, atol=1e-12)


def test_without_samples_nothing_is_given():
    given = []
    pendula.simulate("pendulum", 1.0, on_samples=lambda t, q, v: given.append(t))
    assert given == []
