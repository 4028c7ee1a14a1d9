"""Fits: parameters and initial values from measurements, with confidence intervals and identifiability in words."""
