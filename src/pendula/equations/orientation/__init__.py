"""Orientations in symbols, and their angular-velocity maps."""
