"""Switching times and pulses in expressions of time, and expressions that a run watches for events."""
