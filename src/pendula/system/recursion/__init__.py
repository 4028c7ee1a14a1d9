"""Dynamics by recursion over the bodies: from the tips to ground and back, in time proportional to their number."""
