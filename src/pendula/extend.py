"""Adding to Pendula from outside: one function for each kind of thing that can be added.

A file that calls these functions is an extension; ``docs/extending.md`` walks through one of each kind.
"""

from __future__ import annotations

from pendula.model.forces.registry import register_force

__all__ = ["register_force"]
