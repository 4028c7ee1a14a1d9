"""Compiled equations: numeric functions of named states."""
