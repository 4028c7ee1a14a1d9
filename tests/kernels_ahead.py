"""Compiles the kernels that most tests need: ``python -m tests.kernels_ahead``, before two processes run the tests.

On an empty cache both of them would otherwise compile the same kernels at the same time.
"""

import numpy as np

import pendula
from pendula import library


def recursion() -> None:
    """Recursion over the bodies of trees: terms and derivatives, in the plane and in space."""
    for model in (library.chain(links=12), library.spatial_rod(orientation="quaternion")):
        system = pendula.compile_system(model, engine="recursive")
        state = system.initial_state()
        q, v = (np.repeat(x[None], 9, 0) for x in (state.q, state.v))
        system.accelerations(q, v)
        system.energies(q, v)
        system.mass_matrix(q)
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


if __name__ == "__main__":
    recursion()
    runs()
