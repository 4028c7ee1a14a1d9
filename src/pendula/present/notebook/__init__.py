"""What notebooks show: HTML and LaTeX of every result, self-contained and small."""
