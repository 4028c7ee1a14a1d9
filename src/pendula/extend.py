"""Adding to Pendula from outside: one function for each kind of thing that can be added.

A file that calls these functions is an extension; ``docs/extending.md`` walks through one of each kind.
"""

from __future__ import annotations

from pendula.model.forces.registry import register_force
from pendula.model.joints.registry import register_joint

__all__ = ["register_force", "register_joint"]
