"""Orientations: charts in numbers, conversion between them, their singularities, and systems in other charts."""
