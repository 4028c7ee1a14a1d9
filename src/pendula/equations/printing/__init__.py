"""Equations for people and other programs: text, LaTeX, MathML, Python, C, JSON."""
