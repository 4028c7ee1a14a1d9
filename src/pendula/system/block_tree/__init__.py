"""Fast path: dynamics in maximal coordinates, solved along the tree."""
