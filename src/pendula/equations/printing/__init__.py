"""Output of equations: text, LaTeX, MathML, JSON, and programs in several languages."""
