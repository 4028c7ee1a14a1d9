"""The derivation in stages, each simplified step by step with counts and checks: rotations to generalized inertia."""
