"""Compiles the kernels that most tests need, before two processes run the tests: ``python -m tests.kernels_ahead``.

On an empty cache both of them would otherwise compile the same kernels at the same time. The names of functions of
this module as arguments compile some of the kernels: the Makefile does so in two processes.
"""

import sys

import numpy as np

import pendula
from pendula import library
from pendula.numerics.solvers.complement import complement_by_address
from pendula.numerics.steppers.watch import watch_step
from pendula.simulation.inputs.kernels import feed
from pendula.system.lanes import bind_lanes, one_by_one
from pendula.system.recursion.derivatives import of_turns_and_slides
from pendula.system.tangent import constrained_deviation_rates, deviation_rates


def recursion() -> None:
    """Recursion over the bodies of trees: terms and derivatives, in the plane and in space."""
    for model in (library.chain(links=12), library.spatial_rod(orientation="quaternion")):
        system = pendula.compile_system(model, engine="recursive")
        state = system.initial_state()
        q, v = (np.repeat(x[None], 9, 0) for x in (state.q, state.v))
        system.accelerations(q, v)
        system.energies(q, v)
        system.mass_matrix(q)
        system.forces(q, v)
        system.body_motion(q, v)
        for by in "qvp":
            system.acceleration_jacobian(by, q, v)
            system.residual_jacobian(by, q, v, v)


def runs() -> None:
    """Runs by every kind of equations, and linear models."""
    pendula.simulate(pendula.compile_system(library.four_bar(), engine="recursive"), 0.1)
    two, bars = library.double_pendulum(), library.four_bar()
    pendula.simulate(two, 0.1)
    pendula.simulate(bars, 0.1)
    pendula.simulate(pendula.compile_system(bars, "maximal"), 0.1)
    pendula.simulate(two, 0.1, stepper="radau")
    pendula.simulate(two, 0.1, stepper="taylor")
    pendula.simulate_many(two, 0.1, {"theta1": np.linspace(0.1, 0.2, 9)}, workers=1)
    for model in (two, bars):
        pendula.modes(model, pendula.find_equilibria(model)[0])


def proofs() -> None:
    """Equilibria and stability with proof, and linear models of many parameters."""
    two, bars = library.double_pendulum(), library.four_bar()
    pendula.stability(two, pendula.find_equilibria(two, prove=1.0)[0])
    for model in (two, bars):
        name = next(iter(model.parameters))
        values = np.array([1.0, 1.1]) * model.parameter_values[name]
        pendula.linear.linearize_many(model, pendula.find_equilibria(model)[0], parameters={name: values})


def lanes() -> None:
    """The recursion for eight states at once: chains with absolute angles, other planar trees, trees in space."""
    trees = library.chain(links=12), library.chain(links=3, coordinates="relative"), library.spatial_rod()
    for model in trees:
        system = pendula.compile_system(model, engine="recursive")
        bound = bind_lanes(system, system.parameters[None])
        assert bound.rhs.address
        assert bound.energies.address


def callbacks() -> None:
    """What tests of both processes need soon: redundant constraints, deviations from a motion, events, inputs."""
    made = complement_by_address, deviation_rates, constrained_deviation_rates, one_by_one, watch_step, feed
    for callback in (*made, of_turns_and_slides):
        assert callback.address
    starts = {"theta1": np.linspace(0.1, 0.2, 9)}
    pendula.simulate_many(library.double_pendulum(), 0.1, starts, stepper="taylor", workers=1)


KINDS = {made.__name__: made for made in (recursion, runs, proofs, lanes, callbacks)}

if __name__ == "__main__":
    for name in sys.argv[1:] or KINDS:
        KINDS[name]()
