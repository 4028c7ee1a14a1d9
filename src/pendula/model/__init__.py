"""The description of a mechanism: bodies, joints, forces, parameters, initial state, checks, files."""
