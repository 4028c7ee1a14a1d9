"""Bounds that hold for all numbers in a box, and with them all roots of equations, with proof."""
