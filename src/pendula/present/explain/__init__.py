"""Derivations as documents: one self-contained page, or LaTeX."""
