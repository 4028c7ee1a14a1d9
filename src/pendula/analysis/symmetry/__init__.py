"""Symmetries of a mechanism: cyclic coordinates and rotations, the momenta that they keep, and Routh's reduction."""
