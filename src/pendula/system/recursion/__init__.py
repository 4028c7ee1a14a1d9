"""Dynamics by recursion over the bodies (articulated-body algorithm), in time proportional to their number."""
