"""Results of analyses as tables."""
