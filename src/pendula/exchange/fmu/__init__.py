"""Functional mock-up units: FMI 2.0 and 3.0, co-simulation and model exchange, as C without Python."""
