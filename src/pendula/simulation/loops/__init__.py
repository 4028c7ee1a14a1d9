"""Closed loops in a run: check of the initial pose, stabilization, passage through singular poses."""
