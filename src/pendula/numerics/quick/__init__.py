"""Fast path: reductions and roots of small linear models in one native call."""
