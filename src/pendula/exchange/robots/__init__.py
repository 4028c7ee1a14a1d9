"""Robots: models read from URDF and MJCF files, and written as such files."""
