"""Simulation: integrates a system from an initial state to a trajectory."""
