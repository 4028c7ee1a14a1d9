"""Chaos: Lyapunov exponents, divergence of neighbouring motions, horizon of prediction."""
