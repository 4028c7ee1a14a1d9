"""Derivations explained step by step, each step compared with an independent evaluation."""
