"""Writes docs/model.md, docs/formulations.md and the tables of joints in docs/conventions.md from the program itself:
``python docs/make_reference.py``."""

from __future__ import annotations

import inspect
import sys
import typing
from pathlib import Path
from typing import Any

import pendula
from pendula.equations.derive import DEFAULT
from pendula.equations.formulations.support import ABILITIES, SOLVED
from pendula.equations.printing.counts import count
from pendula.model import bodies
from pendula.model.expressions.functions import FUNCTIONS
from pendula.model.expressions.nodes import CONSTANTS
from pendula.model.fields import field_texts
from pendula.model.forces.registry import FORCES
from pendula.model.joints import JOINTS, ClosingJoint, TreeJoint
from pendula.model.model import Model
from pendula.registry import Registry
from pendula.storage.files import write_text

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from formulation_texts import TEXTS  # noqa: E402

HEAD = """# Model reference

`python docs/make_reference.py` generates this page from the program.

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
    if typing.get_origin(annotation) is tuple and "Literal" in name:
        return "list of " + shown(typing.get_args(annotation)[0])
    if name.startswith("tuple[tuple["):
        return "list of vectors"
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
    meanings = field_texts(kind)
    for name, field in kind.model_fields.items():
        if name in skip:
            continue
        default = "required" if field.is_required() else field.get_default(call_default_factory=True)
        default = "" if default in (None, "", {}, ()) else f"`{_plain(default)}`" if default != "required" else default
        rows.append(
            f"| `{field.alias or name}` | {shown(field.annotation)} | {default} | {' '.join(meanings.get(name, '').split())} |"
        )
    return rows


def _plain(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def registered(registry: Registry[Any]) -> list[Any]:
    """The classes of a registry that come with the package."""
    return [registry[entry.name] for entry in registry.entries() if entry.module.startswith("pendula.")]


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
        "`names` (of the coordinates) and `motion`: where the joint is, prescribed as an expression of t in text. A joint with",
        'one coordinate takes one text (`motion = "0.1*sin(5*t)"`), others a table by coordinate',
        '(`motion = { x = "0.1*t", y = "0" }`). The force or torque that this needs is found, and its work is in the energy account.',
        "",
    ]
    for kind in registered(JOINTS):
        lines += [f"### {kind.model_fields['type'].default}", "", text(kind), ""]
        own = fields(kind, skip=("name", "type", "parent", "child", "names", "motion"))
        lines += [*own, ""] if len(own) > 2 else []
    lines += ["## Forces", ""]
    for kind in registered(FORCES):
        lines += [f"### {kind.model_fields['type'].default}", "", text(kind), "", *fields(kind, skip=("type",)), ""]
    lines += ["## Expressions", "", "Numbers, names, `+ - * / **`, brackets, `a if t < t1 else b`, and", ""]
    lines += [
        "- functions: " + ", ".join(f"`{f}`" for f in sorted(FUNCTIONS)),
        "- constants: " + ", ".join(f"`{c}`" for c in CONSTANTS),
    ]
    lines += [
        "- angles: `90deg` is `90*deg`",
        '- units: a text that is one number with units (`"0.5 m"`, `"12 inch"`, `"5 kg*m^2"`, `"60 rpm"`) is converted to the '
        "units of the model's label, in every numeric field, in `-p`, `--start`, `--at`, `--input`, and in arguments of Python. The "
        "dimension is checked where the field determines it: a mass for a length is refused. This needs pint "
        '(`pip install "pendula[units]"`); files that are written contain the numbers',
        '- feedback: the value of an input may name coordinates and speeds, as `F = "-3*x - 2*x_dot"` '
        "([inputs and control](control.md))",
    ]
    lines += [
        "- jumps: a force may jump in the state (`sign(theta_dot)`, a condition). Where a motion would stick to the jump, "
        "as with dry friction, a run stops and says so: try `tanh(theta_dot/0.001)`, which creeps instead of sticking, "
        "with the stepper radau"
    ]
    return "\n".join(lines) + "\n"


FORMULATIONS_HEAD = """# How to choose a formulation

`python docs/make_reference.py` generates this page from the program, and `tests/equations/test_support.py` tests every yes
and no below.

Five formulations derive the equations of one model. They share poses, the list of loads and the list of constraint rows,
and no dynamics, so that `pendula check` can compare them with each other. All fill the same form
([conventions](conventions.md)), so that everything downstream works with each of them:

    q' = N v + n      M v' = f + G^T lam      g = 0      G v = b      G v' = c

If in doubt, name none: the default is `{default}`. Otherwise choose
"""

LINKS = (10, 20)
"""Lengths of the chains whose operations are counted."""


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _power(n: int) -> str:
    return "n" if n == 1 else f"n^{n}"


def _operations(name: str, coordinates: str) -> str:
    """Operations of chains of some lengths."""
    chains = [pendula.library.chain(links=n, coordinates=coordinates) for n in LINKS]
    return ", ".join(str(count(pendula.derive(chain, name)).operations_shared) for chain in chains)


def formulations_page() -> str:
    """The page about formulations."""
    known = pendula.derivation.formulations()
    lines = [FORMULATIONS_HEAD.format(default=DEFAULT)]
    lines += [f"- `{name}` {f.support.choose}." for name, f in known.items()]
    lines += ["", "## What each supports", ""]
    rows = [["coordinates q", *(f"of the {f.support.coordinates}" for f in known.values())]]
    for ability, words in ABILITIES.items():
        rows.append([words, *("yes" if getattr(f.support, ability) else "no" for f in known.values())])
    rows.append(["accelerations found by", *(f"`{f.support.solved}`" for f in known.values())])
    lines += _table(["", *(f"`{name}`" for name in known)], rows)
    lines += ["", "An unsupported request raises `NotSupported`, which names the formulations that support it."]
    lines += ["`maximal` has a mass matrix, too: that of the bodies' speeds.", ""]
    lines += [f"- `{name}`: {words}." for name, words in SOLVED.items()]
    lines += [
        "",
        "## What each costs",
        "",
        "Number of operations in M, f, G and c for a chain of n links, with shared parts",
    ]
    lines += [f"counted once, for n = {LINKS[0]} and {LINKS[1]}, and the power of n with which it grows:", ""]
    rows = []
    for name, f in known.items():
        absolute, relative = (_power(x) for x in f.support.growth)
        first, second = (_operations(name, kind) for kind in ("absolute", "relative"))
        rows.append([f"`{name}`", first, absolute, second, relative, _power(f.support.solution)])
    lines += _table(["", "absolute angles", "growth", "relative angles", "growth", "growth of the solve"], rows)
    for name, (title, text, example) in TEXTS.items():
        support = known[name].support
        lines += ["", f"## {title}", "", f"Based on {support.uses}. Choose it {support.choose}.", "", text, ""]
        lines += ["```python", *(["import pendula", ""] if name == next(iter(TEXTS)) else []), example, "```"]
    return "\n".join(lines) + "\n"


JOINT_TABLES = ("<!-- tables of joints -->\n\n", "\n<!-- end of the tables of joints -->")
EXAMPLE_FIELDS: dict[str, dict[str, Any]] = {"coordinates": {"coordinates": ["s"]}, "coupling": {"value": "a - 2*b"}}
"""Fields that a joint of the tables must have."""


def _names(found: Any) -> str:
    """Names with what they measure, equal ones together: `j_x` `j_y` length, `j_angle` angle."""
    groups: list[tuple[str, list[str]]] = []
    for c in found:
        if not groups or groups[-1][0] != c.kind:
            groups.append((c.kind, []))
        groups[-1][1].append(f"`{c.name}`")
    return ", ".join(f"{' '.join(names)} ({kind})" for kind, names in groups) or "none"


def joint_tables() -> str:
    """Coordinates and speeds of every joint that places a body, and what closing joints demand."""
    rows, closing = [], []
    for kind in registered(JOINTS):
        name = kind.model_fields["type"].default
        ways: list[dict[str, Any]] = [{}]
        if "orientation" in kind.model_fields:
            ways += [{"orientation": way} for way in ("zyz", "rotation vector")]
        for more in ways:
            joint = kind(name="j", parent="ground", child="body", **EXAMPLE_FIELDS.get(name, {}), **more)
            if isinstance(joint, TreeJoint):
                way = f' with `orientation = "{more["orientation"]}"`' if more else ""
                speeds = " ".join(f"`{s.name}`" for s in joint.speeds()) or "none"
                rows.append([f"{name}{way}", text(kind).partition("\n")[0], _names(joint.coordinates()), speeds])
            elif isinstance(joint, ClosingJoint):
                closing.append([name, text(kind).partition("\n")[0]])
    lines = _table(["Joint", "Motion of its child side", "Coordinates of a joint called `j`", "Speeds"], rows)
    lines += ["", *_table(["Closing joint", "What it demands"], closing)]
    return "\n".join(lines) + "\n"


def conventions_page() -> str:
    """The page of conventions with its tables of joints made again."""
    page = (HERE / "conventions.md").read_text(encoding="utf-8")
    first, last = JOINT_TABLES
    head, _, rest = page.partition(first)
    return head + first + joint_tables() + last + rest.partition(last)[2]


FORMAT_TABLE = ("<!-- formats -->\n", "<!-- end of formats -->\n")


def exchange_page() -> str:
    """The page on exchange with its table of formats made again."""
    from pendula.exchange.exporting import export_endings, exporters

    endings = {name: ending for ending, name in export_endings().items()}
    rows = [[f"`{name}`", f"`{endings[name]}`" if name in endings else "", what] for name, what in exporters().items()]
    page = (HERE / "exchange.md").read_text(encoding="utf-8")
    first, last = FORMAT_TABLE
    head, _, rest = page.partition(first)
    return (
        head
        + first
        + "\n".join(_table(["Format", "Ending", "What it is"], rows))
        + "\n"
        + last
        + rest.partition(last)[2]
    )


PAGES = {
    "model.md": page,
    "formulations.md": formulations_page,
    "conventions.md": conventions_page,
    "exchange.md": exchange_page,
}

if __name__ == "__main__":
    for name, make in PAGES.items():
        write_text(HERE / name, make())
