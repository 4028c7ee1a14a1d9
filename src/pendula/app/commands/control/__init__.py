"""Commands of control and of fits to measurements."""
