"""Joints, one file each: the relative motion of a child body, or the constraints of a closing joint."""

from pendula.model.joints.base import ClosingJoint, Coordinate, Joint, TreeJoint
from pendula.model.joints.coincident import JointCoincident
from pendula.model.joints.coordinates import JointCoordinates
from pendula.model.joints.coupling import JointCoupling
from pendula.model.joints.fixed import JointFixed
from pendula.model.joints.free import JointFree
from pendula.model.joints.loop import JointLoop
from pendula.model.joints.planar import JointPlanar
from pendula.model.joints.point_on_line import JointPointOnLine
from pendula.model.joints.prismatic import JointPrismatic
from pendula.model.joints.registry import JOINTS, AnyJoint, register_joint
from pendula.model.joints.revolute import JointRevolute
from pendula.model.joints.sides import BodySide, Rotation, Side
from pendula.model.joints.spherical import JointSpherical
from pendula.model.joints.universal import JointUniversal

__all__ = [
    "JOINTS",
    "AnyJoint",
    "BodySide",
    "ClosingJoint",
    "Coordinate",
    "Joint",
    "JointCoincident",
    "JointCoordinates",
    "JointCoupling",
    "JointFixed",
    "JointFree",
    "JointLoop",
    "JointPlanar",
    "JointPointOnLine",
    "JointPrismatic",
    "JointRevolute",
    "JointSpherical",
    "JointUniversal",
    "Rotation",
    "Side",
    "TreeJoint",
    "register_joint",
]
