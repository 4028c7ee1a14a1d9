"""The description of a mechanism: bodies, joints, forces, parameters, initial state, checks, files.

This module exports the classes of a model's parts. A model can also be made from plain tables, as in a model file.

Example:
    >>> import pendula
    >>> pendula.model.JointRevolute(name="elbow", parent="upper", child="lower").type
    'revolute'
"""

from pendula.lazy import attach

NAMES = {
    "pendula.model.bodies": "Body Box Disc Point Rod Shape Sphere",
    "pendula.model.forces": """
        ForceComFriction ForceDamper ForceFriction ForceGeneralized ForceJointLimit ForceLoad ForceSpinDrive ForceSpring
        ForceTorque ForceTorsionSpring
    """,
    "pendula.model.joints": """
        Coordinate JointCoincident JointCoordinates JointCoupling JointFixed JointFree JointLoop JointPlanar
        JointPointOnLine JointPrismatic JointRevolute JointSpherical JointUniversal Rotation Side
    """,
    "pendula.model.model": "Model",
    "pendula.model.units": "Units",
    "pendula.model.windows": "drive_window",
}
"""Every public name of this module, by the module that defines it."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
