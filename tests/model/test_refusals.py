"""What is no model at all, too large, hostile or wrong in many places: one ModelError, quickly, with all problems."""

from __future__ import annotations

import copy
import datetime
import os
import re
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import pendula
from pendula.errors import ModelError, PendulaError, UsageError
from pendula.model.bodies import Body, Box, Disc, Point, Rod, Shape, Sphere
from pendula.model.checks.checks import MOST_PROBLEMS
from pendula.model.files import LARGEST_FILE, from_data
from pendula.model.forces import ForceDamper, ForceFriction, ForceSpring
from pendula.model.joints import JointRevolute, JointSpherical, Rotation, Side
from pendula.model.model import Model
from pendula.model.reading import MOST_BODIES, MOST_PARAMETERS
from tests.helpers.choices import in_turn, slow_too
from tests.model import kitchen_sink
from tests.model.test_bad_models import BASE, LONGEST, added, changed, refused

# --- Files ------------------------------------------------------------------------------------------------


def test_missing_file_is_refused(tmp_path: Path) -> None:
    assert "nowhere.toml: file: there is no such file" in str(refused(tmp_path / "nowhere.toml"))
    assert "there is no such folder" in str(refused(tmp_path / "no" / "rope.toml"))
    (tmp_path / "rope.toml").touch()
    (tmp_path / "rop.txt").touch()
    assert 'rope.toml"?' in str(refused(tmp_path / "rop.toml"))


def test_directory_is_refused(tmp_path: Path) -> None:
    assert "it cannot be read: Is a directory" in str(refused(tmp_path))


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        ("", "there is no such file"),
        ("a\0b.toml", "it cannot be read"),
        ("x" * 5000, "it cannot be read"),
        ("no\nsuch\x1b[31m.toml", "there is no such file"),
    ],
)
def test_impossible_path_is_refused(path: str, cause: str) -> None:
    message = str(refused(path))
    assert cause in message
    assert "\x1b" not in message


@pytest.mark.parametrize("path", [None, 3.5, ["a.toml"], {}])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(UsageError, match="load expects the path of a model file, found a"):
        pendula.load(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret.toml"
    path.write_text(BASE)
    path.chmod(0)
    assert "Permission denied" in str(refused(path))


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"name = 'a", "it is not valid TOML"),
        (b"name = \n", "it is not valid TOML: Invalid value (at line 1, column 8)"),
        (b"= 1", "it is not valid TOML"),
        (b"[a\n", "it is not valid TOML"),
        (b"a = 1\na = 2\n", "Cannot overwrite a value"),
        (b"[a]\n[a]\n", "Cannot declare"),
        (b'name = "\\q"', "it is not valid TOML"),
        (b"name = '\x00'", "it is not valid TOML"),
        (b"x = 2020-13-45", "it is not valid TOML"),
        (b"x = " + b"1" * 5000, "it is not valid TOML: an integer has too many digits"),
        (b"\xff\xfe\x00n\x00a", "it is not UTF-8 text (byte 1 of 6)"),
        (b"name = '\xe9'", "it is not UTF-8 text (byte 9 of 10)"),
        (BASE.encode("utf-16"), "it is not UTF-8 text"),
        (b"\x7fELF\x02\x01\x01\x00", "it is not valid TOML"),
        (b"PK\x03\x04", "it is not valid TOML"),
        (b"{}", "it is not valid TOML"),
        (b"#" * (LARGEST_FILE + 1), f"it is larger than {LARGEST_FILE} bytes"),
        (b"x = " + b"[" * 100_000, "nested too deeply"),
        (b"x = " + b"{ a = " * 100_000, "nested too deeply"),
        (b"a." * 900_000 + b"a = 1", "parts joined by dots"),
        (b"[" + b"a." * 900_000 + b"a]", "parts joined by dots"),
        (b'"a" . ' * 300_000 + b"a = 1", "parts joined by dots"),
    ],
    ids=lambda x: x[:24].decode("latin-1").strip() if isinstance(x, bytes) else "",
)
def test_what_is_no_model_file_is_refused(content: bytes, cause: str, tmp_path: Path) -> None:
    path = tmp_path / "strange.toml"
    path.write_bytes(content)
    text = str(refused(path))
    assert "strange.toml: file: " in text
    assert cause in text


def test_endless_file_is_refused() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("there is no endless file here")
    assert "larger than" in str(refused("/dev/zero"))


def test_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbf" + BASE.replace("\n", "\r\n").encode())
    assert pendula.load(path) == pendula.loads(BASE)


def test_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        pendula.save(pendula.loads(BASE), tmp_path / "no" / "such" / "folder.toml")


# --- Sizes ------------------------------------------------------------------------------------------------


def _bodies(count: int) -> str:
    return "\n".join(f'[[bodies]]\nname = "b{k}"\nmass = 1' for k in range(count))


def _chain(count: int, joint: str) -> str:
    head = 'name = "x"\ngravity = [0, 0]\n'
    return head + _bodies(count) + "\n" + "\n".join("[[joints]]\n" + joint.format(k=k) for k in range(count))


GOOD_JOINT = 'name = "j{k}"\ntype = "fixed"\nparent = "ground"\nchild = "b{k}"'
HEAD = 'name = "x"\ngravity = [0, 0]\n'

LARGE = {
    "bodies": (HEAD + _bodies(MOST_BODIES + 1), f"{MOST_BODIES + 1} bodies exceed the {MOST_BODIES} allowed"),
    "parameters": (
        HEAD + "[parameters]\n" + "\n".join(f"p{k} = {k}" for k in range(MOST_PARAMETERS + 1)),
        f"parameters exceed the {MOST_PARAMETERS} allowed",
    ),
    "initial": (
        HEAD + "[initial]\n" + "\n".join(f"p{k} = {k}" for k in range(110_000)),
        "initial exceed",
    ),
    "numbers": (
        HEAD
        + '[[bodies]]\nname = "a"\nmass = 1\nshapes = [{ kind = "polyline", points = ['
        + "[0,1]," * 90_000
        + "] }]",
        "it has more than 200000 numbers and texts",
    ),
    "texts": (
        HEAD + "[parameters]\n" + "\n".join(f'p{k} = "{"1+" * 900}{k}"' for k in range(500)),
        "its texts have",
    ),
    "depth": (HEAD + "description = " + "[" * 50 + "]" * 50, "nested more than 12 levels deep"),
    "strange fields": (
        "\n".join(f"x{k} = 1" for k in range(100_000)),
        "there are more problems; these are the first 100",
    ),
    "long key": (f"{'k' * 1_000_000} = 1", "is not a field known here"),
    "long text": (f'name = "{"k" * 1_000_000}"', "its texts have 1000000 characters"),
    "bad parameters": (
        HEAD + "[parameters]\n" + "\n".join(f'p{k} = "q{k}*p{k + 1}"' for k in range(8_000)),
        "there are more problems",
    ),
    "parameter circle": (
        HEAD + "[parameters]\n" + "\n".join(f'p{k} = "p{(k + 1) % 20_000}"' for k in range(20_000)),
        "circularly: p0 -> p1 -> p2 -> p3 -> p4 -> p5 -> ... ->",
    ),
    "unknown bodies": (
        _chain(3000, 'name = "j{k}"\ntype = "fixed"\nparent = "link{k}"\nchild = "body{k}"'),
        "there are more problems",
    ),
    "circle of bodies": (
        _chain(3000, 'name = "j{k}"\ntype = "fixed"\nparent = "b{k}"\nchild = "b{k}"').replace(
            'parent = "b0"', 'parent = "b2999"'
        ),
        "parent and child are the same body",
    ),
    "bad joints": (_chain(3000, 'name = "j{k}"\ntype = "revolut"\nparent = 3\nchild = []'), "there are more problems"),
    "unconnected": (HEAD + _bodies(MOST_BODIES), "there are more problems"),
    "long expressions": (
        HEAD + "[parameters]\n" + "\n".join(f'p{k} = "{"-p0*" * 240}{k}"' for k in range(200)),
        "levels deep",
    ),
}


ALIKE = ("strange fields", "unknown bodies", "bad joints")
"""refused for many problems, as bad parameters and bodies without joints are"""


@pytest.mark.parametrize("name", slow_too([name for name in LARGE if name not in ALIKE], ALIKE))
def test_too_large_a_model_is_refused_in_time(name: str, tmp_path: Path) -> None:
    text, cause = LARGE[name]
    path = tmp_path / "large.toml"
    path.write_text(text, encoding="utf-8")
    error = refused(path)
    assert cause in str(error), str(error)[:2000]
    assert len(error.problems) <= MOST_PROBLEMS + 1


def test_largest_good_model_is_read_in_time(tmp_path: Path) -> None:
    path = tmp_path / "large.toml"
    path.write_text(_chain(2000, GOOD_JOINT), encoding="utf-8")
    start = time.process_time()
    assert len(pendula.load(path).bodies) == 2000
    assert time.process_time() - start < LONGEST


# --- Several problems at once -----------------------------------------------------------------------------


def _all_reported(text: str, *expected: str) -> None:
    with pytest.raises(ModelError) as caught:
        pendula.loads(text, source="many.toml")
    found = [str(problem).split("\n")[0] for problem in caught.value.problems]
    for sentence in expected:
        assert any(sentence in line for line in found), f"{sentence!r} is not in\n" + "\n".join(found)
    assert len(found) == len(expected), "\n".join(found)
    assert len(found) == len(set(found))
    assert str(caught.value).startswith(f"many.toml: {len(expected)} problems in the model\n  1. ")


def test_six_faults_are_all_reported() -> None:
    _all_reported(
        changed(
            'gravity = [0, "-g", 0]', 'gravty = [0, "-g", 0]',
            'mass = "2*m"', "mass = true",
            'body = "upper", at = "tip"', 'body = "uper", at = "tip"',
            'stiffness = "k"', 'stiffness = "kk"',
            "elbow_dot = 0.5", "elbo_dot = 0.5",
        ),
        "model: gravty: is not a field known here",
        "model: gravity: is missing",
        'body "lower": mass: must be a number or an expression in quotes, found true',
        'joint "elbow": parent.body: there is no body "uper"',
        'force "hinge": stiffness: "kk" is not known',
        'initial "elbo_dot": there is no coordinate or speed "elbo_dot"',
    )  # fmt: skip


def test_faults_of_every_room_are_reported_together() -> None:
    _all_reported(
        added(
            '[[bodies]]\nname = "loose"\nmass = 1\n'
            '[[bodies]]\nname = "thin"\nmass = 1\ninertia = [1, 1, 9]\n'
            '[[joints]]\nname = "ball"\ntype = "spherical"\nparent = "ground"\nchild = "thin"\n'
            '[[joints]]\nname = "again"\ntype = "revolute"\nparent = "ground"\nchild = "lower"\n'
            '[[forces]]\ntype = "torsion-spring"\njoint = "ball"\nstiffness = 1\n',
            '"m-kg-s"', '"meters"',
            "zero = 0", 'zero = 0\nbad = "1/zero"\nloop = "loop"\nworse = "2 +"\nelbow = 1',
            "elbow_dot = 0.5", "elbow_dot = 0.5\nball = 1",
            "axis = [0, 0, 1]", 'axis = [0, 0, "zero"]',
            'value = "torque"', 'value = "torqe"',
            '"-l/3"', '"-l/zero"',
        ),
        "model: units: must name length",
        'parameter "bad": "1/zero" has no finite value',
        'parameter "loop": parameters refer to each other circularly',
        'parameter "worse": "2 +", column 3',
        'joint "elbow": name: its coordinate "elbow" has the same name as parameter "elbow"',
        'joint "shoulder": axis: its length is 0',
        'joint "again": child: body "lower" is already placed by joint "elbow"',
        'body "loose": it is connected to nothing',
        'body "thin": inertia: no body has the principal values',
        'body "upper": points.grip[1]: "-l/zero" has no finite value',
        'force number 2 (generalized): value: "torqe" is not known',
        'force number 3 (torsion-spring): joint: joint "ball" has a quaternion',
        'initial "ball": a ball joint takes a rotation, not a number',
    )  # fmt: skip


def test_a_bad_element_causes_no_reports_about_those_that_use_it() -> None:
    for text, expected in (
        (
            changed('type = "revolute"\naxis', 'type = "revolut"\naxis'),
            'joint "shoulder": type: there is no joint type',
        ),
        (changed("m = 1.5", "m = true"), 'parameter "m": must be a number'),
        (changed("m = 1.5", 'm = "n"'), 'parameter "m": "n" uses "n"'),
        (changed('mass = "2*m"', 'mas = "2*m"'), 'body "lower": mas: is not a field known here'),
        (changed('torque = "0.1*sin(t)"', "torque = nan"), 'input "torque": nan is not a finite number'),
        (changed("axis = [0, 0, 1]", "axis = [0, 0]"), 'joint "shoulder": axis: a direction cannot be the zero vector'),
    ):
        _one_reported(text, expected)


def _one_reported(text: str, expected: str) -> None:
    with pytest.raises(ModelError) as caught:
        pendula.loads(text, source="one.toml")
    assert str(caught.value).startswith(f"one.toml: {expected}")
    assert len(caught.value.problems) == 1


# --- Hostile values everywhere ----------------------------------------------------------------------------

HOSTILE: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    10**400,
    16**6000,
    -0.0,
    1e-320,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "t",
    "x" * 100_000,
    "a\nb",
    "\x00",
    "\x1b]0;x\x07",
    "\u202e",
    "\ud800",
    "𝔘",
    "<script>alert(1)</script>",
    "{0.__class__}%s%n",
    "__import__('os').system('true')",
    "ground",
    "1/0",
    "9**9**9",
    "((((",
    [],
    [[]],
    [1, 2, 3],
    ["a", "b", "c"],
    [0, 0, 0],
    [[1, 2, 3], 4, [5, 6, 7]],
    [1e308, 1e308, 1e308],
    [1e-320, 0, 0],
    {},
    {"": 1},
    {"a\n": {"b": [{}]}},
    {"body": "ground"},
    {"axis": [0, 0, 1e-320], "angle": 1},
    {"type": "spherical"},
    datetime.date(2020, 1, 1),
    datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),  # noqa: UP017
    datetime.time(1, 2, 3),
    b"bytes",
    object(),
    {1, 2},
    lambda: None,
    1j,
    np.array(3.0),
    np.array([1.0, 2.0, 3.0]),
    np.array([True, False]),
    range(3),
]


def _paths(data: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something can be replaced: every field, entry and table."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield (*here, key)
        yield from _paths(value, (*here, key))


def _replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    data = copy.deepcopy(data)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


def _read(data: Any) -> Model | None:
    """The model, or None if it is refused as it should be."""
    try:
        return from_data(data, source="hostile")
    except ModelError as error:
        refusal = error
    _reads_well(refusal)
    return None


def _reads_well(error: ModelError) -> None:
    assert all(line.isprintable() for line in str(error).splitlines()), ascii(str(error))
    assert len(str(error)) < 30_000
    assert all(problem.element and problem.cause for problem in error.problems)


SHARES = 16
"""places are dealt out to that many values: some of all places for each value keep the test quick"""
DEALT = sorted(range(len(HOSTILE)), key=lambda index: index % SHARES)
"""values that get the same places follow each other: taken in turn, each place of every model meets one"""


@pytest.mark.parametrize(("index", "name"), in_turn(DEALT, kitchen_sink.ALL))
def test_hostile_values_in_every_place_raise_nothing_but_model_errors(name: str, index: int) -> None:
    data = tomllib.loads(kitchen_sink.ALL[name])
    for number, path in enumerate(_paths(data)):
        if (number + index) % SHARES == 0:
            model = _read(_replaced(data, path, HOSTILE[index]))
            if model is not None:
                assert pendula.loads(pendula.dumps(model)) == model


STRINGS = ["", "a\nb", "\x00", "\x1b[2J", "<img src=x>", "{}{0}%s", "x" * 3000, "\u202e", "'; drop", "\\", '"', "ü"]


@pytest.mark.parametrize(("index", "name"), in_turn(range(len(STRINGS)), kitchen_sink.ALL))
def test_hostile_text_in_every_string_field_is_refused_or_kept(name: str, index: int) -> None:
    data, text = tomllib.loads(kitchen_sink.ALL[name]), STRINGS[index]
    for path in list(_paths(data))[index // 2 :: 6]:  # taken in turn, each place of every model meets one
        inner = data
        for key in path:
            inner = inner[key]
        if isinstance(inner, str):
            model = _read(_replaced(data, path, text))
            assert model is None or path[0] in ("name", "description"), path


@pytest.mark.parametrize("name", kitchen_sink.ALL)
def test_every_field_may_be_missing_without_a_foreign_error(name: str) -> None:
    data = tomllib.loads(kitchen_sink.ALL[name])
    for path in _paths(data):
        less = copy.deepcopy(data)
        inner: Any = less
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
        _read(less)


@pytest.mark.parametrize("name", kitchen_sink.ALL)
def test_every_field_may_be_misspelt_without_a_foreign_error(name: str) -> None:
    data = tomllib.loads(kitchen_sink.ALL[name])
    for path in _paths(data):
        if isinstance(path[-1], str):
            other = copy.deepcopy(data)
            inner: Any = other
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1] + "x"] = inner.pop(path[-1])
            model = _read(other)
            free = len(path) == 2 or "points" in path[:-1]  # names of parameters, inputs, points
            assert model is None or (free and path[0] in ("parameters", "inputs", "bodies", "initial")), path


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["m", "elbow", "t"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
_FIELD = st.sampled_from(
    ["name", "gravity", "units", "parameters", "inputs", "bodies", "joints", "forces", "initial", "x"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example({"gravity": {"\x1b": "0A"}})
@given(st.dictionaries(_FIELD, _JSON, max_size=6))
def test_any_data_raises_nothing_but_model_errors(changes: dict[str, Any]) -> None:
    _read({**tomllib.loads(BASE), **changes})


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_text_raises_nothing_but_model_errors(text: Any) -> None:
    with pytest.raises(ModelError):
        pendula.loads(text)


@settings(max_examples=75, deadline=None)
@given(st.integers(0, len(BASE) - 1), st.text(max_size=3), st.integers(0, 20))
def test_damaged_files_raise_nothing_but_model_errors(at: int, text: str, removed: int) -> None:
    try:
        pendula.loads(BASE[:at] + text + BASE[at + removed :])
    except ModelError as error:
        refusal = error
    else:
        return
    _reads_well(refusal)


# --- The same in Python -----------------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "name": "x",
    "gravity": [0, -9.81, 0],
    "bodies": [{"name": "b", "mass": 1}],
    "joints": [{"name": "j", "type": "prismatic", "parent": "ground", "child": "b"}],
}

CALLS: dict[str, tuple[Any, str]] = {
    "body of nothing": (lambda: Body(), "body: name: is missing"),  # type: ignore[call-arg]
    "body without mass": (lambda: Body(name="b"), 'body "b": mass: is missing'),
    "body by position": (lambda: Body("b", 1), "body: takes its fields by name, found 2 values without a name"),  # type: ignore[call-arg]
    "body of other fields": (lambda: Body(name="b", mass=1, masse=2), 'body "b": masse: is not a field known here'),  # type: ignore[call-arg]
    "body of lists": (lambda: Body(name=["b"], mass=[1]), "body: 2 problems"),  # type: ignore[arg-type]
    "body called ground": (lambda: Body(name="ground", mass=1), '"ground" always exists'),
    "rod": (lambda: Rod(mass="m"), "rod: length: is missing"),  # type: ignore[call-arg]
    "point": (lambda: Point(mass=None), "point: mass: must be a number"),  # type: ignore[arg-type]
    "disc": (lambda: Disc(mass=1, radius="1+"), "disc: radius: "),
    "box": (lambda: Box(mass=1, size=3), "box: size: must be a list of three"),  # type: ignore[arg-type]
    "sphere": (lambda: Sphere(mass=1, radius=float("nan")), "sphere: radius: nan is not a finite number"),
    "shape": (lambda: Shape(kind="cube"), "shape: kind: must be one of"),  # type: ignore[arg-type]
    "joint": (lambda: JointRevolute(name="t", parent="ground", child="b"), 'joint "t": name: "t" is the time'),  # type: ignore[arg-type]
    "joint by position": (lambda: JointRevolute("j"), "joint: takes its fields by name"),  # type: ignore[call-arg]
    "ball": (lambda: JointSpherical(name="j", parent="a", child="b", orientation="zz"), 'joint "j": orientation: must be three'),  # type: ignore[arg-type]
    "side": (lambda: Side(body="b", at="tip", position=(0, 0, 0)), "side: at: the point is given twice"),
    "rotation": (lambda: Rotation(), "rotation: axis: is missing"),
    "spring": (lambda: ForceSpring(), "force: joint: is missing"),
    "damper": (lambda: ForceDamper(name="d", damping=1, joint="j", **{"from": "a", "to": "b"}), 'force "d": joint: it acts'),  # type: ignore[arg-type]
    "friction": (lambda: ForceFriction(joint=1, coefficient=1), "force: joint: must be text in quotes, found 1"),  # type: ignore[arg-type]
    "model of nothing": (lambda: Model(), "3 problems in the model"),  # type: ignore[call-arg]
    "model by position": (lambda: Model(GOOD), "model: takes its fields by name, found 1 value without a name"),  # type: ignore[call-arg]
    "model of other fields": (lambda: Model(**GOOD, gravty=3), 'model: gravty: is not a field known here'),
    "model of objects": (lambda: Model(**{**GOOD, "bodies": [object()]}), "body number 1: must be a table of fields"),
    "model of wrong elements": (lambda: Model(**{**GOOD, "joints": [Body(name="b", mass=1)]}), 'joint "b": type: is missing'),
    "model of one body": (lambda: Model(**{**GOOD, "bodies": Body(name="b", mass=1)}), "model: bodies: must be a list"),
    "model of dict of bodies": (lambda: Model(**{**GOOD, "bodies": {"b": 1}}), "bodies: must be a list, found a table"),
    "validated": (lambda: Model.model_validate({**GOOD, "gravity": 1}), "model: gravity: must be a list"),
    "validated text": (lambda: Model.model_validate("x"), 'model: must be a table of fields, found "x"'),
    "validated json": (lambda: Model.model_validate_json("[]"), "model: must be a table of fields"),
    "from no data": (lambda: from_data(None), "model data: model: must be a table of fields, found nothing"),  # type: ignore[arg-type]
    "from odd keys": (lambda: from_data({**GOOD, 3: 4}), "model data: model: 3: is not a field known here"),  # type: ignore[dict-item]
    "from odd names": (lambda: from_data({**GOOD, "parameters": {3: 4}}), "parameter 3: name: must be text in quotes"),
    "loads bytes": (lambda: pendula.loads(b"name = 1"), "must be text"),  # type: ignore[arg-type]
    "changed": (lambda: Model(**GOOD).with_changes(gravity=None), "model: gravity: must be a list of three"),
    "changed field": (lambda: Model(**GOOD).with_changes(gravty=1), 'did you mean "gravity"?'),
    "unknown parameter": (lambda: Model(**GOOD).with_parameters({"m": 1}), 'there is no parameter "m"'),
    "unknown values": (lambda: Model(**GOOD).parameters_with({"m": 1.0}), 'there is no parameter "m"'),
    "unknown body": (lambda: Model(**GOOD).body("c"), 'there is no body "c"'),
    "unknown joint": (lambda: Model(**GOOD).joint("k"), 'there is no joint "k"'),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_python_calls_raise_model_errors(name: str) -> None:
    call, expected = CALLS[name]
    with pytest.raises(ModelError) as caught:
        call()
    text = re.sub(r"\n +", " ", str(caught.value))
    if name == "body of lists":
        assert [p.field for p in caught.value.problems] == ["name", "mass"]
    else:
        assert expected in text
    assert isinstance(caught.value, PendulaError)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_values_without_a_finite_result_are_model_errors() -> None:
    model = Model(**{**GOOD, "parameters": {"a": 1, "b": "1/a"}})
    for changes, expected in (({"a": 0}, 'parameter "b"'), ({"a": float("nan")}, "nan"), ({"a": "x"}, 'uses "x"')):
        with pytest.raises(ModelError, match=expected):
            model.parameters_with(changes)  # type: ignore[arg-type]
