"""Joint reactions: the constraint wrench of every joint, and what is statically indeterminate."""
