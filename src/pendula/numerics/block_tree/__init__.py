"""Fast path: block elimination along a tree, for bodies with their own coordinates."""
