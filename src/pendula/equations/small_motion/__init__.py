"""Small motion in symbols: M, C, K about an equilibrium, which terms were dropped and why, conditions for stability."""
