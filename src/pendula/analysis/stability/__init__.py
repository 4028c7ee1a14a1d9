"""Verdicts on stability, their proofs, and their ranges over a parameter."""
