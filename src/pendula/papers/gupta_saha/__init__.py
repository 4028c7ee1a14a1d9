"""Paper 002, Gupta and Saha: a rod on a ball joint in ZYZ angles, as printed and corrected."""

from pendula.papers.gupta_saha.appendix import terms
from pendula.papers.gupta_saha.derivation import inertia, kinematics
from pendula.papers.gupta_saha.simulation import coordinates, motions
from pendula.papers.types import Part

PARTS = (
    Part("kinematics", "Rotation and angular velocity (eqs. 4-6)", kinematics, {"states": 20}),
    Part("inertia", "Inertia matrix, velocity terms and gravity (eqs. 3, 7-13)", inertia, {"states": 20}),
    Part("appendix", "Appendix: terms of h₁ and i₃₃", terms, {"states": 20}),
    Part("motions", "Simulation (figures 4 and 5)", motions, {"duration": 5.0, "tol": 1e-11}),
    Part(
        "coordinates",
        "Singularity, quaternion and the 12 sequences",
        coordinates,
        {"duration": 5.0, "tol": 1e-10, "spin": 1.5},
    ),
)
