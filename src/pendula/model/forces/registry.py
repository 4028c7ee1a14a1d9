"""Registry of force types by name. A new type is one file with its class and one line here."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pendula.errors import UsageError
from pendula.model.fields import Mark
from pendula.model.forces.base import Force
from pendula.model.forces.com_friction import ForceComFriction
from pendula.model.forces.damper import ForceDamper
from pendula.model.forces.friction import ForceFriction
from pendula.model.forces.generalized import ForceGeneralized
from pendula.model.forces.joint_limit import ForceJointLimit
from pendula.model.forces.load import ForceLoad
from pendula.model.forces.spin_drive import ForceSpinDrive
from pendula.model.forces.spring import ForceSpring
from pendula.model.forces.torque import ForceTorque
from pendula.model.forces.torsion_spring import ForceTorsionSpring
from pendula.model.kinds import OneOf, summary_of, type_name
from pendula.registry import Registry

F = TypeVar("F", bound=Force)

FORCES: Registry[type[Force]] = Registry("force type")
"""Every type of force that a model may use."""


def register_force(cls: type[F]) -> type[F]:
    """Adds a type of force; the default of its field ``type`` names it. May be used as a decorator.

    Raises:
        UsageError: the class has no such field, the name is taken, or its law is wrong: it uses names that are not
            fields, or its elastic force is not the derivative of its potential.

    Example:
        >>> from typing import Literal
        >>> from pendula.model.forces import ForceSpring, Law
        >>> class ForceHard(ForceSpring):
        ...     "A spring that gets harder."
        ...
        ...     type: Literal["hard"] = "hard"
        ...     law = Law(elastic="stiffness*x**3", potential="stiffness*x**4/4")
        >>> register_force(ForceHard).__name__, FORCES.summary("hard")
        ('ForceHard', 'A spring that gets harder.')
        >>> FORCES.remove("hard").__name__
        'ForceHard'
    """
    if "type" not in cls.model_fields or not isinstance(cls.model_fields["type"].default, str):
        raise UsageError(f'{cls.__name__}: a type of force needs a field such as type: Literal["cable"] = "cable"')
    name = type_name(cls)
    numeric = frozenset(n for n, field in cls.model_fields.items() if Mark.EXPRESSION in field.metadata)
    if fault := cls.law.fault(numeric):
        raise UsageError(f'force type "{name}": {fault}')
    FORCES.register(name, cls, summary=summary_of(cls), module=cls.__module__)
    return cls


for _built_in in (
    ForceTorsionSpring,
    ForceSpring,
    ForceDamper,
    ForceFriction,
    ForceJointLimit,
    ForceComFriction,
    ForceSpinDrive,
    ForceLoad,
    ForceTorque,
    ForceGeneralized,
):
    register_force(_built_in)

AnyForce = Annotated[Force, OneOf(FORCES)]
