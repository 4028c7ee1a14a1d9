"""Validation of a model: references, physics, names in expressions, units of parameters."""
