"""Joints from outside the package, one file each: everything follows from the template of their motion or rows."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import pendula
from pendula import Model
from pendula.errors import ModelError, NotSupported, UsageError
from pendula.extensions import load_extension
from pendula.model.base import Direction, Scalar
from pendula.model.files import schema
from pendula.model.joints import JOINTS, ClosingJoint, TreeJoint, register_joint
from pendula.model.joints.rows import ClosingRow, NoGap
from pendula.model.joints.steps import AXES, Shift, Slide, Step, Turn
from pendula.system.recursion.spatial import BALL, CHART, PRISMATIC, REVOLUTE
from pendula.system.recursion.tables import Tables
from tests.helpers.choices import slow_too
from tests.helpers.numbers import states
from tests.helpers.random_mechanisms import random_mechanism

FILE = Path(__file__).with_name("screw_joint.py")
CLOSE = 1e-10
"""Agreement of formulations and engines, relative to the largest value."""
FORMULATIONS = tuple(pendula.derivation.formulations())


class JointPolar(TreeJoint):
    """A turn about z, then a slide along the turned x axis: the arm of a cylindrical robot."""

    type: Literal["polar"] = "polar"
    reach: Scalar = 0.3
    freedoms = (("_angle", "angle"), ("_r", "length"))

    def steps(self) -> tuple[Step, ...]:
        angle, r = self.coordinate_names()
        return Turn(AXES["z"], angle), Shift((self.reach, 0, 0)), Slide(AXES["x"], r)


class JointOrbit(TreeJoint):
    """A ball on a circular wire: a shift by expressions, then a quaternion."""

    type: Literal["orbit"] = "orbit"
    radius: Scalar = 0.5

    def own_freedoms(self) -> Any:
        return (("_s", "angle"), *((f"_q{k}", "quaternion") for k in range(4)))

    def steps(self) -> tuple[Step, ...]:
        s = self.coordinate_names()[0]
        return Shift((f"({self.radius})*cos({s})", f"({self.radius})*sin({s})", 0)), self.turn_ball()


class JointPointOnPlane(ClosingJoint):
    """The child's point stays in a plane through the parent's point."""

    type: Literal["point-on-plane"] = "point-on-plane"
    normal: Direction = (0, 0, 1)

    def rows(self) -> tuple[ClosingRow, ...]:
        return (NoGap(self.normal, "its normal"),)


@pytest.fixture(autouse=True, scope="module")
def _types() -> Iterator[None]:
    """The screw, loaded as a user would, and types that tests define; gone afterwards: others see built-in ones."""
    known = set(JOINTS)
    load_extension(FILE)
    for joint in (JointPolar, JointOrbit, JointPointOnPlane):
        register_joint(joint)
    yield
    for name in set(JOINTS) - known:
        JOINTS.remove(name)
    del sys.modules["screw_joint"]


def nut(**fields: Any) -> Model:
    """A nut that runs down an upright screw."""
    joint = {"name": "s", "type": "screw", "axis": [0, 0, 1], "parent": "ground", "child": "nut", "pitch": "h"}
    return Model(
        name="nut",
        gravity=[0, 0, "-g"],
        parameters={"g": 9.81, "m": 2.0, "J": 0.01, "h": 0.5},
        bodies=[{"name": "nut", "mass": "m", "inertia": ["J", "J", "J"]}],
        joints=[joint | fields],
    )


def difference(expected: Any, found: Any) -> float:
    size = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    return float(np.max(np.abs(np.asarray(expected) - found), initial=0.0)) / size


def assert_all_agree(model: Model) -> None:
    """All formulations, and the recursion with the equations of Kane."""
    for pair in pendula.check(model, states=5).pairs:
        assert pair.max_difference < CLOSE, (pair.a, pair.b, pair.where)
    symbolic = pendula.compile_system(model, "kane", engine="symbolic")
    recursive = pendula.compile_system(model, engine="recursive")
    t, q, v = states(symbolic, 5)
    assert difference(symbolic.accelerations(q, v, t), recursive.accelerations(q, v, t)) < CLOSE
    energies = [s.energies(q, v, t) for s in (symbolic, recursive)]
    assert difference(*(e.kinetic + e.potential for e in energies)) < CLOSE
    for expected, found in zip(symbolic.poses(q, t), recursive.poses(q, t), strict=True):
        assert difference(expected, found) < CLOSE


@pytest.mark.parametrize("seed", slow_too([1], [0, *range(2, 6)]))
def test_all_formulations_and_the_recursion_agree_on_random_trees(seed: int) -> None:
    model = random_mechanism(seed, closed=False, bodies=3, also=["screw"] * 30)
    assert any(joint.type == "screw" for joint in model.joints)
    assert_all_agree(model)


@pytest.mark.parametrize("seed", slow_too([1], [0, 3]))
def test_a_slide_after_a_turn_is_carried_along(seed: int) -> None:
    model = random_mechanism(seed, closed=False, bodies=3, also=["polar"] * 30)
    assert any(joint.type == "polar" for joint in model.joints)
    assert_all_agree(model)


def test_the_closed_form_of_a_nut_under_gravity() -> None:
    """(m b^2 + J) s'' = -m g b with b = lead/2 pi."""
    for lead, fields in ((0.5, {}), (1.5, {"lead": "3*h"})):
        b = lead / (2 * np.pi)
        expected = -2.0 * 9.81 * b / (2.0 * b**2 + 0.01)
        model = nut(**fields)
        systems = [pendula.compile_system(model, name, engine="symbolic") for name in FORMULATIONS]
        for system in (*systems, pendula.compile_system(model, engine="recursive")):
            start = system.initial_state()
            names = list(system.layout.speeds)
            found = system.accelerations(start.q, start.v)
            assert found[names.index("s_dot")] == pytest.approx(expected, rel=1e-12)
        run = pendula.simulate(systems[0], 1.0)
        assert run["s"][-1] == pytest.approx(expected / 2, rel=1e-8)


def test_the_reaction_has_no_power_on_the_motion() -> None:
    """The thread carries the weight less inertia, and the torque that goes with it."""
    model = nut()
    b = 0.5 / (2 * np.pi)
    s = -2.0 * 9.81 * b / (2.0 * b**2 + 0.01)
    for formulation in FORMULATIONS:
        system = pendula.compile_system(model, formulation)
        found = pendula.reactions(pendula.simulate(system, 0.5))["s"]
        force, torque = found.force[-1], found.torque[-1]
        assert force[2] * b + torque[2] == pytest.approx(0.0, abs=1e-9)
        assert torque[2] == pytest.approx(0.01 * s, rel=1e-6)
        assert force[2] == pytest.approx(2.0 * (9.81 + b * s), rel=1e-6)


def test_hinges_follow_from_the_steps() -> None:
    def kinds(name: str, **fields: Any) -> list[int]:
        joint = {"name": "j", "type": name, "parent": "ground", "child": "nut", **fields}
        return [h.kind for h in Tables(nut().with_changes(joints=[joint])).skeleton.hinges]

    assert kinds("screw", pitch=1) == [CHART]
    assert kinds("revolute") == [REVOLUTE]
    assert kinds("revolute", measured_from="ground") == [REVOLUTE]
    assert kinds("prismatic") == [PRISMATIC]
    assert kinds("planar") == [PRISMATIC, PRISMATIC, REVOLUTE]
    assert kinds("universal") == [REVOLUTE, REVOLUTE]
    assert kinds("spherical") == [BALL]
    assert kinds("spherical", orientation="zyz") == [REVOLUTE] * 3
    assert kinds("free") == [PRISMATIC] * 3 + [BALL]
    assert kinds("free", orientation="zyz") == [PRISMATIC] * 3 + [REVOLUTE] * 3
    assert kinds("fixed") == []
    assert kinds("coordinates", coordinates=["s"], position=["s", 0, 0]) == [CHART]
    assert kinds("orbit") == [CHART, BALL]


def test_a_quaternion_after_expressions() -> None:
    """Engines agree; maximal coordinates, which would have to keep the quaternion, say that they cannot."""
    joint = {"name": "o", "type": "orbit", "parent": "ground", "child": {"body": "nut", "position": [0.1, 0, 0.2]}}
    model = nut().with_changes(joints=[joint])
    systems = [pendula.compile_system(model, name) for name in FORMULATIONS if name != "maximal"]
    t, q, v = states(systems[0], 5)
    expected = systems[0].accelerations(q, v, t)
    for system in (*systems[1:], pendula.compile_system(model, engine="recursive")):
        assert difference(expected, system.accelerations(q, v, t)) < CLOSE
    with pytest.raises(NotSupported, match='joint type "orbit"'):
        pendula.compile_system(model, "maximal")


def test_a_model_file_holds_it() -> None:
    model = nut(lead="3*h", names=["turn"], motion="0.2*t")
    text = pendula.dumps(model)
    assert 'type = "screw"' in text
    assert 'lead = "3*h"' in text
    assert pendula.loads(text) == model


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pitch": "nope"}, 'pitch: "nope" is not known'),
        ({"lead": "2*nope"}, 'lead: "nope" in "2*nope" is not known'),
        ({"pitch": "s"}, 'pitch: "s" cannot be used here; it may use parameters'),
        ({"pitch": "2 +"}, "pitch"),
        ({"pitch": [1]}, "pitch: must be a number"),
        ({"pich": 1}, "pich: is not a field known here"),
        ({"axis": [0, 0, 0]}, "axis: a direction cannot be the zero vector"),
        ({"axis": ["h - 0.5", 0, 0]}, "axis: its length is 0"),
        ({"type": "scrwe"}, 'did you mean "screw"?'),
        ({"names": ["a", "b"]}, "names: this joint has 1 coordinate, found 2"),
    ],
)
def test_a_bad_field_is_refused_by_name(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError) as error:
        nut(**changes)
    assert said in str(error.value)
    assert 'joint "s"' in str(error.value)


def test_the_schema_and_the_list_of_joints_contain_it() -> None:
    found = schema()
    assert {"pitch", "lead", "axis"} <= found["$defs"]["JointScrew"]["properties"].keys()
    assert found["$defs"]["JointScrew"]["required"] == ["child", "name", "parent", "pitch", "type"]
    assert {"$ref": "#/$defs/JointScrew"} in found["properties"]["joints"]["items"]["oneOf"]
    assert JOINTS.summary("screw").startswith("A screw: a turn by one angle")


def test_it_is_drawn(tmp_path: Path) -> None:
    from pendula.present.pictures.scenery.scenes import scene_of

    run = pendula.simulate(pendula.compile_system(nut()), 0.5)
    pendula.animate(run, tmp_path / "nut.html")
    assert (tmp_path / "nut.html").stat().st_size > 10_000
    ground = next(body for body in scene_of(run).bodies if body.name == "ground")
    assert [shape.kind for shape in ground.shapes] == ["polyline"]  # the rail along which it runs


@pytest.mark.parametrize("inherits", [True, False], ids=["forked", "spawned"])
def test_workers_know_it(inherits: bool) -> None:
    """Also those that inherit nothing: with another thread, processes are not forked."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait, daemon=True)
    if not inherits:
        thread.start()
    system = pendula.compile_system(nut())
    starts = {"s": np.linspace(0.0, 1.0, 40)}
    many = pendula.simulate_many(system, 0.3, starts, workers=2)
    done.set()
    if not inherits:
        thread.join()
    one = pendula.simulate_many(system, 0.3, starts, workers=1)
    assert np.array_equal(many["s"], one["s"])


def test_executors_know_it() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        found = pendula.sweep(nut(), {"s": [0.0, 0.5]}, duration=0.3, on=pool)
    assert not found.failures
    assert np.array_equal(found["end.s"], pendula.sweep(nut(), {"s": [0.0, 0.5]}, duration=0.3, on="here")["end.s"])


def test_the_command_line_knows_it_when_told(tmp_path: Path) -> None:
    pendula.save(nut(), tmp_path / "nut.toml")
    words = ["simulate", str(tmp_path / "nut.toml"), "--for", "0.2", "--engine"]
    unknown = {k: x for k, x in os.environ.items() if k != "PENDULA_EXTENSIONS"}
    code = (
        "import sys\n"
        "from pendula.app.main import main\n"
        "for engine in ('symbolic', 'recursive'):\n"
        "    try: main([*sys.argv[1:], engine, '--json'])\n"
        "    except SystemExit as end: assert not end.code, end\n"
        "    print('---')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env=unknown | {"PENDULA_EXTENSIONS": str(FILE)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert all(json.loads(text)["engine"] for text in done.stdout.split("---\n")[:2])
    done = subprocess.run(
        [sys.executable, "-m", "pendula", *words, "symbolic"], env=unknown, capture_output=True, text=True, check=False
    )
    assert 'there is no joint type "screw"' in done.stderr


def test_what_is_no_joint_type_is_refused() -> None:
    with pytest.raises(UsageError, match="a subclass of TreeJoint or ClosingJoint"):
        register_joint(int)  # type: ignore[type-var]

    class JointNameless(TreeJoint):
        pass

    with pytest.raises(UsageError, match="JointNameless: a joint type needs a field"):
        register_joint(JointNameless)

    class JointTwin(TreeJoint):
        type: Literal["revolute"] = "revolute"

    with pytest.raises(UsageError, match='"revolute" is already registered'):
        register_joint(JointTwin)


def test_a_closing_joint_from_outside() -> None:
    """A ball on an arm whose end stays in a tilted plane: engines agree, the reaction is normal to the plane."""
    bodies = [{"name": "rod", "rod": {"mass": 1, "length": 1, "axis": [1, 0, 0], "diameter": 0.1}}]
    joints: list[dict[str, Any]] = [
        {"name": "ball", "type": "spherical", "parent": "ground", "child": "rod"},
        {
            "name": "touch",
            "type": "point-on-plane",
            "normal": [0, "a", 1],
            "parent": "ground",
            "child": {"body": "rod", "at": "tip"},
        },
    ]
    model = Model(name="arm", gravity=[0, 0, -9.81], parameters={"a": 0.3}, bodies=bodies, joints=joints)
    assert pendula.loads(pendula.dumps(model)) == model
    assert_all_agree(model)
    for formulation in FORMULATIONS:
        system = pendula.compile_system(model, formulation)
        run = pendula.simulate(system, 0.5)
        found = pendula.reactions(run)["touch"]
        normal = np.array([0, 0.3, 1]) / np.hypot(0.3, 1)
        assert np.abs(np.cross(found.force, normal)).max() < 1e-8
        assert np.abs(found.torque).max() < 1e-8
        assert np.abs(found.force).max() > 0.1
