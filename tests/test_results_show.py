"""Every result is one line, a short text and a picture, and goes to another process and back."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import multiprocessing
import pickle
import re
import struct
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import errors
from pendula.present.pictures.registry import PLOTS
from pendula.refusals import Refusal, Why
from pendula.system.system import System

BEAD = {"theta": 0.0}


def _shaken() -> Any:
    return pendula.library.driven_chain(links=1, kind="point", amplitude=0.05, rate=100, direction=0)


MAKERS = {
    "Assembly": lambda: pendula.assemble("four-bar"),
    "Certificate": lambda: pendula.check("pendulum", formulations=["lagrange", "kane"], states=5),
    "Comparison": lambda: pendula.derivation.check_against(
        "pendulum", {"equations": ["m*l**2*theta_ddot = -m*g*l/2*sin(theta)"]}, states=5
    ),
    "Crossings": lambda: pendula.simulate("double-pendulum", 5.0, events=["theta1 = 0"]).events["theta1 = 0"],
    "Divergence": lambda: pendula.chaos.divergence("pendulum", 1.0, perturbation={"theta": 0.1}, samples=11),
    "Ensemble": lambda: pendula.simulate_many("pendulum", 1.0, {"theta": [0.1, 0.2, 0.3]}, samples=5, workers=1),
    "Equations": lambda: pendula.derive("double-pendulum"),
    "Equilibria": lambda: pendula.find_equilibria("pendulum"),
    "Equilibrium": lambda: pendula.equilibria.lowest_equilibrium("double-pendulum"),
    "Floquet": lambda: pendula.driven.floquet(_shaken(), at={"theta1": math.pi}),
    "FloquetBoundary": lambda: pendula.driven.floquet_boundary(_shaken(), "omega", 50, 100, at={"theta1": math.pi}),
    "FloquetMap": lambda: pendula.driven.floquet_over(_shaken(), "omega", 60, 100, samples=3, at={"theta1": math.pi}),
    "FreeResponse": lambda: pendula.linear.free_response("double-pendulum", {"theta1": 0.01}, at={"theta1": 0.0}),
    "ForcedResponse": lambda: pendula.linear.forced_response("pendulum", {"theta": 0.1}, 4.0, at={"theta": 0.0}),
    "Sweep": lambda: pendula.sweep("pendulum", {"theta": [0.1, 0.2], "l": [1.0, 2.0]}, duration=0.5, on="here"),
    "StabilityChart": lambda: pendula.driven.floquet_chart(
        _shaken(), ("omega", 60, 100), ("alpha", 0.04, 0.06), samples=2, at={"theta1": math.pi}
    ),
    "HarmonicResponse": lambda: pendula.linear.harmonic_response("cart-pole", "F", at=BEAD),
    "Bode": lambda: pendula.linearize("cart-pole", {"theta": 0}).bode(),
    "StepResponse": lambda: pendula.linearize("cart-pole", {"theta": 0}).step(duration=2.0),
    "RootLocus": lambda: pendula.linearize("cart-pole", {"theta": 0}).root_locus("x"),
    "Margins": lambda: pendula.linearize("cart-pole", {"theta": "180deg"}).lqr({"x": 1}).margins(),
    "Gain": lambda: pendula.linearize("cart-pole", {"theta": 0}).lqr(1.0),
    "Estimator": lambda: pendula.linearize("cart-pole", {"theta": 0}).kalman(),
    "Fit": lambda: pendula.fit(
        "pendulum", {"t": np.linspace(0, 2, 21), "theta": pendula.simulate("pendulum", 2, samples=21)["theta"]}, ["l"]
    ),
    "Reach": lambda: pendula.linearize("cart-pole", {"theta": 0}).controllability(),
    "Sensitivities": lambda: pendula.sensitivities(pendula.simulate("pendulum", 1.0, samples=11), ["l"]),
    "Horizon": lambda: pendula.chaos.horizon(pendula.simulate("pendulum", 1.0, samples=11)),
    "LinearModel": lambda: pendula.linearize("double-pendulum"),
    "LinearModels": lambda: pendula.linear.linearize_many("pendulum", BEAD, parameters={"l": [1.0, 2.0]}),
    "LinearRange": lambda: pendula.linear.linear_range(
        pendula.linearize("pendulum", BEAD), amplitudes=[0.01, 0.5], duration=2.0
    ),
    "Lyapunov": lambda: pendula.chaos.lyapunov("pendulum", 5.0, segments=20),
    "Model": lambda: pendula.library.four_bar(),
    "Modes": lambda: pendula.modes("double-pendulum"),
    "Pencil": lambda: pendula.linear.pencil("double-pendulum"),
    "EnsembleRun": lambda: made("Ensemble")[0],
    "JointReaction": lambda: made("Reactions")["crank"],
    "Reactions": lambda: pendula.reactions(pendula.simulate("four-bar", 1.0, samples=11)),
    "Spectrum": lambda: pendula.linear.spectrum("double-pendulum"),
    "Stability": lambda: pendula.stability("double-pendulum"),
    "StabilityRanges": lambda: pendula.linear.stability_over("hoop-bead", "Omega", 1, 5, at=BEAD, samples=20),
    "System": lambda: pendula.compile_system("four-bar"),
    "Trajectory": lambda: pendula.simulate("four-bar", 1.0, samples=11, on_progress=lambda *given: None),
    "Trim": lambda: pendula.equilibria.trim("pendulum", {"theta": 0.5}, ["theta"]),
}
OTHERS = {
    "Eigenvalue": lambda: made("Spectrum").eigenvalues[0],
    "EnergyAccount": lambda: made("Trajectory").energy,
    "Layout": lambda: made("System").layout,
    "Mobility": lambda: pendula.mobility(made("System")),
    "Mode": lambda: made("Modes")[1],
    "Predictability": lambda: made("Trajectory").predictability,
    "Peak": lambda: made("Reactions").peaks[0],
    "Resonance": lambda: made("HarmonicResponse").resonances[0],
    "State": lambda: made("Trajectory").state(),
    "SymbolicModel": lambda: pendula.linear.linearize_symbolic("double-pendulum"),
}


@cache
def made(name: str) -> Any:
    return {**MAKERS, **OTHERS}[name]()


def test_every_plot_is_tried() -> None:
    assert {*MAKERS} == {*PLOTS}


@pytest.mark.parametrize("name", MAKERS)
def test_plot_shows_every_result(name: str, tmp_path: Path) -> None:
    figure = pendula.plot(made(name), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
    assert figure.axes
    assert any(ax.has_data() for ax in figure.axes)


@pytest.mark.parametrize("name", [*MAKERS, *OTHERS])
def test_results_are_one_line_and_a_short_text(name: str) -> None:
    result = made(name)
    line, text = repr(result), str(result)
    assert "\n" not in line
    assert len(line) <= 120
    assert "array(" not in line + text
    assert all(len(row) <= 80 for row in text.splitlines()), text
    assert len(text.splitlines()) < 60


@pytest.mark.parametrize("name", [*MAKERS, *OTHERS])
def test_texts_repeat_no_unit_and_show_no_digits_of_rounding(name: str) -> None:
    """Not "period 215.285 s s", "0.285000000000000" or "-1.0581329042644674"."""
    text = str(made(name))
    assert not re.search(r"(?<![\w.])([A-Za-z/]+) \1(?!\w)", text), text
    assert not re.search(r"\.\d{12}", text), text


def test_equilibria_of_mechanisms_with_many_coordinates_are_shown_as_a_pose() -> None:
    figure = pendula.plot(pendula.find_equilibria(pendula.library.chain(links=3)))
    assert figure.axes[0].get_title(loc="left").startswith("chain of 3 links: equilibrium 1 of 8")


def test_plot_takes_the_name_of_a_library_mechanism() -> None:
    assert pendula.plot("chain").axes[0].get_title(loc="left") == "chain of 10 links: initial state"


def test_modes_are_a_sequence_that_counts_from_one() -> None:
    found = made("Modes")
    assert [mode.number for mode in found] == [1, 2] == [found[k].number for k in (1, 2)]
    assert len(list(found)) == len(found)


def _same(one: Any, other: Any, seen: set[int]) -> bool:
    """Whether two results hold the same values, bit by bit; systems are compared by what they were made of."""
    if id(one) in seen or inspect.isfunction(one):  # functions of the caller stay with the caller
        return True
    seen.add(id(one))
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, System):
        return (one.model, one.formulation, one.engine) == (other.model, other.formulation, other.engine)
    if isinstance(one, type):
        return one is other
    if isinstance(one, functools.partial):
        return _same((one.func, one.args, one.keywords), (other.func, other.args, other.keywords), seen)
    if inspect.ismethod(one):
        return _same((one.__func__, one.__self__), (other.__func__, other.__self__), seen)
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other)
    if dataclasses.is_dataclass(one):
        return all(
            _same(getattr(one, field.name), getattr(other, field.name), seen) for field in dataclasses.fields(one)
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(_same(a, b, seen) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(one[key], other[key], seen) for key in one)
    if type(one).__eq__ is object.__eq__ and (names := [*getattr(one, "__dict__", ()), *getattr(one, "__slots__", ())]):
        return all(_same(getattr(one, name), getattr(other, name), seen) for name in names)
    return bool(one == other)


@pytest.mark.parametrize("name", [*MAKERS, *OTHERS])
def test_every_result_goes_to_another_process_and_back(name: str) -> None:
    there = pickle.dumps(made(name))
    assert len(there) < 3_000_000
    back = pickle.loads(there)
    assert str(back) == str(made(name))
    assert _same(made(name), back, set())


def _accelerations(system: System, q: Any, v: Any) -> bytes:
    return system.accelerations(q, v).tobytes()


def _raises(error: Exception) -> None:
    raise error


ERRORS = (
    errors.ModelError([errors.Problem('body "rod"', "mass", "it is negative", "a positive one")] * 2, source="a.toml"),
    errors.NotSupported(Refusal("a/b", "run", ("taylor",), "no", Why.NOT_DONE)),
    errors.NoConvergence("did not settle", last=np.arange(3.0), residual=0.5),
    errors.LoopNotClosed("open", residual=0.1),
    errors.SingularPose("flat"),
    errors.ComputationError("not a number"),
    errors.WorkerDied("three died"),
    errors.UsageError("what is this"),
    errors.NotAnEquilibrium("it moves", residual=0.25),
)


def test_systems_and_errors_come_back_from_a_process_pool() -> None:
    """A process that inherits nothing: systems are made again there, and give the same bits."""
    assert {type(error) for error in ERRORS} == set(_kinds(errors.PendulaError))
    systems = [pendula.compile_system("spatial-rod"), pendula.compile_system("spatial-rod", "maximal")]
    systems.append(pendula.compile_system(pendula.library.chain(links=8), engine="recursive"))
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for system in systems:
            state = pendula.assemble(system).state
            there = pool.submit(_accelerations, system, state.q, state.v).result()
            assert there == _accelerations(system, state.q, state.v)
        for error in ERRORS:
            with pytest.raises(type(error)) as back:
                pool.submit(_raises, error).result()
            assert str(back.value) == str(error)
            assert _same({**vars(error)}, {k: v for k, v in vars(back.value).items() if k in vars(error)}, set())


def _kinds(kind: type) -> list[type]:
    return [
        found for sub in kind.__subclasses__() if sub.__module__ == errors.__name__ for found in (sub, *_kinds(sub))
    ]


def test_a_model_that_was_used_still_equals_its_copy() -> None:
    model, other = pendula.library.pendulum(), pendula.library.pendulum()
    for one in (model, other):
        pendula.simulate(one, 0.1)
        assert one.as_written is one
    assert model == other
