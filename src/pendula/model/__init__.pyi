# Made by docs/make_stubs.py from NAMES of the module beside it.

from pendula.model.bodies import Body as Body
from pendula.model.bodies import Box as Box
from pendula.model.bodies import Disc as Disc
from pendula.model.bodies import Point as Point
from pendula.model.bodies import Rod as Rod
from pendula.model.bodies import Shape as Shape
from pendula.model.bodies import Sphere as Sphere
from pendula.model.forces import ForceComFriction as ForceComFriction
from pendula.model.forces import ForceDamper as ForceDamper
from pendula.model.forces import ForceFriction as ForceFriction
from pendula.model.forces import ForceGeneralized as ForceGeneralized
from pendula.model.forces import ForceJointLimit as ForceJointLimit
from pendula.model.forces import ForceLoad as ForceLoad
from pendula.model.forces import ForceSpinDrive as ForceSpinDrive
from pendula.model.forces import ForceSpring as ForceSpring
from pendula.model.forces import ForceTorque as ForceTorque
from pendula.model.forces import ForceTorsionSpring as ForceTorsionSpring
from pendula.model.joints import Coordinate as Coordinate
from pendula.model.joints import JointCoincident as JointCoincident
from pendula.model.joints import JointCoordinates as JointCoordinates
from pendula.model.joints import JointCoupling as JointCoupling
from pendula.model.joints import JointFixed as JointFixed
from pendula.model.joints import JointFree as JointFree
from pendula.model.joints import JointLoop as JointLoop
from pendula.model.joints import JointPlanar as JointPlanar
from pendula.model.joints import JointPointOnLine as JointPointOnLine
from pendula.model.joints import JointPrismatic as JointPrismatic
from pendula.model.joints import JointRevolute as JointRevolute
from pendula.model.joints import JointSpherical as JointSpherical
from pendula.model.joints import JointUniversal as JointUniversal
from pendula.model.joints import Rotation as Rotation
from pendula.model.joints import Side as Side
from pendula.model.model import Model as Model
from pendula.model.units import Units as Units
from pendula.model.windows import drive_window as drive_window

__all__ = [
    "Body",
    "Box",
    "Coordinate",
    "Disc",
    "ForceComFriction",
    "ForceDamper",
    "ForceFriction",
    "ForceGeneralized",
    "ForceJointLimit",
    "ForceLoad",
    "ForceSpinDrive",
    "ForceSpring",
    "ForceTorque",
    "ForceTorsionSpring",
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
    "Model",
    "Point",
    "Rod",
    "Rotation",
    "Shape",
    "Side",
    "Sphere",
    "Units",
    "drive_window",
]
