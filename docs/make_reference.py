"""Writes docs/model.md, the reference of model files, from the model itself: ``python docs/make_reference.py``."""

from __future__ import annotations

import inspect
import typing
from pathlib import Path
from typing import Any

from pendula.model import bodies, forces, joints
from pendula.model.expressions import CONSTANTS, FUNCTIONS
from pendula.model.model import Model

TARGET = Path(__file__).parent / "model.md"

HEAD = """# Model reference

This page is made from the program by `python docs/make_reference.py`.

A model file is TOML. A *scalar* is a number or an expression of parameters in quotes, such as `"m*l**2/12"` or
`"90deg"`. A *vector* is a list of three scalars (or two, in the plane). A *side* names a body and a point of it:
`"ground"`, `{ body = "upper", at = "tip" }` or `{ body = "upper", position = [0, "-l", 0] }`, for joints also with
`rotation = { axis = [0, 0, 1], angle = "30deg" }` or `{ sequence = "zyx", angles = [a, b, c] }`.

"""


def text(kind: Any) -> str:
    """The description of a class, without its example."""
    described = (inspect.getdoc(kind) or "").split("Example:")[0].strip()
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in described.split("\n\n"))


def shown(annotation: Any) -> str:
    """A short word for the type of a field."""
    name = str(annotation)
    for word, found in (
        ("dict", "table"),
        ("Rotation", "rotation"),
        ("Side", "side"),
        *((f"bodies.{shape}", "table") for shape in ("Rod", "Point", "Disc", "Box", "Sphere")),
        ("tuple[int | float | str, int | float | str, int | float | str]", "vector"),
        ("tuple[typing.Annotated[int | float | str", "vector"),
    ):
        if word in name:
            return found
    if typing.get_origin(annotation) is typing.Literal:
        return " or ".join(f"`{x}`" for x in typing.get_args(annotation))
    if "Literal" in name:
        return "one of a list"
    if "tuple" in name:
        return "list"
    if "bool" in name:
        return "true or false"
    return "scalar" if "float" in name else "text"


def fields(kind: Any, skip: tuple[str, ...] = ()) -> list[str]:
    """A table of the fields of an element."""
    rows = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for name, field in kind.model_fields.items():
        if name in skip:
            continue
        default = "required" if field.is_required() else field.get_default(call_default_factory=True)
        default = "" if default in (None, "", {}, ()) else f"`{_plain(default)}`" if default != "required" else default
        rows.append(f"| `{field.alias or name}` | {shown(field.annotation)} | {default} | {field.description or ''} |")
    return rows


def _plain(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def members(union: Any) -> list[Any]:
    """The classes of a tagged union."""
    return list(typing.get_args(typing.get_args(union)[0]))


def page() -> str:
    """The whole page."""
    lines = [HEAD, "## The model", "", text(Model), "", *fields(Model), ""]
    lines += ["## Bodies", "", text(bodies.Body), "", *fields(bodies.Body), ""]
    for kind in (bodies.Rod, bodies.Point, bodies.Disc, bodies.Box, bodies.Sphere, bodies.Shape):
        lines += [f"### {kind.__name__.lower()}", "", text(kind), "", *fields(kind), ""]
    lines += [
        "## Joints",
        "",
        "Every joint has `name`, `type`, `parent` and `child` (sides). Joints that place a body may have",
        "",
    ]
    lines += ["`names` (of the coordinates) and `motion` (prescribed, as expressions of t).", ""]
    for kind in members(joints.AnyJoint):
        lines += [f"### {kind.model_fields['type'].default}", "", text(kind), ""]
        own = fields(kind, skip=("name", "type", "parent", "child", "names", "motion"))
        lines += [*own, ""] if len(own) > 2 else []
    lines += ["## Forces", ""]
    for kind in members(forces.AnyForce):
        lines += [f"### {kind.model_fields['type'].default}", "", text(kind), "", *fields(kind, skip=("type",)), ""]
    lines += ["## Expressions", "", "Numbers, names, `+ - * / **`, brackets, `a if t < t1 else b`, and", ""]
    lines += [
        "- functions: " + ", ".join(f"`{f}`" for f in sorted(FUNCTIONS)),
        "- constants: " + ", ".join(f"`{c}`" for c in CONSTANTS),
    ]
    lines += ["- angles: `90deg` is `90*deg`"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
