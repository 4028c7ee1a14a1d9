"""Periodically driven mechanisms: Floquet multipliers and stability boundaries."""
