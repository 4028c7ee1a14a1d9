"""Paper 004, Tataru: two hinged bodies by the projection method, as printed and corrected."""

from pendula.papers.tataru.constraints import differentiated, sizes
from pendula.papers.tataru.equality import bodies, projection
from pendula.papers.tataru.motion import forces, motion
from pendula.papers.types import Part

STATE = {"angles": [0.7, -0.4], "rates": [1.1, -2.3]}

PARTS = (
    Part("bodies", "Equations of the free bodies (eqs. 1-13)", bodies, STATE),
    Part("sizes", "Constraint matrices and their sizes (eqs. 14-36, 52-57)", sizes, STATE),
    Part("differentiated", "Differentiated constraints (eqs. 37-44)", differentiated, STATE),
    Part("projection", "Projected equations against Lagrange's (eqs. 58-66)", projection, STATE | {"states": 30}),
    Part("motion", "Angular velocities and accelerations (figures 2 and 3)", motion, {"duration": 10.0}),
    Part("forces", "Multipliers and constraint forces (eqs. 71-81)", forces, STATE | {"duration": 10.0}),
)
