"""Registry of joint types, from this package and from user code."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pendula.errors import UsageError
from pendula.model.joints.base import ClosingJoint, Joint, TreeJoint
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
from pendula.model.kinds import OneOf, summary_of, type_name
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
    if not (isinstance(joint, type) and issubclass(joint, (TreeJoint, ClosingJoint))):
        raise UsageError(f"a joint type must be a subclass of TreeJoint or ClosingJoint, found {joint!r}")
    if not isinstance(getattr(joint.model_fields.get("type"), "default", None), str):
        raise UsageError(f'{joint.__name__}: a joint type needs a field such as type: Literal["screw"] = "screw"')
    JOINTS.register(type_name(joint), joint, summary=summary_of(joint), module=joint.__module__)
    return joint


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
