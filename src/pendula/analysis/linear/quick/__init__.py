"""Fast path: linear models of small mechanisms at rest in a few native calls."""
