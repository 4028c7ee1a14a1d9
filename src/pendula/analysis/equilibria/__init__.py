"""Equilibria: the search for all of them, proofs that none is missing, trim."""
