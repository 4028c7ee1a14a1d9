"""The expression language of model files: a small parser, its nodes, their values and their text."""
