"""Mechanisms as drawings: what is drawn of them, springs, several poses side by side."""
