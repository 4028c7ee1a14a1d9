"""Equations at rest: forces, loops and rotations, for proofs about equilibria."""
