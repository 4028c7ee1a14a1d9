"""Fast path: the equations of a system as recurrences on Taylor coefficients."""
