"""Equations against each other: formulations, and equations written by others."""
