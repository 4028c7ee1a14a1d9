"""Cyclic coordinates: rotations that surfaces permit, and Routh's equations without them."""
