"""Forces: springs, dampers, friction, loads, and expressions that act on a coordinate.

Gravity is a field of the model; these forces are added to it. A positive stiffness gives a restoring force, a positive
damping or friction coefficient dissipates energy.

One file for each type of force. ``law``: force laws; ``actions``: where a force acts; ``base``: base classes;
``registry``: all types by name.
"""

from pendula.model.forces.base import (
    Force,
    ForceAcross,
    ForceAtPoint,
    ForceBetween,
    ForceBetweenOrAcross,
    ForceInJoint,
    ForceOnBody,
)
from pendula.model.forces.com_friction import ForceComFriction
from pendula.model.forces.damper import ForceDamper
from pendula.model.forces.friction import ForceFriction
from pendula.model.forces.generalized import ForceGeneralized
from pendula.model.forces.joint_limit import ForceJointLimit
from pendula.model.forces.law import Law
from pendula.model.forces.load import ForceLoad
from pendula.model.forces.registry import FORCES, AnyForce, register_force
from pendula.model.forces.spin_drive import ForceSpinDrive
from pendula.model.forces.spring import ForceSpring
from pendula.model.forces.torque import ForceTorque
from pendula.model.forces.torsion_spring import ForceTorsionSpring

__all__ = [
    "FORCES",
    "AnyForce",
    "Force",
    "ForceAcross",
    "ForceAtPoint",
    "ForceBetween",
    "ForceBetweenOrAcross",
    "ForceComFriction",
    "ForceDamper",
    "ForceFriction",
    "ForceGeneralized",
    "ForceInJoint",
    "ForceJointLimit",
    "ForceLoad",
    "ForceOnBody",
    "ForceSpinDrive",
    "ForceSpring",
    "ForceTorque",
    "ForceTorsionSpring",
    "Law",
    "register_force",
]
