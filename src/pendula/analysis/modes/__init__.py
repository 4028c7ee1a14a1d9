"""Modes of small motion: frequencies, damping, shapes, descriptions; free and harmonic response."""
