"""Equilibria: search for all of them, proofs of completeness, trim."""
