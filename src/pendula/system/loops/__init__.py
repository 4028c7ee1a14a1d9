"""Closed loops: states that close them, mobility, random consistent states."""
