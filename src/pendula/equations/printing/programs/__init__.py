"""Equations as programs, one file for each language; ``listing.py`` holds what all of them print."""
