"""Fast path: reduction and eigenvalues of small linear models in one native call."""
