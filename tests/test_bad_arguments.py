"""Arguments of wrong kinds: one error of the package that names the argument, not one of NumPy or SciPy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pendula
from pendula.analysis.driven.floquet import floquet
from pendula.errors import UsageError


@cache
def linear():
    return pendula.linearize("cart-pole", {"theta": "180deg"})


@cache
def gain():
    return linear().lqr({"x": 1, "theta": 10}, 0.1)


@cache
def run():
    return pendula.simulate("pendulum", 1.0, samples=21)


@cache
def top():
    return pendula.simulate("heavy-top", 0.1, samples=3)


def fit(**changes):
    data = {"t": run().t, "theta": run()["theta"]}
    return pendula.fit("pendulum", data, **{"parameters": ["l"], **changes})


HUGE = 10**400
CALLS = {
    "fit parameters": (lambda: fit(parameters=3), "parameters must be a list of names"),
    "fit guess": (lambda: fit(guess="l"), "guess must be values by name"),
    "fit initial_state": (lambda: fit(initial_state=[1.0]), "initial_state must be values by name"),
    "fit initial value": (lambda: fit(initial_state={"theta": float("nan")}), '"theta" is not finite'),
    "fit few initial values": (lambda: fit(initial_state={"theta": []}), "give one for each experiment"),
    "fit bounds": (lambda: fit(bounds={"l": 3}), r"bounds of \"l\" are \(low, high\)"),
    "fit bound": (lambda: fit(bounds={"l": (0, "x")}), 'a bound of "l"'),
    "fit sigma": (lambda: fit(sigma="small"), "sigma must be a number"),
    "fit sigma by name": (lambda: fit(sigma={"theta": []}), 'sigma of "theta" must be a number'),
    "fit ignore": (lambda: fit(ignore=3), "ignore must be a list of names"),
    "fit tol": (lambda: fit(tol=None), "the tolerance must lie between"),
    "fit max_iterations": (lambda: fit(max_iterations=float("nan")), "max_iterations must be a whole number"),
    "floquet at": (lambda: floquet("pendulum", 1.0, at={"theta": float("nan")}), '"theta" is not finite'),
    "floquet max_steps": (lambda: floquet("pendulum", 1.0, max_steps=0), "max_steps must be a whole number"),
    "simulate atol": (lambda: pendula.simulate("pendulum", 0.1, atol={}), "atol must be a number"),
    "simulate huge atol": (lambda: pendula.simulate("pendulum", 0.1, atol=HUGE), "atol must be a number"),
    "simulate events": (lambda: pendula.simulate("pendulum", 0.1, events=3), "events must be a list"),
    "assemble near": (lambda: pendula.assemble("four-bar", 3), "near must be values by name"),
    "assemble prefer": (lambda: pendula.assemble("four-bar", prefer=3), "prefer must be a list of names"),
    "play events": (lambda: pendula.play("pendulum", "a.html", events=3), "events must be a list"),
    "convert near": (lambda: pendula.convert(top().state(0), "zyz", near="zero"), "near must be values by name"),
    "convert near another": (lambda: pendula.convert(top().state(0), "zyz", near=top().state(0)), "in the new coord"),
    "lqr Q": (lambda: linear().lqr(HUGE), "Q must be a number"),
    "lqr cross": (lambda: linear().lqr(1.0, cross="x"), "cross must be numbers"),
    "lqr cross shape": (lambda: linear().lqr(1.0, cross=[1, 2]), "4 states by 1 inputs"),
    "lqr every": (lambda: linear().lqr(1.0, every=HUGE), "the sampling time must be a number"),
    "place": (lambda: linear().place("fast"), "poles must be numbers, real or complex"),
    "bode": (lambda: linear().bode(frequencies="all"), "frequencies must be numbers"),
    "bode outputs": (lambda: linear().bode(outputs=3), "outputs must be a list of names"),
    "bode inputs": (lambda: linear().bode(inputs=3), "inputs must be a list of names"),
    "step duration": (lambda: linear().step(duration="long"), "duration of a step response must be a number"),
    "step samples": (lambda: linear().step(samples=1), "samples must be a whole number from 2"),
    "response": (lambda: linear().state_space().response(0.0), "exactly a pole"),
    "fed_back": (lambda: linear().state_space().fed_back([1.0, 2.0]), "K has the shape"),
    "reference": (lambda: gain().feedback(reference="theta"), "reference must be values by name"),
    "reference value": (lambda: gain().feedback(reference={"theta": [1, 2]}), 'the reference of "theta"'),
    "limits": (lambda: gain().feedback(limits=HUGE), "the limits of"),
    "loop": (lambda: gain().loop([]), "by is the name of one input"),
    "margins estimator": (lambda: gain().margins(estimator="kalman"), "estimator is a Kalman filter"),
    "animate speed": (
        lambda: pendula.animate(run(), "a.html", speed="fast"),
        "speed of the animation must be a number",
    ),
    "animate signals": (lambda: pendula.animate(run(), "a.html", signals=3), "signals must be a list of names"),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_refused_by_their_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, words = CALLS[name]
    with pytest.raises(UsageError, match=words):
        call()
    assert not list(tmp_path.iterdir())


def test_one_name_may_stand_for_a_list_of_one():
    assert linear().bode(outputs="theta").space.outputs == ("theta",)
    data = {"t": run().t, "theta": run()["theta"], "eta": np.zeros(21)}
    found = pendula.fit("pendulum", data, ["l"], ignore="eta")  # "eta" is part of the word "theta"
    assert found["l"] == pytest.approx(1.0, rel=1e-4)
