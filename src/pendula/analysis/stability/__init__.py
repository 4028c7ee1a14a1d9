"""Stability: the verdict on an equilibrium with its proof, and verdicts over a parameter."""
