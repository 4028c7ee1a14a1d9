"""MJCF against MuJoCo: small files for every feature, then public robots, at random states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.errors import NotSupported, UsageError
from pendula.exchange import Imported, load_mjcf
from tests.exchange.public_models import public_file
from tests.helpers.numbers import Array

pytestmark = pytest.mark.peer
mujoco = pytest.importorskip("mujoco")

CLOSE = 1e-9
"""of the largest acceleration"""
STATES = 20


def random_state(model: Any, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """qpos with unit quaternions, qvel and ctrl."""
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    for j in range(model.njnt):
        first = model.jnt_qposadr[j] + {0: 3, 1: 0}.get(int(model.jnt_type[j]), -1)
        if int(model.jnt_type[j]) in (0, 1):
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q, v, rng.normal(size=model.nu)


def places(system: Any, found: Imported) -> tuple[list[int], list[int]]:
    """Where MuJoCo's coordinates and speeds are in ours."""
    layout = system.layout
    return [layout.coordinates.index(n) for n in found.coordinates], [layout.speeds.index(n) for n in found.speeds]


def largest_difference(path: Path, found: Imported, *, engine: str = "recursive", change: Any = None) -> float:
    """Largest difference of accelerations to MuJoCo's without constraints, relative to the largest one."""
    model = mujoco.MjModel.from_xml_path(str(path))
    if change is not None:
        change(model)
    data = mujoco.MjData(model)
    system = pendula.compile_system(found.model, engine=engine)
    at_q, at_v = places(system, found)
    rng = np.random.default_rng(7)
    worst = size = 0.0
    for _ in range(STATES):
        data.qpos[:], data.qvel[:], data.ctrl[:] = random_state(model, rng)
        mujoco.mj_forward(model, data)
        q, v = np.zeros(model.nq), np.zeros(model.nv)
        q[at_q], v[at_v] = data.qpos, data.qvel
        inputs = dict(zip(found.model.inputs, data.ctrl, strict=True)) if found.model.inputs else None
        row = None if inputs is None else np.array([inputs[name] for name in system.layout.inputs])
        got = system.accelerations(q, v, inputs=row)[at_v]
        worst, size = max(worst, np.abs(got - data.qacc_smooth).max()), max(size, np.abs(data.qacc_smooth).max())
    return float(worst / size)


# --- small files, one feature each --------------------------------------------------------------------------

BODY = '<geom type="box" size=".1 .2 .3" pos=".1 .05 -.2" euler="20 30 40"/>'
SMALL = {
    "several joints, anchors and references": f"""
        <body pos="0 0 1" euler="10 20 30"><joint name="a" type="slide" axis="1 1 0" ref=".3"/>
          <joint name="b" axis="0 1 1" pos=".1 .2 .3" ref="25"/><joint name="c" axis="1 0 0" pos="0 .1 0"/>{BODY}
          <body pos=".3 0 0"><joint name="d" type="ball" pos=".1 0 .1"/>{BODY}</body></body>""",
    "free joint, damping and armature": f"""
        <body pos="1 2 3"><joint name="root" type="free" damping=".4" armature=".2"/>{BODY}
          <body pos=".3 0 0"><joint name="d" type="ball" damping=".3" armature=".1"/>{BODY}</body></body>""",
    "springs": f"""
        <body><joint name="a" type="slide" axis="0 0 1" stiffness="30" springref=".2" damping="2"/>{BODY}
          <body pos=".3 0 0"><joint name="b" stiffness="5" springref="30" ref="10" armature=".3"/>{BODY}</body></body>""",
    "nonlinear springs and dampers": f"""
        <body><joint name="a" type="slide" stiffness="3 5 7" damping="1 2 3" springref=".2"/>{BODY}</body>""",
    "gravity compensation": f"""
        <body gravcomp=".7"><joint name="a"/>{BODY}<body pos="0 .2 .1" gravcomp="1"><joint name="b" axis="1 0 0"/>{BODY}
        </body></body>""",
    "inertia of its own": """
        <body><joint name="a" axis="1 2 3"/><inertial pos=".1 .2 .3" mass="2" fullinertia=".5 .6 .7 .01 .02 .03"/>
          <body pos=".3 0 0" name="b b"><joint name="t" axis="0 1 0"/><inertial pos="0 0 .1" mass="1" quat="1 2 3 4"
          diaginertia=".1 .2 .25"/></body></body>""",
}
ACTUATED = {
    "motors, servos and limits": """
        <motor joint="a" gear="3" ctrlrange="-.5 .5" ctrllimited="true"/><position joint="b" kp="20" kv="2" name="servo"/>
        <velocity joint="b" kv="3" gear="2" forcerange="-1 1" forcelimited="true"/>
        <general joint="a" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm=".1 .2 .3"/>
        <motor joint="a" armature=".2" damping=".3" gear="2"/>""",
    "limits of a joint's actuators": '<motor joint="limited"/><motor joint="limited" gear="5"/>',
    "tendons": '<motor tendon="both" gear="2"/><position tendon="both" kp="3"/>',
    "sites": '<motor site="tip" gear="1 2 3 .1 .2 .3"/>',
    "a history without a delay": '<motor joint="a" nsample="9"/>',
}
CHAIN = """
    <body><joint name="a" axis="0 1 0"/>{body}<site name="s0" pos=".1 0 0"/>
      <body pos=".3 0 0" euler="10 0 20"><joint name="b" axis="1 0 0"/>{body}
        <body pos="0 .4 0"><joint name="limited" actuatorfrcrange="-2 2" actuatorfrclimited="true"/>{body}
          <site name="tip" pos=".1 .2 .3" euler="30 40 50"/></body></body></body><site name="s1" pos="1 0 1"/>"""
TENDONS = {
    "fixed tendons": '<fixed name="both" stiffness="7" damping="2" springlength=".1"><joint joint="a" coef="2"/>'
    '<joint joint="b" coef="-.5"/></fixed>',
    "fixed tendons with slack": '<fixed name="both" stiffness="7" springlength="-.2 .4"><joint joint="a" coef="2"/>'
    '<joint joint="b" coef="-.5"/></fixed>',
    "a tendon along one joint": '<fixed name="both" stiffness="7" damping="2" springlength=".1">'
    '<joint joint="a" coef="-2"/><joint joint="b" coef="0"/></fixed>',
    "a spring between sites": '<fixed name="both"><joint joint="a" coef="2"/></fixed><spatial stiffness="30" damping="2" '
    'springlength=".3"><site site="tip"/><site site="s1"/></spatial>',
}


def small_file(folder: Path, bodies: str, *more: str, option: str = "") -> Path:
    path = folder / "small.xml"
    parts = "".join(more)
    path.write_text(
        f'<mujoco model="small"><option gravity=".3 -.2 -9.81" {option}/><worldbody>{bodies}</worldbody>{parts}</mujoco>'
    )
    return path


@pytest.mark.parametrize("engine", ["recursive", "symbolic"])
@pytest.mark.parametrize("name", SMALL)
def test_bodies_joints_and_springs_move_as_in_mujoco(name: str, engine: str, tmp_path: Path) -> None:
    path = small_file(tmp_path, SMALL[name])
    assert largest_difference(path, load_mjcf(path), engine=engine) < 1e-12


@pytest.mark.parametrize("name", [*ACTUATED, *TENDONS])
def test_actuators_and_tendons_act_as_in_mujoco(name: str, tmp_path: Path) -> None:
    tendon = TENDONS.get(name, TENDONS["fixed tendons"])
    actuators = f"<actuator>{ACTUATED.get(name, '')}</actuator>"
    path = small_file(tmp_path, CHAIN.format(body=BODY), f"<tendon>{tendon}</tendon>", actuators)
    assert largest_difference(path, load_mjcf(path)) < 1e-12


STORED = {
    "joints": (CHAIN.replace('name="a"', 'name="a" stiffness="3" springref="20"'), ""),
    "one joint": (CHAIN, TENDONS["a tendon along one joint"]),
    "sites": (CHAIN, TENDONS["a spring between sites"]),
}
WORKING = {
    'joint "a": its spring is not linear': (CHAIN.replace('name="a"', 'name="a" stiffness="3 5 7"'), ""),
    'tendon "both": its spring stretches by several coordinates': (CHAIN, TENDONS["fixed tendons"]),
}


def potential_differences(path: Path, found: Imported) -> Array:
    """Potential energies at random states less MuJoCo's, less the first of these."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data, rng, values = mujoco.MjData(model), np.random.default_rng(3), []
    system = pendula.compile_system(found.model)
    at_q, _ = places(system, found)
    for _ in range(STATES):
        data.qpos[:], *_ = random_state(model, rng)
        mujoco.mj_forward(model, data)
        q = np.zeros(model.nq)
        q[at_q] = data.qpos
        values.append(float(system.energies(q, np.zeros(model.nv), 0.0).potential) - data.energy[0])
    return np.array(values) - values[0]


@pytest.mark.parametrize("name", STORED)
def test_the_potential_energy_is_that_of_mujoco(name: str, tmp_path: Path) -> None:
    bodies, tendon = STORED[name]
    path = small_file(tmp_path, bodies.format(body=BODY), f"<tendon>{tendon}</tendon>")
    found = load_mjcf(path)
    assert not any("work" in note for note in found.notes)
    assert np.abs(potential_differences(path, found)).max() < 1e-10


@pytest.mark.parametrize("note", WORKING)
def test_a_note_names_springs_whose_energy_is_not_in_the_potential(note: str, tmp_path: Path) -> None:
    """Their energy is in the work of generalized forces, so that energy is kept all the same."""
    bodies, tendon = WORKING[note]
    path = small_file(tmp_path, bodies.format(body=BODY), f"<tendon>{tendon}</tendon>")
    found = load_mjcf(path)
    assert any(line.startswith(note) and "not in the potential energy" in line for line in found.notes)
    assert np.abs(potential_differences(path, found)).max() > 0.1


def test_a_motor_with_a_delay_is_refused_by_name(tmp_path: Path) -> None:
    motor = '<actuator><motor name="late" joint="a" delay=".1" nsample="60"/></actuator>'
    path = small_file(tmp_path, CHAIN.format(body=BODY), motor)
    with pytest.raises(NotSupported, match=r'actuator "late" delays its control by 0\.1 s'):
        load_mjcf(path)
    assert not load_mjcf(path, without=["actuators"]).model.inputs


CARRIED = f'<body gravcomp=".7"><joint name="a" axis="0 1 0" {{joint}}/>{BODY}</body>'
MOTOR = '<actuator><motor joint="a"/></actuator>'


def flags(*off: str) -> str:
    """An option element that switches things off."""
    return "<option><flag " + " ".join(f'{name}="disable"' for name in off) + "/></option>"


@pytest.mark.parametrize("off", [(), ("spring",), ("damper",), ("spring", "damper")])
def test_gravity_compensation_ends_where_mujoco_ends_it(off: tuple[str, ...], tmp_path: Path) -> None:
    """MuJoCo has no passive forces at all without springs and dampers."""
    path = small_file(tmp_path, CARRIED.format(joint='damping="1" stiffness="2"'), flags(*off))
    assert largest_difference(path, load_mjcf(path)) < 1e-12


def test_actuators_compensate_gravity_or_it_is_refused(tmp_path: Path) -> None:
    by_actuators = 'actuatorgravcomp="true"'
    path = small_file(tmp_path, CARRIED.format(joint=by_actuators), MOTOR)
    assert largest_difference(path, load_mjcf(path)) < 1e-12
    for joint, more in ((f'{by_actuators} actuatorfrcrange="-1 1"', [MOTOR]), (by_actuators, [])):
        path = small_file(tmp_path, CARRIED.format(joint=joint), *more)
        with pytest.raises(NotSupported, match='joint "a" compensates gravity by actuators'):
            load_mjcf(path)
    assert largest_difference(path, load_mjcf(path, without=["actuators"])) < 1e-12


def test_what_is_passive_in_an_actuator_ends_with_the_dampers_only(tmp_path: Path) -> None:
    bodies, geared = CARRIED.format(joint=""), MOTOR.replace("/></act", ' armature=".2" damping=".3" gear="2"/></act')
    path = small_file(tmp_path, bodies, geared, flags("damper"))
    assert largest_difference(path, load_mjcf(path)) < 1e-12
    for off in (flags("actuation"), '<option actuatorgroupdisable="0"/>'):
        path = small_file(tmp_path, bodies, geared, off)
        with pytest.raises(NotSupported, match="its armature and damping still act"):
            load_mjcf(path)
        path = small_file(tmp_path, bodies, MOTOR, off)
        assert largest_difference(path, load_mjcf(path)) < 1e-12


def test_equalities_and_stops_end_with_all_constraints(tmp_path: Path) -> None:
    bodies = CARRIED.format(joint='range="-10 10" limited="true"').replace("<body", '<body name="b"', 1)
    path = small_file(tmp_path, bodies, '<equality><weld body1="b"/></equality>', flags("constraint"))
    found = load_mjcf(path, limits=1e3)
    assert not found.model.closures
    assert largest_difference(path, found) < 1e-12


def test_a_motor_acts_on_all_speeds_of_a_free_joint(tmp_path: Path) -> None:
    motor = '<actuator><motor joint="root" gear="1 2 3 4 5 6"/></actuator>'
    path = small_file(tmp_path, f'<body pos="1 2 3"><freejoint name="root"/>{BODY}</body>', motor)
    assert largest_difference(path, load_mjcf(path)) < 1e-12


def test_initial_values_come_from_the_reference_pose_or_a_keyframe(tmp_path: Path) -> None:
    key = '<keyframe><key name="up" qpos=".1 .2 .3" qvel="1 0 0"/></keyframe>'
    path = small_file(tmp_path, CHAIN.format(body=BODY), key)
    assert load_mjcf(path).model.initial == {}
    assert load_mjcf(path, keyframe="up").model.initial == {"a": 0.1, "b": 0.2, "limited": 0.3, "a_dot": 1.0}
    assert load_mjcf(path, keyframe=0).model.initial["a"] == 0.1
    with pytest.raises(UsageError, match='no keyframe "down"; it has up'):
        load_mjcf(path, keyframe="down")


def test_a_file_that_mujoco_rejects_is_refused_with_its_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="MuJoCo cannot compile it"):
        load_mjcf(small_file(tmp_path, "<body><joint/></body>"))


# --- loops: MuJoCo's are soft, so its matrices and its Jacobians are solved exactly ----------------------------

LOOPS = {
    "connect": '<connect body1="last" anchor=".2 .1 .3"/>',
    "connect two bodies": '<connect body1="first" body2="last" anchor=".2 .1 .3"/>',
    "weld": '<weld body1="last"/>',
    "joints": '<joint joint1="a" joint2="c" polycoef="0 .5 .3 .1 0"/>',
    "a joint held": '<joint joint1="c" polycoef=".2 0 0 0 0"/>',
}
LOOP = """
    <body name="first"><joint name="a" axis="0 1 0" armature=".1"/>{body}
      <body pos=".3 0 0" euler="10 0 20"><joint name="b" type="ball"/>{body}
        <body pos="0 .4 0"><joint name="c" axis="1 1 0" damping=".2"/>{body}
          <body name="last" pos="0 0 .3"><joint name="d" type="ball"/>{body}
            <site name="tip"/></body></body></body></body>"""


def exact_accelerations(model: Any, data: Any) -> Array:
    """M a = f + J^T lam, J a = -J' v: J from MuJoCo at this state, J' v by central differences along the motion."""
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    f, v = data.qfrc_smooth.copy(), data.qvel.copy()
    J = jacobian(model, data)
    h, q = 1e-4, data.qpos.copy()
    rates = []
    for step in (-2 * h, -h, h, 2 * h):
        moved = q.copy()
        mujoco.mj_integratePos(model, moved, v, step)
        data.qpos[:] = moved
        rates.append(jacobian(model, data) @ v)
    data.qpos[:] = q
    bias = (8 * (rates[2] - rates[1]) - (rates[3] - rates[0])) / (12 * h)
    rows = len(J)
    whole = np.block([[M, J.T], [J, np.zeros((rows, rows))]])
    return np.linalg.lstsq(whole, np.concatenate([f, -bias]), rcond=1e-11)[0][: model.nv]


def jacobian(model: Any, data: Any) -> Array:
    """Rows of all equality constraints, from the Jacobians of points and rotations of bodies."""
    mujoco.mj_fwdPosition(model, data)
    rows = []
    for k in range(model.neq):
        one, two = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        if int(model.eq_type[k]) in (0, 1):
            weld = int(model.eq_type[k]) == 1
            anchor = data.xpos[two] + data.xmat[two].reshape(3, 3) @ model.eq_data[k][0 if weld else 3 :][:3]
            found = []
            for body in (one, two):
                jp, jr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
                mujoco.mj_jac(model, data, jp, jr, anchor, body)
                found.append(np.vstack([jp, jr] if weld else [jp]))
            rows.append(found[0] - found[1])
        else:
            rows.append(coupling_row(model, data, k, one, two)[None, :])
    return np.vstack(rows)


def coupling_row(model: Any, data: Any, k: int, one: int, two: int) -> Array:
    """Gradient of x - c0 - c1 y - c2 y^2 ..., x and y coordinates or lengths of fixed tendons from their references."""
    ends = []
    for i in (one, two):
        row = np.zeros(model.nv)
        if i < 0:
            ends.append((row, 0.0))
            continue
        if int(model.eq_type[k]) == 2:
            row[model.jnt_dofadr[i]] = 1.0
            ends.append((row, data.qpos[model.jnt_qposadr[i]] - model.qpos0[model.jnt_qposadr[i]]))
        else:
            for w in range(model.tendon_adr[i], model.tendon_adr[i] + model.tendon_num[i]):
                row[model.jnt_dofadr[model.wrap_objid[w]]] += model.wrap_prm[w]
            ends.append((row, data.ten_length[i] - model.tendon_length0[i]))
    (first, _), (second, y) = ends
    slope = sum(power * c * y ** (power - 1) for power, c in enumerate(model.eq_data[k][:5]) if power)
    return first - slope * second


def closed_states(system: Any, found: Imported, count: int) -> tuple[Array, Array]:
    from tests.helpers.numbers import states

    _, q, v = states(system, count)
    return q, v


@pytest.mark.parametrize("name", LOOPS)
def test_loops_move_as_the_exact_solution_with_mujocos_matrices(name: str, tmp_path: Path) -> None:
    path = small_file(tmp_path, LOOP.format(body=BODY), f"<equality>{LOOPS[name]}</equality>")
    found = load_mjcf(path)
    assert "equality constraints: exact here, soft in MuJoCo" in found.notes
    difference = largest_loop_difference(path, found)
    assert difference < 1e-7  # of J' v by differences


def largest_loop_difference(path: Path, found: Imported, *, passive: bool = False) -> float:
    """Largest difference to the exact solution, relative to the largest acceleration; ``passive``: no actuators."""
    model = mujoco.MjModel.from_xml_path(str(path))
    if passive:
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    data = mujoco.MjData(model)
    system = pendula.compile_system(found.model)
    at_q, at_v = places(system, found)
    worst = size = 0.0
    for q, v in zip(*closed_states(system, found, STATES), strict=True):
        data.qpos[:], data.qvel[:] = q[at_q], v[at_v]
        expected = exact_accelerations(model, data)
        got = system.accelerations(q, v)[at_v]
        worst, size = max(worst, np.abs(got - expected).max()), max(size, np.abs(expected).max())
    return float(worst / size)


@pytest.mark.parametrize(
    ("package", "path", "without"),
    [
        ("dm-control", "dm_control/suite/manipulator.xml", ()),
        ("dm-control", "dm_control/suite/stacker.xml", ()),
        ("dm-control", "dm_control/suite/quadruped.xml", ("actuators",)),
    ],
    ids=str,
)
def test_public_loops_move_as_the_exact_solution(package: str, path: str, without: tuple[str, ...]) -> None:
    file = public_file(package, path)
    found = load_mjcf(file, without=without)
    assert found.model.closures
    assert largest_loop_difference(file, found, passive=bool(without)) < CLOSE


# --- public robots ---------------------------------------------------------------------------------------------

SUITE = [
    "acrobot",
    "ball_in_cup",
    "cartpole",
    "cheetah",
    "finger",
    "hopper",
    "humanoid",
    "humanoid_CMU",
    "pendulum",
    "point_mass",
    "reacher",
    "walker",
]
GYM = ["ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "inverted_double_pendulum", "inverted_pendulum", "point", "pusher", "reacher", "walker2d"]  # fmt: skip
PUBLIC = [
    *(("dm-control", f"dm_control/suite/{name}.xml") for name in SUITE),
    ("dm-control", "dm_control/third_party/kinova/jaco_arm.xml"),
    ("dm-control", "walkers/assets/humanoid_CMU_V2020.xml"),
    *(("gymnasium", f"mujoco/assets/{name}.xml") for name in GYM),
    ("mujoco-mjx", "shadow_hand/scene_right.xml"),
    ("mujoco-mjx", "barkour_v0/assets/barkour_v0_mjx.xml"),
    ("mujoco-mjx", "humanoid/10_humanoids.xml"),
]
"""Trees whose accelerations are MuJoCo's without contacts, limits and friction loss"""

REFUSED = [
    ("dm-control", "dm_control/suite/fish.xml", "fluid"),
    ("dm-control", "dm_control/suite/swimmer.xml", "fluid"),
    ("gymnasium", "mujoco/assets/swimmer.xml", "fluid"),
    ("dm-control", "dm_control/suite/dog.xml", "actuators"),
    ("dm-control", "walkers/assets/rodent.xml", "actuators"),
    ("mujoco-mjx", "test_data/pendula.xml", "springs"),
    ("mujoco-mjx", "tendon/armature.xml", "tendons"),
]


@pytest.mark.parametrize(("package", "path"), PUBLIC, ids=[path for _, path in PUBLIC])
def test_public_trees_accelerate_as_in_mujoco(package: str, path: str) -> None:
    file = public_file(package, path)
    assert largest_difference(file, load_mjcf(file)) < CLOSE


@pytest.mark.parametrize(("package", "path", "kind"), REFUSED, ids=[path for _, path, _ in REFUSED])
def test_what_has_no_counterpart_is_refused_by_name(package: str, path: str, kind: str) -> None:
    with pytest.raises(NotSupported, match=f'without=\\("{kind}",\\)'):
        load_mjcf(public_file(package, path))


def still(model: Any) -> None:
    """MuJoCo without fluid."""
    model.opt.density = model.opt.viscosity = 0.0


@pytest.mark.parametrize("path", ["dm_control/suite/fish.xml", "dm_control/suite/swimmer.xml"])
def test_the_rest_of_a_refused_robot_is_right(path: str) -> None:
    file = public_file("dm-control", path)
    found = load_mjcf(file, without=["fluid"])
    assert any("left out, as asked: a fluid" in note for note in found.notes)
    assert largest_difference(file, found, change=still) < CLOSE
