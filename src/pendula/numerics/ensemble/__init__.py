"""Many integrations at once, eight in lockstep."""
