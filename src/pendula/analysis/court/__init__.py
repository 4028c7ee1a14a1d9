"""Equations compared: formulations with each other, and equations written by others with ours."""
