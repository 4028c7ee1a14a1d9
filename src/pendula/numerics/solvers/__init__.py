"""Linear solvers, orthogonal complement, Newton's method."""
