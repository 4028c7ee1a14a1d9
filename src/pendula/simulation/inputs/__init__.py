"""Inputs of a run: expressions, time series, Python functions and sampled controllers, by name."""
