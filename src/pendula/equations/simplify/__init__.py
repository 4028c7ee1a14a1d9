"""Simplification in checked steps: trigonometric polynomials, Pythagoras, sums of angles, collecting and factoring."""
