"""Derives equations of motion from a model; one file per formulation."""
