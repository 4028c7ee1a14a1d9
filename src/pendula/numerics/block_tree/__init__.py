"""Fast path: block elimination along a tree, for maximal coordinates."""
