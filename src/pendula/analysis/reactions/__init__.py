"""Forces in joints: what each joint transmits, and what is indeterminate."""
