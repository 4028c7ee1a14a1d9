"""Runs past singularities of charts, and states and runs in other charts."""
