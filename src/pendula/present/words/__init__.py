"""Results as text in 80 columns and as plain data."""
