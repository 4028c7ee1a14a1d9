"""Fast path: the dynamics of bodies with their own coordinates, solved along the tree."""
