"""Plots: runs, ensembles, modes, roots, landscapes, maps."""
