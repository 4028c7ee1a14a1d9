"""Checks of a model when it is made: references, physics, names that are used, units of parameters."""
