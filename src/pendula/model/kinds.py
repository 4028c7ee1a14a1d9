"""Elements of several types: the field ``type`` selects the class from a registry.

Joints and forces are such elements. Types that user code registers are read, written and described in the JSON schema
like built-in ones.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Union

from pydantic import Field, TypeAdapter
from pydantic_core import PydanticCustomError, core_schema

from pendula.errors import UsageError
from pendula.model.base import Element
from pendula.model.expressions.functions import CONSTANTS, FUNCTIONS
from pendula.model.names import quote, suggestion
from pendula.registry import Registry


class OneOf:
    """Marks a field that holds an element of any registered type: ``Annotated[Force, OneOf(FORCES)]``."""

    def __init__(self, registry: Registry[Any]) -> None:
        self.registry = registry

    def read(self, value: Any) -> Any:
        """An element as it is, or one made from a table with a field ``type``."""
        kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
        if not isinstance(kind, str) or kind not in self.registry:
            advice = suggestion(str(kind), self.registry)
            cause = f"there is no {self.registry.kind} {quote(str(kind))}; try: {advice}"
            raise PydanticCustomError("unknown_type", "{cause}", {"cause": cause})
        return adapter(self.registry[kind]).validate_python(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        classes = tuple(self.registry.values())
        union: Any = Annotated[Union[classes], Field(discriminator="type")]  # noqa: UP007  # of a tuple
        found: dict[str, Any] = handler(TypeAdapter(union).core_schema)
        return found


@lru_cache(maxsize=1000)
def adapter(cls: type[Element]) -> TypeAdapter[Any]:
    """The pydantic adapter that reads elements of a class; cached."""
    return TypeAdapter(cls)


def declared_name(cls: Any, bases: tuple[type[Element], ...], kind: str, example: str) -> str:
    """The name that a class declares by its field ``type``, for the registries of joints and forces.

    Raises:
        UsageError: it is not a subclass of one of the bases, declares no such field, or a field has the name of a
            constant or function of expressions, which would hide it.
    """
    if not (isinstance(cls, type) and issubclass(cls, bases)):
        known = " or ".join(base.__name__ for base in bases)
        raise UsageError(f"a {kind} type must be a subclass of {known}, found {cls!r}")
    name = getattr(cls.model_fields.get("type"), "default", None)
    if not isinstance(name, str):
        field = f'type: Literal["{example}"] = "{example}"'
        raise UsageError(f"{cls.__name__}: a {kind} type needs a field such as {field}")
    for field in cls.model_fields:
        if field in CONSTANTS or field in FUNCTIONS:
            raise UsageError(f'{kind} type "{name}": a field cannot be called "{field}", as in expressions; rename it')
    return name


def summary_of(cls: type[Element]) -> str:
    """The first line of a class's docstring."""
    return (cls.__doc__ or "").strip().partition("\n")[0]
