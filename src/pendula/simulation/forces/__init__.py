"""Forces that the steps of a run cannot resolve: narrow in the state, or with jumps to which the motion sticks."""
