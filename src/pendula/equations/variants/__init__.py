"""Variants of derived equations: M and f written by others; prescribed motions held at rest."""
