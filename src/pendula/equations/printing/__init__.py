"""Output of equations: text, LaTeX, MathML, Python, C, JSON."""
