"""Proofs that a list of equilibria is complete: by structure, and by interval arithmetic."""
