"""Default settings of a run, for functions and for the command line."""

TOLERANCE = 1e-8
"""relative tolerance of a step, and absolute tolerance in units of the model"""
SHORTEST = 1e-100
"""shortest duration of a run that is not 0 [time unit]"""
MAX_STEPS = 1_000_000
"""largest number of steps of a run"""
UNTRUSTED = 1e-3
"""energy drift, relative to the energy scale, above which a run is not to be trusted"""
OPEN = 1e-3
"""largest gap of the loops, relative to a typical length, above which a run is not to be trusted"""
LOST = 1e-3
"""estimated error of a coordinate [rad, or typical length] above which the digits of a run count as lost"""
LEAST_SCALE = 1e-11
"""smallest scale of energies, relative to their values: below it, changes of energy are rounding errors"""
ROUNDED_ENERGY = 1e-14
"""energy errors, relative to the largest energy, that rounding explains"""
LOOSEST_WITH_SLOPES = 1e-3
"""largest tolerance of a motion together with its derivatives"""
