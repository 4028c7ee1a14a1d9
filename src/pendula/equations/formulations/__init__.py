"""The formulations, one file each: Lagrange, Kane, Newton-Euler, maximal coordinates, projection."""
