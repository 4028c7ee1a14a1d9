"""What a run goes by where nothing else is asked for; read by functions and by the command line."""

TOLERANCE = 1e-8
"""relative error of a step, and absolute error in units of the model"""
MAX_STEPS = 1_000_000
"""steps after which a run stops"""
