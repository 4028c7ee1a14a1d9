"""Analyses of a system: agreement of formulations, reactions, equilibria, linear models, stability, modes."""
