"""Free bodies in numbers: an oracle for mechanisms that shares nothing with the code under test.

It reads the plain data of a model file and computes with its own kinematics in double precision. From Pendula it imports
only the second reader of expressions, which shares nothing but text with the rest; ``test_oracle.py`` holds that.

    texts       numbers and expressions of a model file; parameters
    jets        numbers with their rate, acceleration and slopes by all speeds; expressions of them
    frames      a moving frame in world axes: turns, slides, balls
    charts      orientations: rotation, rates and second rates of coordinates from angular velocities
    solids      mass properties and named points of bodies
    joints      joints that place bodies
    closures    joints that close loops, and couplings
    loads       everything that acts, gravity apart
    mechanism   virtual work: residual, forward dynamics, energies, momentum
    wrenches    balances of single bodies: reactions and which of them are undetermined
"""

from tests.crossings.oracle.mechanism import BodyMotion, Mechanism, Moment, Solved
from tests.crossings.oracle.wrenches import Undetermined

__all__ = ["BodyMotion", "Mechanism", "Moment", "Solved", "Undetermined"]
