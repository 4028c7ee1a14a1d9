"""Results about a system: agreement of formulations; later equilibria, linearization, stability, modes."""
