"""Modes of small motion: frequencies, damping, shapes, words; free and harmonic response."""
