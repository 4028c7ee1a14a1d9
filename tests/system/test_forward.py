"""Forward dynamics with bound arrays: the same accelerations as everywhere else, for the price of a native call."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula.errors import ComputationError, NotSupported, SingularPose, UsageError
from tests.helpers.numbers import states

HOW = {
    "symbolic": {"engine": "symbolic"},
    "recursive": {"engine": "recursive"},
    "maximal": {"formulation": "maximal"},
}
CART = """
name = "pushed cart"
gravity = [0, -9.81, 0]
inputs = { F = "VALUE" }

[[bodies]]
name = "cart"
point = { mass = 2.0 }

[[joints]]
name = "x"
type = "prismatic"
axis = [1, 0, 0]
parent = "ground"
child = "cart"

[[forces]]
type = "generalized"
coordinate = "x"
value = "F"
"""


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "heavy-top"])
def test_bound_arrays_give_the_accelerations_and_rates_of_the_system(name: str, how: str) -> None:
    system = pendula.compile_system(name, **HOW[how])
    forward = system.forward_dynamics()
    for t, q, v in zip(*states(system, 3), strict=True):
        forward.t[0], forward.q[:], forward.v[:] = t, q, v
        forward.evaluate()
        assert forward.failure is None
        np.testing.assert_allclose(forward.accelerations, system.accelerations(q, v, t), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(forward.rates, system.rates(q, v, t), rtol=1e-11, atol=1e-11)


def test_arrays_start_with_the_initial_state_and_parameters_may_be_changed() -> None:
    system = pendula.compile_system("pendulum")
    forward = system.forward_dynamics({"g": 1.0, "l": 2.0})
    assert forward.q[0] == system.initial_state().q[0]
    forward.evaluate()
    assert forward.accelerations[0] == pytest.approx(-1.5 * 1.0 / 2.0 * np.sin(forward.q[0]), rel=1e-13)


@pytest.mark.parametrize("engine", ["symbolic", "recursive"])
def test_inputs_are_written_to_their_array(engine: str) -> None:
    forward = pendula.compile_system(pendula.loads(CART.replace("VALUE", "3")), engine=engine).forward_dynamics()
    for force in (3.0, -8.0):
        assert forward.evaluate() is None
        assert forward.accelerations[0] == pytest.approx(force / 2, rel=1e-14)
        forward.inputs[0] = -8.0


@pytest.mark.parametrize("engine", ["symbolic", "recursive"])
def test_inputs_that_the_model_defines_over_time_cannot_be_written(engine: str) -> None:
    forward = pendula.compile_system(pendula.loads(CART.replace("VALUE", "4*t")), engine=engine).forward_dynamics()
    with pytest.raises(ValueError, match="read-only"):
        forward.inputs[0] = 1.0
    assert forward.rhs(0.5, [0.0, 0.0])[1] == pytest.approx(1.0, rel=1e-14)


def test_an_integrator_from_outside_follows_our_motion() -> None:
    system = pendula.compile_system("double-physical-pendulum")
    run = pendula.simulate(system, 2.0, tol=1e-10)
    start = np.concatenate([run.q[0], run.v[0]])
    found = solve_ivp(system.forward_dynamics().rhs, (0.0, 2.0), start, method="DOP853", rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.y[:, -1], [*run.q[-1], *run.v[-1]], atol=1e-6)


def test_a_state_of_another_size_is_refused() -> None:
    forward = pendula.compile_system("double-pendulum").forward_dynamics()
    with pytest.raises(UsageError, match=r"2 coordinates and 2 speeds, so 4 numbers; got an array of shape \(1,\)"):
        forward.rhs(0.0, [1.0])


def test_singular_states_have_no_accelerations_and_a_reason() -> None:
    system = pendula.compile_system(pendula.library.spherical_pendulum())  # theta, phi: a chart with poles
    forward = system.forward_dynamics()
    forward.q[:], forward.v[:] = 0.0, 0.0
    forward.evaluate()
    assert np.isnan(forward.accelerations).all()
    assert "singular chart" in str(forward.failure)
    with pytest.raises(SingularPose, match="theta = 0"):
        forward.rhs(0.0, np.zeros(4))
    with pytest.raises(ComputationError, match="state is not finite"):  # not the reason of the call before
        forward.rhs(0.0, [np.nan, 0.0, 0.0, 0.0])
    forward.rhs(0.0, [0.5, 0.0, 0.0, 1.0])
    assert forward.failure is None


def test_the_function_alone_keeps_its_code_and_arrays() -> None:
    forward = pendula.compile_system(pendula.library.chain(links=3)).forward_dynamics()
    evaluate, found = forward.evaluate, forward.accelerations
    evaluate()
    expected = found.copy()
    del forward
    gc.collect()
    junk = [np.full(n, 1e300) for n in range(1, 200)]  # overwrites memory that was given back
    found[:] = 0.0
    evaluate()
    assert len(junk) == 199
    np.testing.assert_array_equal(found, expected)


def test_inputs_of_a_run_are_refused_with_what_to_do_instead() -> None:
    signal = pendula.Signal([0.0, 1.0], [0.0, 1.0])
    run = pendula.simulate(pendula.loads(CART.replace("VALUE", "3")), 1.0, inputs={"F": signal})
    with pytest.raises(NotSupported, match="write their values into the array inputs"):
        run.system.forward_dynamics()


@pytest.mark.parametrize("engine", ["symbolic", "recursive"])
def test_a_system_with_other_inputs_leaves_the_first_as_it_was(engine: str) -> None:
    system = pendula.compile_system(pendula.library.cart_pole(), engine=engine)
    own = system.inputs
    run = pendula.simulate(system, 1.0, inputs={"F": ([0.0, 1.0], [0.0, 2.0])}, samples=3)
    assert system.inputs is own
    assert not own.over_time
    assert own.names == ()
    assert run.system.inputs.over_time
    assert run.system.inputs.names == ("F",)
    back = run.system.with_inputs(own)
    q, v = run.q[-1], run.v[-1]
    np.testing.assert_array_equal(back.accelerations(q, v, 1.0), system.accelerations(q, v, 1.0))
    np.testing.assert_array_equal(
        run.system.accelerations(q, v, 1.0), system.accelerations(q, v, 1.0, inputs={"F": 2.0})
    )
