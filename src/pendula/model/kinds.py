"""Elements of several types: the field ``type`` selects the class from a registry.

Joints and forces are such elements. Types that user code registers are read, written and described in the JSON schema
like built-in ones.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, Union

from pydantic import Field, TypeAdapter
from pydantic_core import PydanticCustomError, core_schema

from pendula.model.base import Element
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


def type_name(cls: type[Element]) -> str:
    """The value of the field ``type`` of a class of joints or forces."""
    return str(cls.model_fields["type"].default)


def summary_of(cls: type[Element]) -> str:
    """The first line of a class's docstring."""
    return (cls.__doc__ or "").strip().partition("\n")[0]
