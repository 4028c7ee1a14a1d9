"""Natural frequencies, shapes and their words, against closed forms and the worked numbers of paper 001."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, special

import pendula
from pendula import Model, library
from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.modes.modes import modal_coordinates, modes
from pendula.analysis.modes.motion import mode_motion, visible_amplitude
from pendula.analysis.modes.response import free_response
from pendula.errors import LoopNotClosed, ModelError, UsageError
from pendula.system.loops.assembly import assemble
from tests.analysis.linear_models import from_matrices, linear_model

PRINTED = 5e-6
"""the papers' numbers have six digits at most"""


def double(up=False):
    model = library.double_pendulum()
    return pendula.compile_system(model.with_changes(gravity=[0, "g", 0]) if up else model)


def sliding_bar():
    """Exercise 8.2 of paper 001: a mass on a spring with a bar pinned to it."""
    return Model(
        name="mass on a spring with a bar",
        units="ft-slug-s",
        gravity=[0, "-g", 0],
        parameters={"g": 32.2, "m1": "10/g", "m2": "5/g", "l": 2.0, "k": 300.0, "c": 0.0},
        inputs={"F": 0},
        bodies=[
            {"name": "mass", "box": {"mass": "m1", "size": [0.5, 0.5, 0.5]}},
            {"name": "bar", "rod": {"mass": "m2", "length": "l"}},
        ],
        joints=[
            {"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "mass"},
            {"name": "theta", "type": "revolute", "parent": "mass", "child": "bar"},
        ],
        forces=[{"type": "generalized", "coordinate": "x", "value": "F - k*x - c*x_dot"}],
    )


def ball_pendulum():
    """A box that hangs from a ball joint at its top; it can also spin about the vertical."""
    return Model(
        name="box on a ball joint",
        gravity=[0, 0, "-g"],
        parameters={"g": 9.81, "m": 1.3, "l": 0.7},
        bodies=[{"name": "box", "mass": "m", "com": [0, 0, "-l"], "inertia": [0.02, 0.02, 0.01]}],
        joints=[{"name": "ball", "type": "spherical", "parent": "ground", "child": "box"}],
    )


# --- paper 001 ----------------------------------------------------------------------------------------


def test_example_6_of_paper_001():
    found = modes(linear_model(double()))
    # the paper prints 94.9786; 94.9784 is right
    assert found.frequencies == pytest.approx([21.4405, 94.9784], rel=PRINTED)
    assert [m.hertz for m in found.modes] == pytest.approx([3.4124, 15.1163], rel=1e-5)
    assert found[1].scaled == pytest.approx([1, 2.110], abs=5e-4)
    assert found[2].scaled == pytest.approx([1, -1.985], abs=5e-4)
    assert "in phase" in found[1].description
    assert "2.11 deg" in found[1].description
    assert "out of phase" in found[2].description
    assert "-1.985 deg" in found[2].description
    assert "theta2 moves most" in found[2].description
    assert any("damping is neglected" in note for note in found.notes)


def test_the_modulus_of_a_damped_root_is_not_called_the_undamped_frequency():
    """With c1 = 60 and c2 = 6 the only oscillation left has |s| = 23.77, which is no frequency of the undamped pendulum."""
    system = pendula.compile_system(library.double_pendulum())
    linear = pendula.linearize(system, {"theta1": 0, "theta2": 0}, parameters={"c1": 60, "c2": 6})
    s = next(x for x in np.linalg.eigvals(linear.A) if x.imag > 0)
    found = modes(linear, damped=True)
    assert found[1].frequency == pytest.approx(abs(s))
    assert min(abs(abs(s) / np.array([21.4405, 94.9784]) - 1)) > 0.1
    assert f"{abs(s):.6g}" in str(found)
    assert "undamped" not in str(found)
    assert f"at {s.imag:.6g} rad/s" in str(found[1])


def test_example_7_state_matrix_has_the_same_frequencies():
    linear = linear_model(double())
    undamped = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [linear.A1, np.zeros((2, 2))]]))
    assert sorted(np.abs(undamped.imag))[::2] == pytest.approx(modes(linear).frequencies, rel=1e-12)


def test_exercise_8_2_of_paper_001():
    found = modes(linear_model(pendula.compile_system(sliding_bar())))
    assert found.frequencies == pytest.approx([4.89, 29.44], rel=5e-4)
    assert found[1].hertz == pytest.approx(0.7784, rel=2e-4)
    assert found[2].hertz == pytest.approx(4.686, rel=2e-4)
    assert found[1].scaled == pytest.approx([1, 77.8], rel=1e-3)
    assert found[2].scaled == pytest.approx([1, -0.7715], rel=1e-4)
    assert "while x moves 1 ft, theta moves 77." in found[1].description


def test_exercise_8_5_of_paper_001():
    linear = linear_model(double(up=True))
    found = modes(linear)
    assert found[1].frequency == pytest.approx(20.8646, rel=PRINTED)  # the paper prints 20.87
    assert found[2].frequency == pytest.approx(94.09, abs=5e-3)
    assert found[1].scaled == pytest.approx([1, 2.124], abs=5e-4)
    assert found[2].scaled == pytest.approx([1, -1.98286], rel=PRINTED)  # the paper prints -1.982
    damped = modes(linear, damped=True)
    assert damped[1].eigenvalue == pytest.approx(-0.914116 + 20.855j, abs=5e-4)
    assert damped[2].eigenvalue == pytest.approx(-11.506 + 93.330j, rel=1e-5)
    assert damped[2].damping_ratio == pytest.approx(11.506 / abs(-11.506 + 93.330j), rel=1e-4)
    assert damped[2].damped_frequency == pytest.approx(93.330, rel=1e-5)


def test_example_5_of_paper_001_damped():
    found = modes(linear_model(double()), damped=True)
    assert "almost in phase" in found[1].description
    assert "almost out of phase" in found[2].description
    assert found[1].eigenvalue == pytest.approx(-0.917834 + 21.43205j, rel=1e-6)
    assert max(m.residual for m in found.modes) < 1e-14


# --- chains ---------------------------------------------------------------------------------------------


def test_hanging_chain_approaches_bessel_zeros_as_1_over_n_squared():
    def excess(n):
        system = pendula.compile_system(library.chain(links=n))
        rope = special.jn_zeros(0, 3) / 2 * np.sqrt(9.81 / n)  # total length n
        return modes(linear_model(system)).frequencies[:3] / rope - 1

    few, many = excess(20), excess(40)
    assert np.all(many > 0)
    assert few / many == pytest.approx([4, 4, 4], rel=0.06)


def test_modes_of_100_links_are_quick_and_right():
    linear = linear_model(pendula.compile_system(library.chain(links=100)))
    began = time.process_time()
    found = modes(linear)
    print(f"100 links: {time.process_time() - began:.2f} s CPU")
    assert len(found) == 100
    assert max(m.residual for m in found.modes) < 1e-11
    assert found.orthogonality < 1e-11
    assert found[1].description.count("in phase") == 1
    assert "change sign 1 time;" in found[2].description
    assert "theta100 moves most" in found[1].description


# --- what has no frequency --------------------------------------------------------------------------------


def test_cart_is_a_rigid_body_mode_without_frequency():
    system = pendula.compile_system(library.cart_pole())
    found = modes(linear_model(system, {"theta": 0.0}))
    M, m, l, g = 1.0, 0.2, 1.0, 9.81
    closed = np.sqrt(m * g * l / 2 * (M + m) / (m * l**2 / 3 * (M + m) - (m * l / 2) ** 2))
    assert [mode.kind for mode in found.modes] == ["rigid body", "oscillation"]
    assert found[1].frequency is None
    assert found[1].damping_ratio is None
    assert "no frequency" in found[1].description
    assert "only x moves" in found[1].description
    assert found.frequencies == pytest.approx([closed], rel=1e-12)


def test_negative_stiffness_is_unstable_and_no_frequency():
    system = pendula.compile_system(library.pendulum())
    found = modes(linear_model(system, {"theta": np.pi}))
    assert found[1].kind == "unstable"
    assert found[1].eigenvalue == pytest.approx(np.sqrt(1.5 * 9.81))
    assert found.frequencies.size == 0
    assert found.as_dict()["frequencies_rad_s"] == [None]
    assert any("unstable" in note for note in found.notes)


def test_damped_cart_has_one_zero_root_and_a_decay():
    # x'' = -c x': roots 0 and -c
    found = modes(from_matrices([[2.0]], [[1.0]], [[0.0]]), damped=True)
    assert [(m.kind, m.roots) for m in found.modes] == [("rigid body", 1), ("decay", 1)]
    assert found[2].eigenvalue == pytest.approx(-0.5)


def test_free_body_in_two_directions_with_gyroscopic_coupling():
    # a charge in a magnetic field: x'' = w y', y'' = -w x': roots 0, 0 (two free directions) and +-i w
    found = modes(from_matrices(np.eye(2), [[0, -3.0], [3.0, 0]], np.zeros((2, 2))))
    assert [m.kind for m in found.modes] == ["rigid body", "rigid body", "oscillation"]
    assert sum(m.roots for m in found.modes) == 4
    assert found.frequencies == pytest.approx([3.0])


def test_free_directions_of_which_one_is_resisted():
    # x'' = -0.5 x' and y'' = 0, in turned coordinates; z oscillates with sqrt(4)
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    C, K = (turn @ np.diag(d) @ turn.T for d in ([0.5, 0.0, 0.0], [0.0, 0.0, 4.0]))
    found = modes(from_matrices(np.eye(3), C, K), damped=True)
    assert [(m.kind, m.roots) for m in found.modes] == [
        ("rigid body", 1), ("rigid body", 2), ("decay", 1), ("oscillation", 2)
    ]  # fmt: skip
    assert abs(found[2].shape @ turn[:, 1]) == pytest.approx(1)
    assert found[3].eigenvalue == pytest.approx(-0.5)


def test_overdamped_roots_are_decays():
    found = modes(from_matrices([[1.0]], [[5.0]], [[4.0]]), damped=True)
    assert [m.kind for m in found.modes] == ["decay", "decay"]
    assert [m.eigenvalue.real for m in found.modes] == pytest.approx([-1, -4])


# --- gyroscopic and circulatory forces ----------------------------------------------------------------------


def test_gyroscopic_frequencies_of_a_foucault_pendulum():
    turn, k = 0.8, 5.0
    found = modes(from_matrices(np.eye(2), 2 * turn * np.array([[0, -1], [1, 0]]), k * np.eye(2)))
    root = np.sqrt(turn**2 + k)
    assert found.frequencies == pytest.approx([root - turn, root + turn], rel=1e-12)
    assert all(m.eigenvalue.real == 0 for m in found.modes)
    assert np.abs(found[1].scaled) == pytest.approx([1, 1])  # circles: a quarter of a period apart
    assert abs(np.angle(found[1].scaled[1], deg=True)) == pytest.approx(90)
    assert "at different times" in found[1].description
    assert "90 deg" in found[1].description


def test_circulatory_forces_make_an_oscillation_grow():
    a = 0.3
    found = modes(from_matrices(np.eye(2), np.zeros((2, 2)), [[1, a], [-a, 1]]))
    s = np.sqrt(complex(-1, a))  # s^2 = -1 +- i a
    growing = [m for m in found.modes if m.kind == "growing oscillation"]
    assert len(growing) == 1
    assert growing[0].eigenvalue == pytest.approx(complex(abs(s.real), abs(s.imag)))
    assert growing[0].frequency is None
    assert sum(m.roots for m in found.modes) == 4


# --- repeated frequencies -----------------------------------------------------------------------------------


def test_ball_pendulum_has_two_equal_frequencies_and_a_free_spin():
    system = pendula.compile_system(ball_pendulum())
    found = modes(linear_model(system))
    swing = np.sqrt(1.3 * 9.81 * 0.7 / (0.02 + 1.3 * 0.7**2))
    assert found.frequencies == pytest.approx([swing, swing], rel=1e-12)
    assert [m.kind for m in found.modes] == ["rigid body", "oscillation", "oscillation"]
    assert found[2].repeated == found[3].repeated == (2, 3)
    assert not found[2].defective
    assert any("same frequency" in note for note in found.notes)
    assert found[1].everywhere.shape == (4,)  # all coordinates: the quaternion


def test_equal_uncoupled_pendulums_are_kept_apart():
    turned = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    M = np.diag([2.0, 1.0, 3.0])
    K = M * 4.0
    found = modes(from_matrices(M, np.zeros((3, 3)), K))
    assert found.frequencies == pytest.approx([2, 2, 2])
    # one coordinate each, whatever basis the eigensolver had
    assert sorted(np.argmax(np.abs(m.shape)) for m in found.modes) == [0, 1, 2]
    assert all(np.sum(np.abs(m.shape) > 1e-12) == 1 for m in found.modes)
    # and any basis stays orthonormal in M
    mixed = turned.T @ M @ turned
    again = modes(from_matrices(mixed, np.zeros((3, 3)), 4 * mixed))
    assert again.orthogonality < 1e-13
    assert again[1].repeated == (1, 2, 3)


def test_two_equal_pendulums_of_a_model_have_the_same_frequency():
    one, two = ({"name": f"rod{k}", "rod": {"mass": 1, "length": 1}} for k in (1, 2))
    joints = [{"name": f"a{k}", "type": "revolute", "parent": "ground", "child": f"rod{k}"} for k in (1, 2)]
    model = Model(name="two pendulums", gravity=[0, -9.81, 0], bodies=[one, two], joints=joints)
    found = modes(linear_model(pendula.compile_system(model)))
    assert found.frequencies == pytest.approx([np.sqrt(1.5 * 9.81)] * 2, rel=1e-13)
    assert "only a1 moves" in found[1].description + found[2].description


def test_critically_damped_root_is_called_defective():
    found = modes(from_matrices([[1.0]], [[2.0]], [[1.0]]), damped=True)
    assert sum(m.roots for m in found.modes) == 2
    assert all(m.defective and m.kind == "decay" for m in found.modes)
    assert any("double root" in n or "fewer shapes" in n for n in found.notes)


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_a_defective_pair_neither_grows_nor_splits_by_rounding(rate):
    """Two equal oscillators, the first pushes the second: s^2 + 2 rate s + 1 = 0 twice, with one shape."""
    C = 2 * rate * np.eye(2)
    found = modes(from_matrices(np.eye(2), C, [[1.0, 0.0], [-1.0, 1.0]]), damped=True)
    assert [m.kind for m in found.modes] == ["oscillation", "oscillation"]
    assert all(m.defective and m.repeated == (1, 2) for m in found.modes)
    for mode in found.modes:
        assert mode.eigenvalue == pytest.approx(-rate + 1j * np.sqrt(1 - rate**2), abs=1e-14)
    assert any("motions grow by powers of t" in note for note in found.notes)
    assert not any("unstable" in note for note in found.notes)


# --- normalization, output, refusals -------------------------------------------------------------------------


def test_shapes_are_orthonormal_and_modal_coordinates_invert_them():
    linear = linear_model(pendula.compile_system(library.chain(links=5, stiffness=3.0)))
    found = modes(linear)
    E = found.shapes
    assert pytest.approx(np.eye(5), abs=1e-12) == E.T @ linear.M @ E
    assert pytest.approx(np.diag(found.frequencies**2), abs=1e-10) == E.T @ linear.K @ E
    e = np.array([0.3, -0.1, 0.2, 0.05, -0.4])
    eta, rate = modal_coordinates(found, e, -2 * e)
    assert E @ eta == pytest.approx(e)
    assert rate == pytest.approx(-2 * eta)


def test_scaled_shape_starts_with_one_at_the_first_coordinate_that_moves():
    M, K = np.eye(3), np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 2]])
    middle = modes(from_matrices(M, 0 * M, K))[2]
    assert middle.scaled == pytest.approx([1, 0, -1], abs=1e-14)
    assert "theta1" in middle.description


def test_a_shape_is_not_scaled_by_an_entry_that_hardly_moves():
    """Two pendulums with a weak spring between them, detuned: the shapes are (1, -a) and (a, 1) with a = k/(w2^2 - w1^2)."""
    k = 1e-4
    found = modes(from_matrices(np.eye(2), np.zeros((2, 2)), np.array([[1.0 + k, -k], [-k, 2.0 + k]])))
    assert found[1].scaled == pytest.approx([1, k], rel=1e-3)
    assert found[2].scaled == pytest.approx([-k, 1], rel=1e-3)


def test_json_has_the_promised_fields():
    found = modes(linear_model(double()), damped=True).as_dict()
    record = json.loads(json.dumps(found))
    for field in ("frequencies_rad_s", "frequencies_hz", "damping_ratios", "shapes", "description", "at"):
        assert field in record
    assert record["coordinates"] == ["theta1", "theta2"]
    assert set(record["at"]) >= {"theta1", "theta2"}


def test_units_of_the_model_are_named():
    text = str(modes(linear_model(pendula.compile_system(sliding_bar()))))
    assert "rad/s" in text
    assert "Hz" in text
    assert "1 ft" in text


def test_refusals_say_what_is_wrong():
    linear = linear_model(double())
    with pytest.raises(UsageError, match="numbered from 1 to 2"):
        modes(linear)[3]
    with pytest.raises(UsageError, match="already has its equilibrium"):
        modes(linear, {"theta1": 0.0})
    with pytest.raises(UsageError, match="phases"):
        modal_coordinates(modes(linear, damped=True), [0.0, 0.0])
    with pytest.raises(ModelError, match="positive definite"):
        modes(from_matrices([[1.0, 0], [0, 0]], np.zeros((2, 2)), np.eye(2)))


def test_singular_chart_gives_no_names_to_what_they_do_not_mean():
    linear = linear_model(pendula.compile_system(library.spherical_pendulum(chart="xy")))
    basis = replace(linear.basis, coordinates=("bob_x", "bob_y"), chart="displacements of the bob instead")
    linear = replace(linear, basis=basis)
    found = modes(linear)
    assert all(set(shape) == {"bob_x", "bob_y"} for shape in found.as_dict()["all_coordinates"])
    with pytest.raises(UsageError, match='no coordinate or speed "x"'):
        free_response(linear, [1.0, 0.0])["x"]


@pytest.mark.parametrize("formulation", ["kane", "maximal"])
def test_modes_at_a_singular_point_are_drawn(formulation):
    """At theta = 0 of (theta, phi) the bob swings along a straight line through the bottom, in each of two directions."""
    found = modes(pendula.compile_system(library.spherical_pendulum(), formulation), {"theta": 0.0})
    directions = []
    for number in (1, 2):
        shown = mode_motion(found, number, frames=25)
        places = shown.system.poses(shown.q)[1][:, 0]
        reach = np.ptp(places[:, :2], axis=0)
        assert np.linalg.norm(reach) == pytest.approx(2 * shown.amplitude, rel=1e-6)
        assert np.abs(np.linalg.norm(places, axis=1) - 1.0).max() < 1e-12  # on the sphere
        assert np.abs(np.diff(places, axis=0)).max() < 0.3 * shown.amplitude  # without jumps
        directions.append(reach / np.linalg.norm(reach))
    assert abs(directions[0] @ directions[1]) < 1e-6


# --- closed loops ----------------------------------------------------------------------------------------------


def four_bar_at_rest(system):
    """The lowest pose of the four-bar, by the force that is left along its freedom."""
    balance = Balance.of(system)

    def pose(crank):
        still = dict.fromkeys(system.layout.speeds, 0.0)
        return assemble(system, {"crank": crank, **still}, keep={"crank"}).state

    def left(crank):
        q = pose(crank).q
        free = balance.free(q)[:, 0]
        return float(free @ balance.forces(q)) * np.sign(free[0])

    cranks = np.linspace(-np.pi, np.pi, 73)
    values = [left(c) for c in cranks]
    k = next(k for k in range(72) if values[k] > 0 > values[k + 1])
    return pose(optimize.brentq(left, cranks[k], cranks[k + 1], xtol=1e-15))


def test_mode_of_a_four_bar_is_its_nonlinear_frequency_and_moves_on_the_constraints():
    system = pendula.compile_system(library.four_bar())
    rest = four_bar_at_rest(system)
    found = modes(linear_model(system, rest))
    assert len(found) == 1
    assert found[1].kind == "oscillation"
    # the same frequency from a small nonlinear motion: time between two passages of the rest
    start = assemble(system, rest.replace({"crank": rest["crank"] + 1e-3}), keep={"crank"}).state
    run = pendula.simulate(
        system, 3 * found[1].period, initial_state=start, tol=1e-12, events=[f"crank - ({rest['crank']!r}) = 0 rising"]
    )
    (crossings,) = run.events.values()
    assert 2 * np.pi / np.diff(crossings.t)[0] == pytest.approx(found[1].frequency, rel=1e-5)
    motion = mode_motion(found, 1, amplitude=0.3, frames=41)
    gaps = np.abs(system.gaps(motion.q)[0])
    assert gaps.max() < 1e-12
    assert np.abs(motion.q - rest.q).max() == pytest.approx(0.3, rel=0.2)
    assert motion.t[-1] == pytest.approx(found[1].period)
    assert motion.q[0] == pytest.approx(motion.q[-1], abs=1e-12)
    # moving on the constraints matters: straight along the shape they would be violated
    straight = rest.q + 0.3 * found[1].everywhere / np.abs(found[1].everywhere).max()
    assert np.abs(system.gaps(straight)[0]).max() > 1e-3
    with pytest.raises(LoopNotClosed, match="smaller amplitude"):
        mode_motion(found, 1, amplitude=3.0)
    with pytest.raises(UsageError, match="at most pi"):
        mode_motion(found, 1, amplitude=300.0)


def test_mode_motion_without_a_period_says_so():
    system = pendula.compile_system(library.cart_pole())
    motion = mode_motion(modes(linear_model(system, {"theta": 0.0})), 1)
    assert any("no period" in note for note in motion.notes)
    assert motion.coordinate == "x"


def test_a_single_point_on_a_spring_has_modes_in_motion() -> None:
    model = pendula.loads("""
        name = "mass on a spring"
        gravity = [0, 0, 0]
        bodies = [{ name = "m", point = { mass = 1.0 } }]
        joints = [{ name = "x", type = "prismatic", parent = "ground", child = "m" }]
        forces = [{ type = "spring", joint = "x", stiffness = 3.0 }]
    """)
    assert visible_amplitude(pendula.modes(model)) > 0
