"""The story of a derivation: every step from the frames to the equations of motion, with its formulas."""
