"""Registry of joint types, from this package and from user code."""

from __future__ import annotations

from typing import Annotated, TypeVar, get_args

from pendula.errors import UsageError
from pendula.model.joints.base import ClosingJoint, Joint, Kind, TreeJoint
from pendula.model.joints.coincident import JointCoincident
from pendula.model.joints.coordinates import JointCoordinates
from pendula.model.joints.coupling import JointCoupling
from pendula.model.joints.fixed import JointFixed
from pendula.model.joints.free import JointFree
from pendula.model.joints.loop import JointLoop
from pendula.model.joints.planar import JointPlanar
from pendula.model.joints.point_on_line import JointPointOnLine
from pendula.model.joints.prismatic import JointPrismatic
from pendula.model.joints.revolute import JointRevolute
from pendula.model.joints.spherical import JointSpherical
from pendula.model.joints.universal import JointUniversal
from pendula.model.kinds import OneOf, declared_name, summary_of
from pendula.model.problems import shown
from pendula.registry import Registry

J = TypeVar("J", bound=type[Joint])

JOINTS: Registry[type[Joint]] = Registry("joint type")
"""Every type of joint that a model may use."""


def register_joint(joint: J) -> J:
    """Adds a joint type to models, model files, the schema and the docs; usable as a decorator.

    Args:
        joint: a subclass of ``TreeJoint`` with a method ``steps``, or of ``ClosingJoint`` with a method ``rows``.
            Its field ``type: Literal["..."] = "..."`` names it in model files, the first line of its docstring
            describes it.

    Raises:
        UsageError: it is not such a class, or another module has registered a joint of that type.

    Example:
        >>> from typing import Literal
        >>> from pendula.model.joints.steps import AXES, Turn
        >>> class JointHinge(TreeJoint):
        ...     "A turn about the z axis."
        ...
        ...     type: Literal["hinge"] = "hinge"
        ...     freedoms = (("", "angle"),)
        ...
        ...     def steps(self):
        ...         return (Turn(AXES["z"], self.coordinate_names()[0]),)
        >>> register_joint(JointHinge).__name__, JOINTS.summary("hinge")
        ('JointHinge', 'A turn about the z axis.')
        >>> JOINTS.remove("hinge").__name__
        'JointHinge'
    """
    name = declared_name(joint, (TreeJoint, ClosingJoint), "joint", "screw")
    if fault := _fault(getattr(joint, "freedoms", ())):
        raise UsageError(f'joint type "{name}": {fault}; try: freedoms = (("", "angle"),)')
    JOINTS.register(name, joint, summary=summary_of(joint), module=joint.__module__)
    return joint


def _fault(freedoms: object) -> str:
    """What is wrong with the class variable ``freedoms`` of a joint type; empty if nothing is."""
    wanted = "freedoms must be a tuple of pairs, the ending of a name and a kind"
    if not isinstance(freedoms, tuple):
        return f"{wanted}, found {shown(freedoms)}"
    for one in freedoms:
        if not (isinstance(one, tuple) and len(one) == 2 and all(isinstance(part, str) for part in one)):
            return f"{wanted}, found {shown(one)} in it"
        if one[1] not in get_args(Kind):
            return f"the kind of a coordinate is one of {', '.join(get_args(Kind))}, found {shown(one[1])}"
    kinds = [kind for _, kind in freedoms]
    if "quaternion" in kinds and (kinds[-4:] != ["quaternion"] * 4 or kinds.count("quaternion") != 4):
        return "a quaternion has four coordinates, and freedoms lists them last"
    return ""


for _joint in (
    JointFixed,
    JointRevolute,
    JointPrismatic,
    JointPlanar,
    JointUniversal,
    JointSpherical,
    JointFree,
    JointCoordinates,
    JointCoincident,
    JointPointOnLine,
    JointLoop,
    JointCoupling,
):
    register_joint(_joint)

AnyJoint = Annotated[Joint, OneOf(JOINTS)]
"""A joint of any registered type."""
