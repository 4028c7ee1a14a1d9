"""The description of a mechanism: bodies, joints, forces, parameters, initial state, checks, files.

The parts of a model are the names of this module; a model may as well be made from plain tables, as in a model file.

Example:
    >>> import pendula
    >>> pendula.model.JointRevolute(name="elbow", parent="upper", child="lower").type
    'revolute'
"""

from __future__ import annotations

from pendula.lazy import attach

NAMES = {
    "Body": "pendula.model.bodies",
    "Box": "pendula.model.bodies",
    "Coordinate": "pendula.model.joints",
    "Disc": "pendula.model.bodies",
    "ForceComFriction": "pendula.model.forces",
    "ForceDamper": "pendula.model.forces",
    "ForceFriction": "pendula.model.forces",
    "ForceGeneralized": "pendula.model.forces",
    "ForceLoad": "pendula.model.forces",
    "ForceSpinDrive": "pendula.model.forces",
    "ForceSpring": "pendula.model.forces",
    "ForceTorque": "pendula.model.forces",
    "ForceTorsionSpring": "pendula.model.forces",
    "JointCoincident": "pendula.model.joints",
    "JointCoordinates": "pendula.model.joints",
    "JointFixed": "pendula.model.joints",
    "JointFree": "pendula.model.joints",
    "JointLoop": "pendula.model.joints",
    "JointPlanar": "pendula.model.joints",
    "JointPointOnLine": "pendula.model.joints",
    "JointPrismatic": "pendula.model.joints",
    "JointRevolute": "pendula.model.joints",
    "JointSpherical": "pendula.model.joints",
    "JointUniversal": "pendula.model.joints",
    "Model": "pendula.model.model",
    "Point": "pendula.model.bodies",
    "Rod": "pendula.model.bodies",
    "Rotation": "pendula.model.joints",
    "Shape": "pendula.model.bodies",
    "Side": "pendula.model.joints",
    "Sphere": "pendula.model.bodies",
    "Units": "pendula.model.units",
}
"""Every public name of this module and where it lives."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
