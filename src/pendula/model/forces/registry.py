"""Registry of force types by name. A new type is one file with its class and one line here."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from pendula.errors import UsageError
from pendula.model.fields import Mark
from pendula.model.forces.base import Force, ForceAcross, ForceBetween, ForceBetweenOrAcross, ForceInJoint
from pendula.model.forces.com_friction import ForceComFriction
from pendula.model.forces.damper import ForceDamper
from pendula.model.forces.friction import ForceFriction
from pendula.model.forces.generalized import ForceGeneralized
from pendula.model.forces.joint_limit import ForceJointLimit
from pendula.model.forces.law import Law
from pendula.model.forces.load import ForceLoad
from pendula.model.forces.spin_drive import ForceSpinDrive
from pendula.model.forces.spring import ForceSpring
from pendula.model.forces.torque import ForceTorque
from pendula.model.forces.torsion_spring import ForceTorsionSpring
from pendula.model.kinds import OneOf, declared_name, summary_of
from pendula.model.names import quote, suggestion
from pendula.model.problems import shown
from pendula.registry import Registry

F = TypeVar("F", bound=Force)

FORCES: Registry[type[Force]] = Registry("force type")
"""Every type of force that a model may use."""


def register_force(cls: type[F]) -> type[F]:
    """Adds a type of force; the default of its field ``type`` names it. May be used as a decorator.

    Raises:
        UsageError: it is not such a class, the name is taken, ``units``, ``measures`` or ``drawn_as`` is wrong, or its
            law is: it is missing, uses names that are not fields, or its elastic force is not the derivative of its
            potential.

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
    name = declared_name(cls, (Force,), "force", "cable")
    if fault := _fault(cls):
        raise UsageError(f'force type "{name}": {fault}')
    FORCES.register(name, cls, summary=summary_of(cls), module=cls.__module__)
    return cls


def _fault(cls: type[Force]) -> str:
    """What is wrong with the class variables of a type of force; empty if nothing is."""
    numeric = frozenset(n for n, field in cls.model_fields.items() if Mark.EXPRESSION in field.metadata)
    law: Any = cls.law
    if not isinstance(law, Law):
        return f"its law must be a Law(...), found {shown(law)}"
    has_law = issubclass(cls, (ForceBetween, ForceAcross, ForceBetweenOrAcross, ForceInJoint))
    if has_law and cls.law == Law() and cls.actions.__module__ == Force.__module__:
        return "it has no law, so it would have no effect; try: law = Law(drag=...), or elastic=... and potential=..."
    for variable in ("measures", "drawn_as"):
        known = get_args(get_args(get_type_hints(Force if variable == "drawn_as" else ForceAcross)[variable])[0])
        if (value := getattr(cls, variable, "")) not in known:
            return f"{variable} must be one of {', '.join(quote(one) for one in known if one)}, found {shown(value)}"
    for name in cls.units:
        if name not in cls.model_fields:
            return f"units has an entry {quote(name)}, which is not a field; {suggestion(name, cls.model_fields)}"
    if fault := cls.law.fault(numeric):
        return fault
    if cls.__module__.startswith("pendula."):  # a test compares these, which takes long for an import
        return ""
    return cls.law.mismatch({}, signed=not issubclass(cls, ForceBetween))


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
