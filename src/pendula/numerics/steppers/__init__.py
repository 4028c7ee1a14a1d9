"""Steppers: Runge-Kutta pairs, Radau collocation, the loop around their steps, events."""
