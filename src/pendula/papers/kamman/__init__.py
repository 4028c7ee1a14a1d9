"""Paper 001, unit 8 of Kamman's course: seven examples and five exercises on linear models and stability."""

from pendula.papers.kamman.differences import differences
from pendula.papers.kamman.double_pendulum import eigenvectors, frequencies, matrices, roots, terms
from pendula.papers.kamman.hoop import cases, hoop
from pendula.papers.kamman.piston import piston
from pendula.papers.kamman.theory import approximations, state_matrix, theory
from pendula.papers.kamman.turning import disc, shaft
from pendula.papers.kamman.two_bodies import inverted, sprung
from pendula.papers.types import Part

PARTS = (
    Part(
        "approximations",
        "Linear approximations of functions (eqs. 1-4)",
        approximations,
        {"excursions": [0.1, 0.05, 0.025], "directions": 10},
    ),
    Part("hoop", "Example 1: bead in a turning hoop", hoop, {"slow": 3.0}),
    Part("terms", "Example 2: linear equations of the double pendulum, term by term", terms),
    Part("matrices", "Example 3: matrices of the double pendulum", matrices),
    Part(
        "differences", "Equations 31-35: central differences against exact derivatives", differences, {"smallest": 1e-9}
    ),
    Part(
        "state_matrix",
        "Linear equations of free motion, and their eigenvalues (eqs. 36, 37)",
        state_matrix,
        {"duration": 2.0, "excursions": [1e-2, 1e-3]},
    ),
    Part("theory", "Stability: what the text says about roots", theory, {"duration": 10.0}),
    Part("cases", "Example 4: all cases of the bead", cases, {"rates": 31, "dampings": 31}),
    Part("roots", "Example 5: characteristic polynomial and roots", roots),
    Part("frequencies", "Example 6: natural frequencies and mode shapes", frequencies),
    Part("eigenvectors", "Example 7: eigenvectors of the state matrix", eigenvectors),
    Part("piston", "Exercise 8.1: bar with piston and slider", piston, {"stiffness": 25.0}),
    Part("sprung", "Exercise 8.2: sprung mass with a bar", sprung),
    Part("shaft", "Exercise 8.3: bar pinned to a shaft", shaft, {"rate": 3.0}),
    Part("disc", "Exercise 8.4: sprung bar on a disc", disc),
    Part("inverted", "Exercise 8.5: inverted double pendulum", inverted),
)
