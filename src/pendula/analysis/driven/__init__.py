"""Periodically driven mechanisms: Floquet multipliers and their limits."""
