"""Runs and ensembles as tables, and back again."""
