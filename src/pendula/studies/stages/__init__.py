"""Studies in stages: which cases to compute next, and when there are enough."""
