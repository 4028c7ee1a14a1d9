"""Models: frozen, the same after saving and loading, with the mass properties, points and schema they promise."""

from __future__ import annotations

import copy
import math
import pickle
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import ModelError
from pendula.model.base import Element, Table, unit_vector
from pendula.model.bodies import Body, Shape
from pendula.model.checks.physics import principal_values
from pendula.model.expressions.expression import parse
from pendula.model.files import from_data, schema, to_data
from pendula.model.forces import Force, ForceSpring
from pendula.model.forces.registry import FORCES
from pendula.model.joints import JOINTS, Joint, JointCoordinates, JointRevolute, JointSpherical, Rotation
from pendula.model.model import Model
from pendula.model.reading import FIELDS
from pendula.model.topology import tree_order
from pendula.model.units import Units
from tests.model import kitchen_sink

ROUNDING = 1e-14  # relative, of a few operations in floating point
QUICK = 2.0  # seconds of processor time for a chain of 1000 links

VARIANTS: dict[str, Callable[[], Model]] = {
    **{name: entry.make for name, entry in library.mechanisms().items()},
    "pendulum of a point": lambda: library.pendulum(kind="point", friction=0.1, start=1.0),
    "chain of one": lambda: library.chain(links=1),
    "chain of points": lambda: library.chain(links=3, kind="point", com=0.4, friction=0.1),
    "chain with everything": lambda: library.chain(
        links=2,
        mass=[1.0, 2],
        length=["1/3", 0.5],
        com=[0.1, 0.2],
        inertia_rule="printed",
        stiffness=10,
        damping=0.1,
        com_friction=[0.1, 0.2],
        coordinates="relative",
        start=["10deg", 0.5],
    ),
    "chain with inertia": lambda: library.chain(links=2, inertia=0.25, com=0.5),
    "four-bar crossed": lambda: library.four_bar(branch="crossed"),
    "spherical pendulum in x y": lambda: library.spherical_pendulum(chart="xy"),
    "spatial rod by quaternion": lambda: library.spatial_rod(orientation="quaternion", start="spatial"),
    "spatial rod as printed": lambda: library.spatial_rod(inertia_rule="printed"),
    "everything in the plane": lambda: pendula.loads(kitchen_sink.PLANE),
    "everything in space": lambda: pendula.loads(kitchen_sink.SPACE),
}

SMALL: dict[str, Any] = {
    "name": "x",
    "gravity": [0, 0],
    "bodies": [{"name": "b", "mass": 1}],
    "joints": [{"name": "j", "type": "prismatic", "parent": "ground", "child": "b"}],
}


def small(**fields: Any) -> Model:
    return Model(**{**SMALL, **fields})


# --- Frozen -----------------------------------------------------------------------------------------------


def _elements(value: Any) -> list[Element]:
    if isinstance(value, Element):
        inner = [e for name in type(value).model_fields for e in _elements(getattr(value, name))]
        return [value, *inner]
    if isinstance(value, dict):
        return [e for entry in value.values() for e in _elements(entry)]
    if isinstance(value, (list, tuple)):
        return [e for entry in value for e in _elements(entry)]
    return []


@pytest.mark.parametrize("name", kitchen_sink.ALL)
def test_nothing_in_a_model_can_be_changed(name: str) -> None:
    model = pendula.loads(kitchen_sink.ALL[name])
    before = pendula.dumps(model)
    for element in _elements(model):
        for field in [*type(element).model_fields, "something_new"]:
            with pytest.raises(AttributeError, match="cannot be changed"):
                setattr(element, field, 1)
            with pytest.raises(AttributeError, match="cannot be changed"):
                delattr(element, field)
            value = getattr(element, field, None)
            assert not isinstance(value, (list, set, bytearray)), field
            assert not isinstance(value, dict) or isinstance(value, Table), field
    assert pendula.dumps(model) == before


def test_tables_of_a_model_cannot_be_changed() -> None:
    table = library.pendulum().parameters
    changes: list[Callable[[Any], Any]] = [
        lambda t: t.update(m=2),
        lambda t: t.__setitem__("m", 2),
        lambda t: t.__delitem__("m"),
        lambda t: t.pop("m"),
        lambda t: t.popitem(),
        lambda t: t.clear(),
        lambda t: t.setdefault("new", 2),
        lambda t: t.__ior__({"m": 2}),
    ]
    for change in changes:
        with pytest.raises(TypeError, match="cannot be changed"):
            change(table)
    assert table == {"m": 1.0, "l": 1.0, "g": 9.81}
    assert table | {"m": 2} == {"m": 2, "l": 1.0, "g": 9.81}


def test_a_model_does_not_keep_what_it_was_made_from() -> None:
    data = copy.deepcopy(SMALL) | {"parameters": {"a": 1}}
    model = Model(**data)
    data["parameters"]["a"] = 2
    data["gravity"][0] = 5
    data["bodies"][0]["mass"] = 7
    assert (model.parameters["a"], model.gravity[0], model.bodies[0].mass) == (1, 0, 1)


@pytest.mark.parametrize("name", VARIANTS)
def test_models_can_be_copied_pickled_hashed_and_compared(name: str) -> None:
    model = VARIANTS[name]()
    assert model.coordinates  # what follows from a model is remembered, and not compared
    assert model.parameter_values
    other = VARIANTS[name]()
    assert pickle.loads(pickle.dumps(model)) == model
    assert copy.deepcopy(model) == model
    assert copy.copy(model) == model
    assert other == model
    assert hash(other) == hash(model)
    assert other.with_changes(name="another") != model


# --- Saving and loading -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_saved_model_is_loaded_as_it_was(name: str, tmp_path: Path) -> None:
    model = VARIANTS[name]()
    path = tmp_path / "model.toml"
    pendula.save(model, path)
    again = pendula.load(path)
    assert again == model
    assert pendula.dumps(again) == path.read_text(encoding="utf-8")
    assert from_data(to_data(model)) == model
    assert again.parameter_values == model.parameter_values
    assert [c.name for c in again.coordinates] == [c.name for c in model.coordinates]


def _used_fields(name: str) -> set[tuple[str, str]]:
    return {
        (type(element).__name__, field)
        for element in _elements(pendula.loads(kitchen_sink.ALL[name]))
        for field, info in type(element).model_fields.items()
        if info.is_required() or getattr(element, field) != info.get_default(call_default_factory=True)
    }


def test_the_kitchen_sink_uses_every_field() -> None:
    used = set.union(*(_used_fields(name) for name in kitchen_sink.ALL))
    every = {
        (cls.__name__, field)
        for cls in _concrete(Element)
        for field in cls.model_fields
        if field not in ("type",) and not cls.__name__.startswith("_")
    }
    # Names of forces are tried once, for all; so are names, motion and armature of joints that share them.
    shared = {field for _, field in used} & {"name", "names", "motion", "armature", "coordinate"}
    missing = {(c, f) for c, f in every - used if not (f in shared and c.startswith(("Force", "Joint")))}
    assert missing == set()


def _concrete(cls: type[Element]) -> list[type[Element]]:
    """Classes without subclasses; of joints and forces those of the package that are registered."""
    inner = [c for sub in cls.__subclasses__() for c in _concrete(sub)]
    typed = issubclass(cls, (Joint, Force))
    built_in = cls in (*JOINTS.values(), *FORCES.values()) and cls.__module__.startswith("pendula.")
    return inner or ([cls] if built_in or not typed else [])


def test_numbers_survive_saving_exactly() -> None:
    numbers = [0.1, 1e-300, 5e-324, 1.7976931348623157e308, 1e22, -0.0, 123456789.12345679, 2**70, -(3**100), 0]
    model = small(parameters={f"p{k}": x for k, x in enumerate(numbers)})
    again = pendula.loads(pendula.dumps(model))
    for (name, x), y in zip(model.parameters.items(), numbers, strict=True):
        assert again.parameters[name] == x == y
        assert type(again.parameters[name]) is type(y)
        assert math.copysign(1, float(again.parameters[name])) == math.copysign(1, y)


def test_text_survives_saving_exactly() -> None:
    model = small(name="θ – 100 % <b>&amp;</b> \\ \" ' {0}", description="tab\t, line\n, \"\"\" ''' # = [x]\n")
    assert pendula.loads(pendula.dumps(model)) == model


def test_numpy_numbers_become_plain_ones() -> None:
    model = small(
        gravity=np.array([0.0, 0.0, -9.81]),
        parameters={"a": np.float64(0.5), "b": np.int64(3), "c": np.array(2.0)},
        bodies=[{"name": "b", "mass": np.float64(1.0), "inertia": np.diag([1.0, 2.0, 2.5])}],
    )
    assert [type(x) for x in model.parameters.values()] == [float, int, float]
    assert type(model.gravity[2]) is float
    assert pendula.loads(pendula.dumps(model)) == model


@pytest.mark.parametrize("given", [{"stiffness": 0}, {"damping": 0.0}, {"stiffness": 0, "damping": 0}])
def test_a_stiffness_of_zero_that_was_given_survives_a_file(given: dict[str, float]) -> None:
    model = pendula.Model(
        name="held",
        gravity=[0, -9.81],
        bodies=[{"name": "rod", "rod": {"mass": 1.0, "length": 1.0}}],
        joints=[{"name": "pin", "type": "revolute", "parent": "ground", "child": {"body": "rod", "at": "top"}}],
        forces=[{"type": "torsion-spring", "joint": "pin", **given}],
    )
    assert pendula.loads(pendula.dumps(model)) == model


def test_what_has_its_default_is_not_written() -> None:
    model = small()
    assert to_data(model) == {
        "name": "x",
        "gravity": [0, 0, 0],
        "bodies": [{"name": "b", "mass": 1}],
        "joints": [{"name": "j", "type": "prismatic", "parent": {"body": "ground"}, "child": {"body": "b"}}],
    }


def test_elements_and_plain_data_give_the_same_model() -> None:
    joint = JointRevolute(name="j", parent="ground", child={"body": "b"})  # type: ignore[arg-type]
    model = Model(name="x", gravity=(0, 0, 0), bodies=(Body(name="b", mass=1),), joints=(joint,))
    same = small(joints=[{"name": "j", "type": "revolute", "parent": {"body": "ground"}, "child": "b"}])
    assert model == same


# --- Defaults and what follows ----------------------------------------------------------------------------


def test_defaults() -> None:
    model = small()
    assert (model.units, model.description, model.forces) == ("m-kg-s", "", ())
    assert (model.parameters, model.inputs, model.initial) == ({}, {}, {})
    body = model.body("b")
    assert (body.com, body.inertia, body.points, body.shapes) == ((0, 0, 0), None, {}, ())
    assert model.joint("j").axis == (1, 0, 0)
    revolute = JointRevolute(name="j", parent="ground", child="b")  # type: ignore[arg-type]
    assert (revolute.axis, revolute.measured_from) == ((0, 0, 1), "parent")
    assert (revolute.parent.position, revolute.parent.at) == (None, None)


def test_fields_that_are_read_are_those_of_the_model() -> None:
    assert set(FIELDS) == set(Model.model_fields)


def test_vectors_of_two_are_in_the_plane() -> None:
    assert small(gravity=["1", -2]).gravity == ("1", -2, 0)


def test_coordinates_and_speeds_come_in_tree_order() -> None:
    model = pendula.loads(kitchen_sink.SPACE)
    names = [c.name for c in model.coordinates]
    assert names[:4] == ["swing_q0", "swing_q1", "swing_q2", "swing_q3"]
    assert "hand_z" not in names
    assert "hand_z_dot" not in [s.name for s in model.speeds]
    assert [s.name for s in model.speeds][:3] == ["swing_wx", "swing_wy", "swing_wz"]
    assert [c.kind for c in model.coordinates if c.joint == "flight"] == ["length"] * 3 + ["quaternion"] * 4
    assert [j.name for j in model.closures] == ["closure"]


def test_tree_order_puts_parents_first_and_keeps_the_order_given() -> None:
    pairs = [("c", "b", "c"), ("x", "ground", "x"), ("b", "a", "b"), ("a", "ground", "a"), ("y", "c", "y")]
    joints = [JointRevolute(name=f"j_{n}", parent=p, child=c) for n, p, c in pairs]  # type: ignore[arg-type]
    assert [j.name for j in tree_order(joints)] == ["j_x", "j_a", "j_b", "j_c", "j_y"]


def test_joints_out_of_reach_are_left_out_of_the_tree() -> None:
    joints = [JointRevolute(name=n, parent=p, child=c) for n, p, c in (("j1", "a", "b"), ("j2", "b", "a"))]  # type: ignore[arg-type]
    assert tree_order(joints) == ()


def test_prescribed_motion_by_one_expression_or_by_name() -> None:
    one = small(joints=[{**SMALL["joints"][0], "motion": "sin(t)"}])
    named = small(joints=[{**SMALL["joints"][0], "motion": {"j": "sin(t)"}}])
    assert one.joints[0].prescribed() == named.joints[0].prescribed() == {"j": "sin(t)"}
    assert one.coordinates == named.coordinates == ()


# --- Parameters -------------------------------------------------------------------------------------------


def test_parameters_that_depend_on_others_follow() -> None:
    model = small(parameters={"area": "pi*r**2", "r": 2, "mass": "3*area"})
    assert model.parameter_values["mass"] == pytest.approx(12 * math.pi, rel=ROUNDING)
    values = model.parameters_with({"r": 1.0})
    assert values == pytest.approx({"area": math.pi, "r": 1.0, "mass": 3 * math.pi}, rel=ROUNDING)
    assert list(values) == ["area", "r", "mass"]
    assert model.parameters_with({"area": 1})["mass"] == 3.0
    assert model.parameters_with({}) == model.parameter_values


def test_with_parameters_gives_a_new_checked_model() -> None:
    model = library.pendulum()
    longer = model.with_parameters({"l": "2*m"})
    assert longer.parameter_values["l"] == 2.0
    assert model.parameter_values["l"] == 1.0
    with pytest.raises(ModelError, match=r"rod\.length: must be positive, found -1"):
        model.with_parameters({"l": -1})


# --- Units ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "force", "energy", "torque", "speed"),
    [
        ("m-kg-s", "N", "J", "N m", "m/s"),
        ("ft-slug-s", "lb", "ft lb", "ft-lb", "ft/s"),
        ("mm-t-s", "N", "N mm", "N mm", "mm/s"),
        ("mm-kg-ms", "kN", "kN mm", "kN mm", "mm/ms"),
        ("AU-Msun-yr", "Msun AU/yr^2", "AU Msun AU/yr^2", "AU-Msun AU/yr^2", "AU/yr"),
    ],
)
def test_units_of_outputs(label: str, force: str, energy: str, torque: str, speed: str) -> None:
    units = small(units=label).unit_names
    assert units == Units.from_label(label)
    assert (units.force, units.energy, units.torque, units.speed("length")) == (force, energy, torque, speed)
    assert (units.coordinate("angle"), units.coordinate("quaternion")) == ("rad", "")
    assert units.speed("angle") == f"rad/{label.split('-')[2]}"


# --- Mass properties --------------------------------------------------------------------------------------

NUMBERS = {"m": 2.5, "l": 3.0, "r": 0.7, "h": 0.4}
m, l, r, h = NUMBERS.values()


def _numbers(entries: Any) -> np.ndarray:
    return np.array([[parse(x).evaluate(NUMBERS) for x in row] for row in entries])


def _mass_properties(**fields: Any) -> tuple[float, np.ndarray, np.ndarray]:
    properties = Body(name="b", **fields).mass_properties()
    mass = parse(properties.mass).evaluate(NUMBERS)
    return mass, _numbers([properties.com])[0], _numbers(properties.inertia)


def _turned(across: float, along: float, axis: list[float]) -> np.ndarray:
    a = np.array(axis) / np.linalg.norm(axis)
    return across * (np.eye(3) - np.outer(a, a)) + along * np.outer(a, a)


d = l / 4
BODIES: dict[str, tuple[dict[str, Any], list[float], np.ndarray]] = {
    "rod": ({"rod": {"mass": "m", "length": "l"}}, [0, -l / 2, 0], np.diag([1, 0, 1]) * m * l**2 / 12),
    "rod in numbers": ({"rod": {"mass": m, "length": l}}, [0, -l / 2, 0], np.diag([1, 0, 1]) * m * l**2 / 12),
    "rod along x": (
        {"rod": {"mass": "m", "length": "l", "axis": [2, 0]}},
        [l / 2, 0, 0],
        np.diag([0, 1, 1]) * m * l**2 / 12,
    ),
    "skew rod": (
        {"rod": {"mass": "m", "length": "l", "axis": [1, -2, 2]}},
        [l / 6, -l / 3, l / 3],
        _turned(m * l**2 / 12, 0, [1, -2, 2]),
    ),
    "round rod": (
        {"rod": {"mass": "m", "length": "l", "diameter": "2*r", "axis": [0, 3, 4]}},
        [0, 0.3 * l, 0.4 * l],
        _turned(m * l**2 / 12 + m * r**2 / 4, m * r**2 / 2, [0, 3, 4]),
    ),
    "rod off centre": (
        {"rod": {"mass": "m", "length": "l", "com": "l/4"}},
        [0, -d, 0],
        np.diag([1, 0, 1]) * m * d * (l - d) / 3,
    ),
    "rod with inertia": (
        {"rod": {"mass": "m", "length": "l", "inertia": "m*r**2"}},
        [0, -l / 2, 0],
        np.diag([1, 0, 1]) * m * r**2,
    ),
    "point": ({"point": {"mass": "m", "at": ["l", 0, "-r"]}}, [l, 0, -r], np.zeros((3, 3))),
    "disc": ({"disc": {"mass": "m", "radius": "r"}}, [0, 0, 0], np.diag([1, 1, 2]) * m * r**2 / 4),
    "skew cylinder": (
        {"disc": {"mass": "m", "radius": "r", "thickness": "h", "normal": [1, 1, 0], "at": [0, "l"]}},
        [0, l, 0],
        _turned(m * r**2 / 4 + m * h**2 / 12, m * r**2 / 2, [1, 1, 0]),
    ),
    "box": (
        {"box": {"mass": "m", "size": ["l", "r", "h"], "at": [1, 2, 3]}},
        [1, 2, 3],
        np.diag([r**2 + h**2, l**2 + h**2, l**2 + r**2]) * m / 12,
    ),
    "sphere": ({"sphere": {"mass": "m", "radius": "r"}}, [0, 0, 0], np.eye(3) * 2 * m * r**2 / 5),
    "mass": ({"mass": "m", "com": ["l", 0]}, [l, 0, 0], np.zeros((3, 3))),
    "diagonal": ({"mass": "m", "inertia": [1, "r", 1.2]}, [0, 0, 0], np.diag([1, r, 1.2])),
    "matrix": (
        {"mass": "m", "inertia": [[1, 0.1, 0], [0.1, 2, "h"], [0, "h", 2]]},
        [0, 0, 0],
        np.array([[1, 0.1, 0], [0.1, 2, h], [0, h, 2]]),
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_mass_properties_match_formulas(name: str) -> None:
    fields, com, inertia = BODIES[name]
    mass, found_com, found_inertia = _mass_properties(**fields)
    scale = max(1.0, np.abs(inertia).max())
    assert mass == m
    np.testing.assert_allclose(found_com, com, rtol=0, atol=ROUNDING * l)
    np.testing.assert_allclose(found_inertia, inertia, rtol=0, atol=10 * ROUNDING * scale)


def test_off_centre_rod_has_the_inertia_of_two_uniform_parts() -> None:
    # Parts of length d and L - d with masses in the ratio that puts the mass centre at their junction.
    first, second = m * (l - d) / l, m * d / l
    expected = first * d**2 / 3 + second * (l - d) ** 2 / 3
    assert _mass_properties(rod={"mass": "m", "length": "l", "com": "l/4"})[2][2, 2] == pytest.approx(expected)


def test_zeros_of_mass_properties_are_exact() -> None:
    properties = Body(name="b", rod={"mass": "m", "length": "l"}).mass_properties()  # type: ignore[arg-type]
    assert (properties.com[0], properties.com[2]) == (0, 0)
    assert [properties.inertia[i][j] for i, j in ((0, 1), (0, 2), (1, 1), (1, 2))] == [0, 0, 0, 0]


def test_principal_values_match_numpy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        a = rng.normal(size=(3, 3))
        a = a @ a.T * 10.0 ** rng.integers(-8, 8)
        found = principal_values(a.tolist())
        np.testing.assert_allclose(found, np.linalg.eigvalsh(a), rtol=0, atol=1e-13 * np.abs(a).max())


@pytest.mark.parametrize("values", [(1e-320, 0, 0), (1e300, 1e300, 0), (3, 4, 0), (-2, 0, 0), (1e-200, 1e-200, 1e-200)])
def test_unit_vectors_of_any_length(values: tuple[float, ...]) -> None:
    assert math.hypot(*unit_vector(values)) == pytest.approx(1.0, rel=1e-12)


def test_unit_vectors_along_axes_are_integers() -> None:
    assert [type(x) for x in unit_vector([0.0, -2.5, 0.0])] == [int, int, int]


# --- Points and shapes ------------------------------------------------------------------------------------


def _point(body: Body, name: str) -> list[float]:
    return [parse(x).evaluate(NUMBERS) for x in body.named_points()[name]]


def test_named_points_of_a_rod() -> None:
    body = Body(name="b", rod={"mass": "m", "length": "l", "com": "l/4"}, points={"grip 2": (0, "-l/3", 0)})  # type: ignore[arg-type]
    for name, expected in {
        "origin": 0, "start": 0, "top": 0, "com": -l / 4, "center": -l / 2, "grip 2": -l / 3,
        "end": -l, "bottom": -l, "tip": -l,
    }.items():  # fmt: skip
        assert _point(body, name) == pytest.approx([0, expected, 0])
    assert set(body.named_points()) == {
        "origin", "start", "top", "com", "center", "grip 2", "end", "bottom", "tip",
    }  # fmt: skip


def test_named_points_of_other_bodies() -> None:
    body = Body(name="b", mass=1, com=(1, "r", 3), points={"tip": (0, 1, 2)})  # type: ignore[arg-type]
    assert _point(body, "com") == _point(body, "center") == [1, r, 3]
    assert _point(body, "tip") == [0, 1, 2]
    assert set(body.named_points()) == {"origin", "com", "center", "tip"}


@pytest.mark.parametrize("name", BODIES)
def test_every_body_can_be_drawn(name: str) -> None:
    drawing = Body(name="b", **BODIES[name][0]).drawing()
    assert drawing
    assert all(isinstance(shape, Shape) for shape in drawing)


# --- Coordinates of joints --------------------------------------------------------------------------------


def test_names_of_coordinates() -> None:
    ball = JointSpherical(name="j", parent="ground", child="b", orientation="zyz", names=("a", "b", "c"))  # type: ignore[arg-type]
    assert [c.name for c in ball.coordinates()] == ["a", "b", "c"]
    assert [c.name for c in ball.speeds()] == ["a_dot", "b_dot", "c_dot"]
    quaternion = JointSpherical(name="j", parent="ground", child="b")  # type: ignore[arg-type]
    assert [c.name for c in quaternion.coordinates()] == ["j_q0", "j_q1", "j_q2", "j_q3"]
    chart = JointCoordinates(name="j", parent="ground", child="b", coordinates=["u", "w"])  # type: ignore[call-arg, arg-type]
    assert [(c.name, c.kind) for c in chart.coordinates()] == [("u", "length"), ("w", "length")]


def test_aliases_can_be_given_by_field_name_in_python() -> None:
    by_field = ForceSpring(start="a", end="b", stiffness=1)  # type: ignore[arg-type]
    by_alias = ForceSpring(**{"from": "a", "to": "b", "stiffness": 1})  # type: ignore[arg-type]
    assert by_field == by_alias


# --- Model files ------------------------------------------------------------------------------------------

DESIGN = """
name = "double pendulum"
units = "ft-slug-s"                  # a label for outputs; numbers are used as they are
gravity = [0, "-g", 0]

[parameters]
m = "5/32.2"
g = 32.2
l = 2.0
k1 = 1000.0
c1 = 5.0

[[bodies]]
name = "upper"
rod = { mass = "m", length = "l" }   # or mass, com, inertia

[[joints]]
name = "theta1"
type = "revolute"                    # frame on either side: body, position, rotation
parent = { body = "ground" }
child = { body = "upper", at = "top" }

[[forces]]
type = "torsion-spring"
joint = "theta1"
stiffness = "k1"
damping = "c1"

[initial]
theta1 = "90deg"
"""


def test_the_model_file_of_the_design_is_read() -> None:
    model = pendula.loads(DESIGN)
    assert model.name == "double pendulum"
    assert model.unit_names.force == "lb"
    assert model.parameter_values["m"] == 5 / 32.2
    assert [c.name for c in model.coordinates] == ["theta1"]
    assert model.joint("theta1").child.at == "top"
    assert parse(model.initial["theta1"]).evaluate() == pytest.approx(math.pi / 2)  # type: ignore[arg-type]
    assert pendula.loads(pendula.dumps(model)) == model


def test_written_files_read_well() -> None:
    text = pendula.dumps(library.double_pendulum())
    assert text.startswith('name = "double pendulum"\nunits = "ft-slug-s"\ngravity = [0, "-g", 0]\n\n[parameters]\n')
    assert '\n[[joints]]\nname = "theta1"\ntype = "revolute"\nparent = { body = "ground" }\n' in text
    assert '\n[[forces]]\ntype = "torsion-spring"\njoint = "theta1"\n' in text


# --- Schema -----------------------------------------------------------------------------------------------


@cache
def _validator() -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    found = schema()
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def test_schema_is_valid_and_describes_fields() -> None:
    found = schema()
    assert found["title"] == "Pendula model"
    assert set(found["properties"]) == set(Model.model_fields)
    assert set(found["required"]) == {"name", "gravity"}
    assert "gravity" in found["properties"]["gravity"]["description"]
    _validator()


@pytest.mark.parametrize("name", VARIANTS)
def test_schema_accepts_good_models(name: str) -> None:
    validator = _validator()
    errors = [f"{list(e.absolute_path)}: {e.message}" for e in validator.iter_errors(to_data(VARIANTS[name]()))]
    assert errors == []


@pytest.mark.parametrize("name", kitchen_sink.ALL)
def test_schema_accepts_files_as_people_write_them(name: str) -> None:
    tomllib = pytest.importorskip("tomllib")
    _validator().validate(tomllib.loads(kitchen_sink.ALL[name]))


def _joint(**fields: Any) -> dict[str, Any]:
    return {"joints": [{**SMALL["joints"][0], **fields}]}


@pytest.mark.parametrize(
    "changes",
    [
        {"gravity": 9.81},
        {"gravity": [0, True, 0]},
        {"gravity": [1]},
        {"name": 3},
        {"name": ""},
        {"gravty": [0, 0]},
        {"parameters": {"m": [1]}},
        {"bodies": {"name": "b"}},
        {"bodies": [{"mass": 1}]},
        {"bodies": [{"name": "b", "mas": 1}]},
        {"bodies": [{"name": "b", "rod": {"mass": 1}}]},
        {"bodies": [{"name": "<b>", "mass": 1}]},
        {"bodies": [{"name": "b", "mass": 1, "inertia": [1, 2]}]},
        _joint(type="revolut"),
        _joint(type=None),
        _joint(name="a b"),
        _joint(parent=3),
        _joint(parent={"at": "tip"}),
        _joint(axes=[0, 0, 1]),
        _joint(axis="z"),
        {"forces": [{"joint": "j"}]},
        {"forces": [{"type": "friction", "joint": "j"}]},
        {"forces": [{"type": "force", "body": "b", "vector": [1, 0], "axes": "local"}]},
        {"initial": {"j": {"axis": [0, 0, 1], "angel": 1}}},
        {"initial": {"j": True}},
    ],
)
def test_schema_rejects_bad_models(changes: dict[str, Any]) -> None:
    validator = _validator()
    assert validator.is_valid(SMALL)
    assert not validator.is_valid({**SMALL, **changes})
    with pytest.raises(ModelError):
        from_data({**SMALL, **changes})


# --- Speed ------------------------------------------------------------------------------------------------


def test_a_chain_of_a_thousand_links_is_made_quickly() -> None:
    start = time.process_time()
    model = library.chain(links=1000, stiffness=1.0, friction=0.1)
    assert time.process_time() - start < QUICK
    start = time.process_time()
    again = pendula.loads(pendula.dumps(model))
    assert time.process_time() - start < 2 * QUICK
    assert again == model
    start = time.process_time()
    for k in range(1, 1001):
        assert model.body(f"link{k}").name == f"link{k}"
        assert model.joint(f"theta{k}").child.body == f"link{k}"
    assert time.process_time() - start < QUICK / 4


def test_rotation_by_axis_or_sequence() -> None:
    assert Rotation(axis=(0, 0, 1), angle="90deg").angles == ()
    assert Rotation(sequence="zyz", angles=(1, "a", 0)).axis is None
