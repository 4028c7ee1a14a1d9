"""From a model to equations of motion; one file per formulation."""
