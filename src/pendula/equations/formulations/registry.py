"""Registry of formulations by name: those of the package, imported on first use, and those of user code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pendula.errors import UsageError
from pendula.registry import Registry

if TYPE_CHECKING:
    from pendula.equations.equations import Equations
    from pendula.equations.formulations.support import Support
    from pendula.model.model import Model


class Formulation(Protocol):
    """A way to derive equations of motion.

    Attributes:
        name: the name by which users select it.
        support: its capabilities.

    Example:
        >>> formulations()["kane"].support.closed_loops
        True
    """

    name: str
    support: Support

    def derive(self, model: Model) -> Equations:
        """The equations of motion of a model."""
        ...


FORMULATIONS: Registry[type[Formulation] | Formulation] = Registry("formulation", returns=("Equations",))
"""By name: an instance, or a class whose constructor takes no arguments."""

# Imported on first use, since a run by recursion over the bodies needs none of them.
for _name, _class in (
    ("lagrange", "Lagrange"),
    ("kane", "Kane"),
    ("newton-euler", "NewtonEuler"),
    ("maximal", "Maximal"),
    ("projection", "Projection"),
):
    FORMULATIONS.register(_name, f"pendula.equations.formulations.{_name.replace('-', '_')}:{_class}")


def register_formulation(formulation: Formulation) -> None:
    """Adds a formulation: ``derive``, ``compile_system``, ``check`` and the command line then accept its name.

    Args:
        formulation: an object with ``name``, ``support`` and ``derive(model)``; see :class:`Formulation`.

    Raises:
        UsageError: it lacks one of these, or another module has registered its name.

    Example:
        >>> register_formulation("kane")
        Traceback (most recent call last):
        pendula.errors.UsageError: a formulation has a name, a support and derive(model); 'kane' has no "name"
    """
    for part in ("name", "support", "derive"):
        if not hasattr(formulation, part):
            raise UsageError(f'a formulation has a name, a support and derive(model); {formulation!r} has no "{part}"')
    if not hasattr(formulation.support, "choose"):
        raise UsageError(f'formulation "{formulation.name}": support must be a Support, found {formulation.support!r}')
    FORMULATIONS.register(formulation.name, formulation, summary=formulation.support.choose)


def formulation_named(name: str) -> Formulation:
    """One formulation; raises UsageError for an unknown name."""
    found = FORMULATIONS[name]
    return found() if isinstance(found, type) else found


def formulations() -> dict[str, Formulation]:
    """All formulations by name, each with its capabilities.

    Example:
        >>> [name for name, formulation in formulations().items() if formulation.support.joint_forces]
        ['newton-euler', 'maximal', 'projection']
    """
    return {name: formulation_named(name) for name in FORMULATIONS}
