"""Small motion about an equilibrium: M, C, K, A, B and labelled eigenvalues."""
