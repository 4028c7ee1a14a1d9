"""Default settings of a run, for functions and for the command line."""

TOLERANCE = 1e-8
"""relative tolerance of a step, and absolute tolerance in units of the model"""
MAX_STEPS = 1_000_000
"""largest number of steps of a run"""
