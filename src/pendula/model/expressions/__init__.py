"""The expression language of model files: parser, syntax tree, evaluation and canonical text."""
