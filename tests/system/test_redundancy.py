"""Loops with more constraints than they need: found, named, and moved like the mechanism without them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pendula
from pendula import Model, library
from pendula.errors import LoopNotClosed, ModelError, NotSupported, SingularPose, UsageError
from pendula.results import System
from pendula.system.loops.mobility import mobility
from tests.crossings.oracle import Mechanism, Moment
from tests.helpers.loops import spherical_four_bar

SAME = 1e-8
"""Two runs at tolerance 1e-11 of the same mechanism, described with and without redundant constraints."""

TILT = Rotation.from_rotvec([0.7, -0.4, 0.3])


def pin(name: str, parent: object, child: str) -> dict[str, object]:
    return {"name": name, "type": "revolute", "parent": parent, "child": child, "measured_from": "ground"}


def parallelogram(cranks: int, **fields: object) -> Model:
    """Equal cranks under one long coupler: one freedom, however many cranks. The first carries the coupler."""
    places = {1: "0", 2: "d", 3: "0.4*d"}
    names = [f"crank{k}" for k in range(1, cranks + 1)]
    joints: list[dict[str, object]] = [
        pin(name, {"body": "ground", "position": [places[k], 0, 0]}, name) for k, name in enumerate(names, 1)
    ]
    joints.append(pin("coupler", {"body": "crank1", "at": "tip"}, "coupler"))
    joints += [
        {
            "name": f"pin{k}",
            "type": "coincident",
            "parent": {"body": name, "at": "tip"},
            "child": {"body": "coupler", "position": [0, f"-({places[k]})", 0]},
        }
        for k, name in enumerate(names[1:], 2)
    ]
    bodies = [{"name": n, "rod": {"mass": 0.5, "length": "a"}} for n in names]
    return Model(
        name=f"parallelogram with {cranks} cranks",
        gravity=[0, -9.81, 0],
        parameters={"a": 0.5, "d": 1.2},
        bodies=[*bodies, {"name": "coupler", "rod": {"mass": 2.0, "length": "d"}}],
        joints=joints,
        initial={n: 0.9 for n in names} | {"coupler": "90deg"} | {f"{n}_dot": 1.0 for n in names},
    ).with_changes(**fields)


def tilted_four_bar(kind: str, turn: Rotation = TILT, misfit: float = 0.0) -> Model:
    """The four-bar linkage of the library in a plane across the world's axes, with spatial joints.

    kind "revolute" closes it by a full revolute joint (five rows), "planar" stays in the plane x-y with gravity turned
    against it instead: the same mechanism.
    """
    plain = library.four_bar()
    if kind == "planar":
        down = TILT.inv().apply([0.0, -9.81, 0.0])
        return plain.with_changes(gravity=down.tolist())
    vector = turn.as_rotvec()
    frame = {"axis": vector.tolist(), "angle": float(np.linalg.norm(vector))}
    off = turn.apply([2.5, 0, 0]).tolist()
    joints = [
        {"name": "crank", "type": "revolute", "parent": {"body": "ground", "rotation": frame}, "child": "crank"},
        {"name": "coupler", "type": "revolute", "parent": {"body": "crank", "at": "tip"}, "child": "coupler"},
        {
            "name": "rocker",
            "type": "revolute",
            "parent": {"body": "ground", "position": off, "rotation": frame},
            "child": "rocker",
        },
        {
            "name": "pin",
            "type": "loop",
            "kind": "revolute",
            "axis": [0, "sin(misfit)", "cos(misfit)"],
            "parent": {"body": "rocker", "at": "tip"},
            "child": {"body": "coupler", "at": "tip"},
        },
    ]
    initial = dict(plain.initial) | {"coupler": "coupler0 - crank0"}
    initial |= {"coupler_dot": f"({plain.initial['coupler_dot']}) - ({plain.initial['crank_dot']})"}
    changed = plain.with_changes(
        joints=joints, gravity=[0, -9.81, 0], initial=initial, parameters=dict(plain.parameters) | {"misfit": misfit}
    )
    return changed


@cache
def compiled(name: str, formulation: str = "kane") -> System:
    if name.startswith("parallelogram"):
        return pendula.compile_system(parallelogram(int(name[-1])), formulation)
    return pendula.compile_system(tilted_four_bar(name), formulation)


@pytest.mark.parametrize("formulation", ["lagrange", "kane", "newton-euler"])
def test_three_cranks_of_a_parallelogram_move_like_two(formulation: str) -> None:
    """The third crank adds its mass and no freedom; two cranks with the mass of three move the same."""
    heavier = [{"name": f"crank{k}", "rod": {"mass": 0.75, "length": "a"}} for k in (1, 2)]
    two = parallelogram(2, bodies=[*heavier, {"name": "coupler", "rod": {"mass": 2.0, "length": "d"}}])
    times = np.linspace(0, 3, 31)
    plain = pendula.simulate(pendula.compile_system(two), 3.0, tol=1e-11, samples=times)
    run = pendula.simulate(compiled("parallelogram 3", formulation), 3.0, tol=1e-11, samples=times)
    assert run.outcome.ok
    np.testing.assert_allclose(run["crank1"], plain["crank1"], atol=SAME)
    np.testing.assert_allclose(run["crank3"], plain["crank1"], atol=SAME)
    assert run.constraint_violation < 1e-12
    assert run.energy_drift < 1e-9


def test_three_cranks_move_as_one_equation_says() -> None:
    """T = (3 m a^2/3 + M a^2) x'^2/2 and V = -(3 m/2 + M) g a cos x: a pendulum."""
    from scipy.integrate import solve_ivp

    inertia, pull = 0.5 * 0.25 + 2.0 * 0.25, (0.75 + 2.0) * 9.81 * 0.5
    times = np.linspace(0, 3, 31)
    expected = solve_ivp(
        lambda _, y: [y[1], -pull / inertia * np.sin(y[0])], (0, 3), [0.9, 1.0], "DOP853", times, rtol=1e-12, atol=1e-12
    )
    run = pendula.simulate(compiled("parallelogram 3"), 3.0, tol=1e-11, samples=times)
    np.testing.assert_allclose(run["crank2"], expected.y[0], atol=SAME)


def test_a_spatial_four_bar_closed_by_a_revolute_joint_moves_like_the_planar_one() -> None:
    times = np.linspace(0, 3, 31)
    plain = pendula.simulate(compiled("planar"), 3.0, tol=1e-11, samples=times)
    run = pendula.simulate(compiled("revolute"), 3.0, tol=1e-11, samples=times)
    assert run.outcome.ok
    for name in ("crank", "rocker"):
        np.testing.assert_allclose(run[name], plain[name], atol=SAME)
    assert run.constraint_violation < 1e-12
    assert run.velocity_violation < 1e-11


def test_mobility_counts_and_names_what_is_redundant() -> None:
    one = mobility(compiled("revolute"))
    assert (one.rows, one.rank, one.by_count, one.by_rank) == (5, 2, -2, 1)
    assert one.joints == ("pin",)
    three = mobility(compiled("parallelogram 3"))
    assert (three.rows, three.rank, three.by_count, three.by_rank) == (4, 3, 0, 1)
    assert three.joints == ("pin2", "pin3")
    assert "4 rows, 3 of them independent" in three.text
    two = mobility(compiled("parallelogram 2"))
    assert (two.by_count, two.by_rank, two.redundant) == (1, 1, ())


def hinged(gravity: list[float]) -> Model:
    """A door on two hinges in line."""
    top = {"position": [0, 0, 2]}
    return Model(
        name="door",
        gravity=gravity,
        bodies=[{"name": "leaf", "mass": 20, "com": [0.5, 0, 1], "inertia": [5, 7, 2]}],
        joints=[
            {"name": "low", "type": "revolute", "parent": "ground", "child": "leaf"},
            {"name": "high", "type": "loop", "parent": {"body": "ground", **top}, "child": {"body": "leaf", **top}},
        ],
    )


def cardan() -> Model:
    """Two shafts in fixed bearings at 35 degrees, with a universal joint where their axes meet."""
    inclined = {"body": "ground", "rotation": {"axis": [1, 0, 0], "angle": "35deg"}}
    return Model(
        name="cardan",
        gravity=[0, 0, 0],
        bodies=[{"name": name, "mass": 1, "inertia": [0.1, 0.1, 0.2]} for name in ("in", "out")],
        joints=[
            {"name": "a", "type": "revolute", "parent": "ground", "child": "in"},
            {"name": "b", "type": "revolute", "parent": inclined, "child": "out"},
            {"name": "u", "type": "loop", "kind": "universal", "parent": "in", "child": "out"},
        ],
    )


GAPS = ("gap along x", "gap along y", "gap along z")


@pytest.mark.parametrize(
    ("model", "count", "idle"),
    # Gruebler's count: 6 (bodies) minus 5 for every revolute and 4 for every universal joint; planar: 3 and 2
    [
        (hinged([0, 0, -10]), 6 - 2 * 5, 5),
        (hinged([0, -10, 0]), 3 - 2 * 2, 2),
        (cardan(), 2 * 6 - 2 * 5 - 4, 3),
        (spherical_four_bar(t1=0.5, t2=2.05, t3=0.85), 3 * 6 - 4 * 5, 3),
    ],
    ids=["door", "door in the plane", "cardan", "spherical"],
)
def test_constraints_that_no_motion_changes_are_counted_and_named(model: Model, count: int, idle: int) -> None:
    found = mobility(pendula.compile_system(model))
    assert (found.by_count, found.by_rank) == (count, 1)
    closing = model.closures[0].name
    assert {f"{closing}: {gap}" for gap in GAPS[: min(idle, 3)]} <= set(found.redundant)
    assert len(found.redundant) == idle
    assert found.text in pendula.simulate(model, 0.01, samples=2).notes


def test_a_run_says_that_constraints_are_redundant() -> None:
    run = pendula.simulate(compiled("parallelogram 3"), 0.1)
    assert any("redundant" in note and "pin2, pin3" in note for note in run.notes)
    assert pendula.simulate(compiled("parallelogram 2"), 0.1).notes == ()


def test_the_same_closing_joint_twice_changes_nothing() -> None:
    plain = library.four_bar()
    twice = [{**plain.joints[3].model_dump(), "name": f"pin{k}"} for k in (1, 2)]
    system = pendula.compile_system(plain.with_changes(joints=[*plain.joints[:3], *twice]))
    once = pendula.compile_system(plain)
    start = once.initial_state()
    np.testing.assert_allclose(system.accelerations(start.q, start.v), once.accelerations(start.q, start.v), rtol=1e-11)
    # the two share the load equally: the shortest multipliers
    lam = system.multipliers(start.q, start.v).reshape(2, 2)
    np.testing.assert_allclose(lam[0], lam[1], rtol=1e-10)
    np.testing.assert_allclose(lam.sum(axis=0), once.multipliers(start.q, start.v), rtol=1e-10)


def test_exact_derivatives_of_a_redundant_system_are_those_of_the_plain_one_along_its_motion() -> None:
    plain = library.four_bar()
    twice = [{**plain.joints[3].model_dump(), "name": f"pin{k}"} for k in (1, 2)]
    system = pendula.compile_system(plain.with_changes(joints=[*plain.joints[:3], *twice]))
    once = pendula.compile_system(plain)
    start = once.initial_state()
    for by in ("q", "v"):
        np.testing.assert_allclose(
            system.acceleration_jacobian(by, start.q, start.v),
            once.acceleration_jacobian(by, start.q, start.v),
            rtol=1e-9,
            atol=1e-9,
        )


def test_parameters_that_end_redundancy_are_looked_at_anew() -> None:
    """With a crank of another length three cranks cannot turn: parts do not fit, or it is a structure."""
    model = parallelogram(3)
    bodies = [*model.bodies[:2], {"name": "crank3", "rod": {"mass": 0.5, "length": "a3"}}, model.bodies[3]]
    system = pendula.compile_system(model.with_changes(bodies=bodies, parameters={"a": 0.5, "a3": 0.5, "d": 1.2}))
    assert mobility(system).redundant
    assert mobility(system, {"a": 0.6, "a3": 0.6}).redundant
    with pytest.raises(pendula.errors.PendulaError):
        pendula.simulate(system, 1.0, parameters={"a3": 0.47})


def test_parameters_that_bring_redundancy_are_looked_at_anew() -> None:
    """A revolute loop joint out of line with the others closes only where it is in line, and then it is redundant."""
    run = pendula.simulate(compiled("revolute"), 0.2, parameters={"misfit": 0.0})
    assert run.outcome.ok


def test_redundant_constraints_that_contradict_each_other_are_refused() -> None:
    system = compiled("revolute")
    with pytest.raises(LoopNotClosed) as error:
        pendula.assemble(system, parameters={"misfit": 0.02})
    assert 'joint "pin"' in str(error.value)
    assert "5 rows" in str(error.value)
    assert "inconsistent" in str(error.value)


def test_a_structure_is_refused_even_with_redundant_constraints() -> None:
    triangle = parallelogram(3, parameters={"a": 0.5, "d": 1.2})
    tie = {
        "name": "tie",
        "type": "coincident",
        "parent": {"body": "ground", "position": ["1.2 + 0.5*sin(0.9)", "-0.5*cos(0.9)", 0]},
        "child": {"body": "crank2", "at": "tip"},
    }
    with pytest.raises(NotSupported, match="structure"):
        pendula.compile_system(triangle.with_changes(joints=[*triangle.joints, tie]))


# --- singular poses -----------------------------------------------------------------------------------


def test_a_flat_parallelogram_is_said_to_go_two_ways() -> None:
    system = compiled("parallelogram 2")
    flat = {"crank1": np.pi / 2, "crank2": np.pi / 2, "coupler": np.pi / 2}
    with pytest.raises(SingularPose, match="singular pose") as error:
        pendula.simulate(system, 1.0, initial_state=flat)
    assert "two ways" in str(error.value)
    assert "crank1 = 1.5708" in str(error.value)


@pytest.mark.parametrize("cranks", [2, 3])
def test_a_model_that_starts_flat_is_not_refused(cranks: int) -> None:
    initial = {f"crank{k}": "90deg" for k in range(1, cranks + 1)} | {"coupler": "90deg"}
    system = pendula.compile_system(parallelogram(cranks, initial=initial))
    assert mobility(system).by_rank == 1
    with pytest.raises(SingularPose, match="singular pose"):
        pendula.simulate(system, 1.0)


def test_a_run_through_a_flat_pose_says_so_and_stays_a_parallelogram() -> None:
    """Fast enough to turn fully: it passes the flat pose, where it could turn into the crossed linkage."""
    start = {"crank1": 0.9, "crank2": 0.9, "crank1_dot": 20.0, "crank2_dot": 20.0}
    run = pendula.simulate(compiled("parallelogram 2"), 0.5, initial_state=start, tol=1e-10)
    assert run.outcome.ok
    assert np.ptp(run["crank1"]) > np.pi
    assert any("singular pose" in note for note in run.notes)
    np.testing.assert_allclose(run["crank2"], run["crank1"], atol=1e-6)
    calm = pendula.simulate(compiled("parallelogram 2"), 0.5, tol=1e-10)
    assert not any("singular pose" in note for note in calm.notes)


def test_a_driven_linkage_that_locks_says_so() -> None:
    """A crank longer than the linkage lets it turn: where coupler and rocker are in line, it cannot go on."""
    four = library.four_bar()
    crank = {"name": "crank", "type": "revolute", "parent": "ground", "child": "crank", "motion": "crank0 - t"}
    initial = {k: x for k, x in four.initial.items() if not k.startswith("crank") and not k.endswith("_dot")}
    model = four.with_changes(joints=[crank, *four.joints[1:]], initial=initial).with_parameters({"a": 1.9})
    # in line when the tip of the crank is b + c = 4.2 from the rocker's pivot: a^2 + d^2 - 2 a d sin(x) = 4.2^2
    locks = np.pi / 3 - np.arcsin((1.9**2 + 2.5**2 - 4.2**2) / (2 * 1.9 * 2.5))
    run = pendula.simulate(pendula.compile_system(model), 4.0, tol=1e-8)
    assert not run.outcome.ok
    assert run.t[-1] == pytest.approx(locks, abs=1e-3)
    assert any("beyond its reach" in note and 'joint "pin"' in note for note in run.notes)


# --- assembling ---------------------------------------------------------------------------------------


def test_speeds_that_contradict_each_other_are_refused() -> None:
    model = library.four_bar()
    with pytest.raises(LoopNotClosed, match="contradict each other") as error:
        pendula.assemble(model, {"crank_dot": 1.0, "rocker_dot": 5.0}, keep={"crank_dot", "rocker_dot"})
    assert "crank_dot = 1" in str(error.value)
    assert '"pin"' in str(error.value)
    with pytest.raises(LoopNotClosed, match="contradict each other"):
        pendula.simulate(pendula.compile_system(model), 1.0, initial_state={"crank_dot": 1.0, "rocker_dot": 5.0})


def test_a_speed_that_is_given_is_kept_and_the_others_follow() -> None:
    system = pendula.compile_system(library.four_bar())
    run = pendula.simulate(system, 0.1, initial_state={"crank_dot": 2.0})
    start = system.initial_state()
    assert run["crank_dot"][0] == 2.0
    assert run["rocker_dot"][0] == pytest.approx(start["rocker_dot"] / 2, rel=1e-10)
    assert any("moved" in note for note in run.notes)


def test_speeds_that_are_only_rounded_are_made_to_fit() -> None:
    system = pendula.compile_system(library.four_bar())
    start = system.initial_state()
    near = {n: float(f"{start[n]:.4g}") for n in system.layout.speeds}
    found = pendula.assemble(system, near, keep=set(near)).state
    assert np.abs(system.gaps(found.q, found.v)[1]).max() < 1e-12
    assert [found[n] for n in near] == pytest.approx(list(near.values()), rel=1e-3)


def test_a_speed_impossible_at_a_dead_point_is_said_to_be_locked() -> None:
    """Crank and coupler in line: the rocker stands still there, whatever the crank does."""
    a, b, c, d = 1.0, 2.0, 2.2, 2.5
    rocker = np.arccos((c**2 + d**2 - (a + b) ** 2) / (2 * c * d))  # at the rocker's pivot, from the ground line
    crank = np.pi / 2 + np.arccos(((a + b) ** 2 + d**2 - c**2) / (2 * (a + b) * d))
    near = {"crank": crank, "coupler": crank, "rocker": 3 * np.pi / 2 - rocker, "rocker_dot": 1.0}
    near |= {"crank_dot": 0.0, "coupler_dot": 0.0}
    with pytest.raises(LoopNotClosed, match="locked") as error:
        pendula.assemble(library.four_bar(), near, keep={"rocker_dot", "crank", "coupler", "rocker"})
    assert "rocker_dot" in str(error.value)


def test_assembling_takes_a_model_and_values_by_name() -> None:
    model = library.four_bar()
    found = pendula.assemble(model, {"crank": 1.2}, keep={"crank"})
    assert found.state["crank"] == 1.2
    x, c, r = (found.state[n] for n in ("crank", "coupler", "rocker"))
    one = np.array([np.sin(x) + 2 * np.sin(c), -np.cos(x) - 2 * np.cos(c)])
    other = np.array([2.5 + 2.2 * np.sin(r), -2.2 * np.cos(r)])
    np.testing.assert_allclose(one, other, atol=1e-13)
    assert {"coupler", "rocker"} <= set(found.moved)
    assert "crank" not in found.moved


@pytest.mark.parametrize(("arguments", "text"), [(("four-baar",), "did you mean"), ((None, 3), "model")])
def test_assembling_something_else_is_refused(arguments: tuple[object, ...], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        pendula.assemble(*arguments)  # type: ignore[arg-type]


def test_unknown_names_to_keep_are_refused() -> None:
    with pytest.raises(UsageError, match='did you mean "crank"'):
        pendula.assemble(library.four_bar(), keep={"crankk"})


def test_the_bodies_on_a_loop_that_cannot_close_are_named_in_order() -> None:
    with pytest.raises(LoopNotClosed, match="Bodies on the loop: rocker, ground, crank, coupler"):
        pendula.assemble(library.four_bar(), parameters={"d": 9.0, "diagonal": 3.0, "coupler0": 1, "rocker0": 3})


@pytest.mark.parametrize("formulation", ["kane", "lagrange", "newton-euler", "projection", "maximal"])
def test_a_loop_around_a_prescribed_motion_alone_changes_no_speeds(formulation):
    """A crew that slides in a free boat as prescribed, guided twice: the rows of the guide are rounding in every speed."""
    along = [0.3, 0.4, -0.2]
    on_board = {"body": "boat", "position": [0.1, 0, 0.3]}
    guide = {"name": "guide", "type": "point-on-line", "axis": along, "parent": on_board, "child": "crew"}
    joints = [
        {
            "name": "j",
            "type": "free",
            "orientation": "zyx",
            "parent": {"body": "ground", "rotation": {"axis": [1, 2, 3], "angle": 0.7}},
            "child": {"body": "boat", "position": [0.1, 0.2, 0.3], "rotation": {"axis": [1, -2, 3], "angle": 0.7}},
        },
        {
            "name": "s",
            "type": "prismatic",
            "axis": along,
            "parent": on_board,
            "child": "crew",
            "motion": "0.2*sin(3*t)",
        },
    ]
    start = {"j_1": 0.3, "j_2": 0.4, "j_3": 0.5, "j_1_dot": 1.0}
    free = Model(
        name="boat",
        gravity=[0, 0, -9.81],
        bodies=[
            {"name": "boat", "box": {"mass": 1, "size": [1, 0.5, 0.2]}},
            {"name": "crew", "sphere": {"mass": 0.3, "radius": 0.1}},
        ],
        joints=joints,
        initial=start,
    )
    guided = pendula.compile_system(free.with_changes(joints=[*joints, guide]), formulation)
    assert mobility(guided).rank == 0
    for t in (0.0, 0.4):
        state = pendula.assemble(guided, guided.initial_state(t=t)).state
        assert state.v == pytest.approx(guided.initial_state(t=t).v, abs=1e-12)
    run = pendula.simulate(guided, 0.3, samples=2)
    alone = pendula.simulate(pendula.compile_system(free, "kane"), 0.3, samples=2)
    assert run.joints[0] == pytest.approx(alone.joints[0], abs=SAME)


@pytest.mark.parametrize("formulation", ["kane", "lagrange", "newton-euler", "projection", "maximal"])
def test_a_lid_welded_and_pinned_to_a_pendulum_leaves_it_a_pendulum(formulation):
    """All rows of its loop are rounding in every speed: two equilibria, and the frequency of a rigid body on an axle."""
    # the lid's place on the arm, from the weld below: what is at (0.2, -0.1, 0.4) of the lid is there on the arm
    weld = Rotation.from_euler("ZYX", [-0.931, 0.6, -0.13])
    there = np.array([-0.339, 0.437, -0.442]) + weld.inv().as_matrix() @ [0.2, -0.1, 0.4]
    turned = {"sequence": "zyx", "angles": [-0.931, 0.6, -0.13]}
    side = {"body": "arm", "rotation": {"sequence": "xz", "angles": [-0.79, 0.738]}}
    joints = [
        {"name": "j", "type": "revolute", "axis": [1, 2, 0], "parent": "ground", "child": side},
        {
            "name": "weld",
            "type": "fixed",
            "parent": {"body": "arm", "position": [-0.339, 0.437, -0.442]},
            "child": {"body": "lid", "rotation": turned},
        },
        {
            "name": "pin",
            "type": "coincident",
            "parent": {"body": "arm", "position": there.tolist()},
            "child": {"body": "lid", "position": [0.2, -0.1, 0.4]},
        },
    ]
    data = {
        "name": "lid",
        "gravity": [0, 0, -9.81],
        "bodies": [
            {"name": "arm", "box": {"mass": 1, "size": [0.3, 0.2, 0.1], "at": [0.1, 0.2, 0.3]}},
            {"name": "lid", "box": {"mass": 1, "size": [0.1, 0.2, 0.5], "at": [0.3, 0.1, 0.3]}},
        ],
        "joints": joints,
    }
    rigid = Mechanism(data)
    inertia = 2 * rigid.kinetic(Moment(0, {"j": 0.3}, {"j_dot": 1.0}))
    heights = [rigid.potential(Moment(0, {"j": angle}, {"j_dot": 0.0})) for angle in (0, np.pi / 2, np.pi)]
    weight = np.hypot((heights[0] - heights[2]) / 2, heights[1] - (heights[0] + heights[2]) / 2)
    system = pendula.compile_system(Model(**data), formulation)
    assert mobility(system).rank == 0
    found = pendula.find_equilibria(system)
    assert len(found) == 2
    hanging = min(found, key=lambda one: one.potential)
    frequency = pendula.modes(pendula.linearize(system, hanging)).frequencies[0]
    assert frequency == pytest.approx(np.sqrt(weight / inertia), rel=1e-9)


def test_a_pin_that_misses_a_welded_lid_is_refused():
    bodies = [{"name": name, "box": {"mass": 1, "size": [0.3, 0.2, 0.1]}} for name in ("arm", "lid")]
    joints = [
        {"name": "j", "type": "revolute", "axis": [1, 2, 3], "parent": "ground", "child": "arm"},
        {"name": "weld", "type": "fixed", "parent": "arm", "child": "lid"},
        {"name": "pin", "type": "coincident", "parent": {"body": "arm", "position": [0.1, 0, 0]}, "child": "lid"},
    ]
    model = Model(name="misfit", gravity=[0, 0, -9.81], bodies=bodies, joints=joints)
    with pytest.raises(ModelError, match=r"gap along x is 0\.1, and no motion of the mechanism changes it"):
        pendula.compile_system(model, "kane")
