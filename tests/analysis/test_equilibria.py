"""All equilibria, against closed forms, SciPy on equations written by hand, and each other."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve

import pendula
from pendula import library
from pendula.analysis.equilibria.balance import Balance
from pendula.analysis.equilibria.domain import domain_of
from pendula.analysis.equilibria.equilibrium import equilibrium_at
from pendula.analysis.equilibria.find import _problem, find_equilibria
from pendula.analysis.equilibria.orbits import Orbits
from pendula.analysis.equilibria.proofs.completeness import prove_tree
from pendula.analysis.equilibria.search import Search
from pendula.analysis.equilibria.stiffening import loosened, round_the_turn, spring_parameters
from pendula.analysis.equilibria.turning import Turning
from pendula.errors import NotAnEquilibrium, NotSupported, UsageError
from tests.helpers.choices import slow_too
from tests.helpers.random_mechanisms import random_mechanism

CLOSE = 1e-9
"""Refined equilibria are rounding away from the truth; this leaves room for stiffness that is small."""


def angles(found, name="theta"):
    return sorted(e[name] for e in found)


def system(model, formulation=None):
    return pendula.compile_system(model, formulation) if formulation else pendula.compile_system(model)


def same_sets(found, expected, tol=CLOSE):
    """Whether two sets of poses agree, angles on the circle."""
    found, expected = np.atleast_2d(found), np.atleast_2d(expected)
    assert len(found) == len(expected), (found, expected)
    for pose in expected:
        gap = np.abs((found - pose + np.pi) % (2 * np.pi) - np.pi).max(axis=1)
        assert gap.min() < tol, pose


# -- one coordinate, proven ------------------------------------------------------------------------------


def test_hoop_has_four_or_two():
    hoop = system(library.hoop_bead())
    fast, slow = find_equilibria(hoop), find_equilibria(hoop, parameters={"Omega": 3.0})
    side = np.arccos(9.81 / 20.0)
    assert np.allclose(angles(fast), [-side, 0.0, side, np.pi], atol=CLOSE)
    assert np.allclose(angles(slow), [0.0, np.pi], atol=CLOSE)
    assert fast.complete == slow.complete == "proven"
    assert [e.unstable_directions for e in fast] == [0, 0, 1, 1]


def test_hoop_at_the_critical_rate_is_not_proven_and_flat():
    found = find_equilibria(system(library.hoop_bead()), parameters={"Omega": float(np.sqrt(9.81))})
    assert found.complete == "undecided"
    assert angles(found) == [0.0, np.pi]
    bottom = next(e for e in found if e["theta"] == 0.0)
    assert bottom.flat_directions == ({"theta_dot": 1.0},) or bottom.flat_directions == ({"theta_dot": -1.0},)
    assert bottom.free_directions == ()
    assert bottom.weak


@pytest.mark.parametrize("k", [15.0, 25.0, 40.0])
def test_piston_bar(k):
    found = find_equilibria(system(library.piston_bar()), parameters={"k": k})
    side = [np.arccos(45.0 / (2 * k))] if 2 * k > 45 else []
    assert np.allclose(angles(found), sorted([0.0, np.pi, *side, *(-x for x in side)]), atol=1e-8)
    assert found.complete == "proven"
    if k == 25.0:
        assert round(np.degrees(side[0]), 4) == 25.8419


def test_shaft_and_disc():
    shaft = find_equilibria(system(library.shaft_bar()))
    assert np.allclose(angles(shaft), [-np.pi / 2, 0.0, np.pi / 2, np.pi], atol=CLOSE)
    disc = find_equilibria(system(library.disc_bar()))
    m, l, k, rate = 5 / 32.2, 2.0, 10.0, 4 * np.pi
    side = brentq(lambda x: -m * l**2 / 3 * np.sin(x) * np.cos(x) * rate**2 + k * x + 5 * l / 2 * np.sin(x), 0.5, 1.5)
    assert np.allclose(angles(disc), [-side, 0.0, side], atol=CLOSE)
    assert round(np.degrees(side), 4) == 58.6915
    assert shaft.complete == disc.complete == "proven"
    assert disc.box["theta"] == pytest.approx((-2 * np.pi - 0.01, 2 * np.pi + 0.01))
    assert shaft.circles == ("theta",)
    assert disc.circles == ()


def test_free_shaft_in_steady_turning_is_a_family_of_phi():
    """At theta = -90 deg the bar turns as at 90 deg, with phi half a turn further."""
    found = find_equilibria(system(library.shaft_bar(turn="free")), rates={"phi": 3.0})
    assert np.allclose(angles(found), [0.0, np.pi / 2, np.pi], atol=CLOSE)
    assert all(list(e.free_directions[0]) == ["phi_dot"] and e["phi_dot"] == 3.0 for e in found)
    assert "1 omitted, which is another in other angles" in found.reason


@pytest.mark.parametrize("rate", [4.0, 6.0])
def test_conical_pendulum(rate):
    """One circle: at (-theta, phi + 180 deg) the bob is where it is at (theta, phi), and as fast."""
    one = system(library.spherical_pendulum())
    found = find_equilibria(one, rates={"phi": rate})
    cone = np.arccos(9.81 / rate**2)
    assert np.allclose(angles(found), [0.0, cone, np.pi], atol=CLOSE)
    there, back = (one.poses(np.array(q))[1][0] for q in ([cone, 0.3], [-cone, 0.3 + np.pi]))
    assert np.allclose(there, back, atol=1e-15)
    assert abs(found[0].potential - (-9.81 * np.cos(cone) - rate**2 * np.sin(cone) ** 2 / 2)) < 1e-9


def test_steady_motions_that_differ_stay_apart():
    """Two rods on a turning shaft, each with its own angle: both out on one side, or on either side, are two motions."""
    shaft = {"name": "shaft", "disc": {"mass": 1.0, "radius": 0.1}}
    arms = [{"name": n, "rod": {"mass": 1.0, "length": 1.0, "axis": [0, 0, 1]}} for n in "ab"]
    turn = {"name": "phi", "type": "revolute", "axis": [0, 0, 1], "parent": "ground", "child": "shaft"}
    pins = [
        {"name": n, "type": "revolute", "axis": [0, 1, 0], "parent": "shaft", "child": {"body": n[-1], "at": "top"}}
        for n in ("qa", "qb")
    ]
    model = pendula.Model(name="two arms", gravity=[0, 0, "-9.81"], bodies=[shaft, *arms], joints=[turn, *pins])
    found = find_equilibria(system(model), rates={"phi": 6.0}, starts=400)
    # a rod about its end: cos q = 3 g/(2 l w^2), measured from hanging; of (+,+), (-,-), (+,-), (-,+) two are left
    out = np.arccos(1.5 * 9.81 / 36.0)
    both = [np.abs(np.cos([e["qa"], e["qb"]])) for e in found]
    leaning = [e for e, c in zip(found, both, strict=True) if np.allclose(c, np.cos(out), atol=1e-6)]
    same = {bool(np.sin(e["qa"]) * np.sin(e["qb"]) > 0) for e in leaning}
    assert len(leaning) == 2
    assert same == {True, False}


def test_cart_is_a_family():
    found = find_equilibria(system(library.cart_pole()))
    assert [e["theta"] for e in found] == [0.0, np.pi]
    assert [list(e.free_directions[0]) for e in found] == [["x_dot"], ["x_dot"]]
    assert found.complete == "proven"


@pytest.mark.parametrize("seed", [0, 3, 12, 17, 20, 23, 32, 49])
def test_proofs_for_random_mechanisms_against_a_dense_scan(seed):
    """One body on a joint of one freedom with random loads, none of them a function of time."""
    model = random_mechanism(seed, driven=False, closed=False, bodies=1)
    one, inputs = system(model), {"F": 0.3, "H": 0.2}
    found = find_equilibria(one, inputs=inputs)
    ((name, (lo, hi)),) = found.box.items()

    def force(x):
        return one.forces(np.atleast_1d(x)[:, None], np.zeros((np.size(x), 1)), inputs=inputs)[:, 0]

    grid = np.linspace(lo, hi, 40001) + 1e-7
    values = force(grid)
    at = np.flatnonzero(values[:-1] * values[1:] < 0)
    crossings = [brentq(lambda x: force(x)[0], grid[k], grid[k + 1]) for k in at]
    if found.complete == "proven":
        assert len(found) == len(crossings)
    for x in crossings:
        assert min(abs(np.exp(1j * (e[name] - x)) - 1) for e in found) < 1e-6


# -- chains ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("links", slow_too([1, 2, 3, 5], [4, 6, 7, 8]))
def test_chain_has_two_to_the_n(links):
    found = find_equilibria(system(library.chain(links=links)))
    assert found.complete == "proven"
    poses = {tuple(np.round(e.q / np.pi).astype(int)) for e in found}
    assert poses == set(product((0, 1), repeat=links))
    assert all(np.abs(e.q - np.pi * np.round(e.q / np.pi)).max() < CLOSE and e.residual < 1e-12 for e in found)
    # each link that stands up lets the potential fall in one direction
    assert all(e.unstable_directions == round(float(e.q.sum()) / np.pi) for e in found)


def test_relative_angles_tilted_gravity_and_branches_are_proven_too():
    relative = find_equilibria(system(library.chain(links=3, coordinates="relative")))
    assert len(relative) == 8
    assert relative.complete == "proven"
    model = library.chain(links=2).with_changes(gravity=["3", "-4", 0])
    tilted = find_equilibria(system(model))
    down = np.arctan2(3.0, 4.0)
    same_sets([e.q for e in tilted], [(down + a, down + b) for a, b in product((0, np.pi), repeat=2)])
    assert np.allclose(tilted[0].q, [down, down])


def test_search_finds_what_is_proven():
    chain = system(library.chain(links=3, mass=[1, 2, 3], coordinates="relative"))
    rng = np.random.default_rng(3)
    balance, v = Balance.of(chain), np.zeros(3)
    domain = domain_of(balance, None)
    assert domain.circles.all()
    search = Search(_problem(balance, Turning.of(balance.system, v), domain, rng), domain, rng)
    search.run(200)
    same_sets([f.q for f in search.found], np.array(prove_tree(balance, v).states))
    assert search.starts > 200
    assert all(f.times > 0 for f in search.found)


def test_balanced_link_is_a_family_and_not_proven_by_weights():
    model = library.chain(links=2, com=[0.5, 0.0], inertia=[0.1, 0.1])
    assert prove_tree(Balance.of(system(model)), np.zeros(2)) is None
    found = find_equilibria(system(model))
    assert len(found) == 2
    assert all(list(e.free_directions[0]) == ["theta2_dot"] for e in found)


def test_lowest_equilibrium():
    assert pendula.equilibria.lowest_equilibrium(system(library.hoop_bead()))["theta"] == pytest.approx(
        -np.arccos(9.81 / 20)
    )
    assert pendula.equilibria.lowest_equilibrium(system(library.cart_pole()), inputs={"F": 1.0}) is None
    chain = library.chain(links=30, coordinates="relative").with_changes(gravity=["3", "-4", 0])
    assert np.allclose(
        pendula.equilibria.lowest_equilibrium(system(chain)).q, [np.arctan2(3, 4), *([0.0] * 29)], atol=1e-12
    )


def test_two_hundred_links_give_the_hanging_one_and_say_so():
    found = find_equilibria(system(library.chain(links=200)))
    assert len(found) == 1
    assert found.complete == "undecided"
    assert "2^200" in found.reason
    assert np.all(found[0].q == 0.0)
    assert found[0].unstable_directions == 0


def _weak_chain(links, k):
    """Unbalanced moments of uniform unit links with springs between them, written by hand."""

    def moments(x):
        weight = (links - 1 - np.arange(links) + 0.5) * 9.81
        twist = k * np.diff(np.concatenate([[0.0], x]))
        return -weight * np.sin(x) - twist + np.append(twist[1:], 0.0)

    return moments


@pytest.mark.parametrize(("links", "count"), [(2, 25), pytest.param(3, 125, marks=pytest.mark.slow)])
def test_weak_springs_keep_every_vertex_of_the_box(links, count):
    k = 0.02 * 9.81
    found = find_equilibria(system(library.chain(links=links, stiffness=k)))
    assert found.complete == "indicated"
    assert len(found) == count
    assert found.circles == ()
    moments = _weak_chain(links, k)
    assert all(np.abs(moments(e.q)).max() < 1e-10 for e in found)
    assert all(np.abs(e.q).max() < 2 * np.pi for e in found)
    # by hand: from every multiple of pi in the box
    near = [fsolve(moments, np.pi * np.array(p) * 0.99, xtol=1e-12) for p in product(range(-2, 3), repeat=links)]
    good = [x for x in near if np.abs(x).max() < 2 * np.pi and np.abs(moments(x)).max() < 1e-9]
    own = np.array([e.q for e in found])
    assert all(np.abs(own - x).max(axis=1).min() < 1e-6 for x in good)
    assert len(good) > 0.8 * count


def test_a_full_turn_of_everything_beyond_a_free_pivot_is_the_same_pose():
    """A spring between the links counts their turns against each other, and none counts those of both together."""
    found = find_equilibria(system(library.chain(links=2, stiffness=[0.0, 0.2])))
    poses = np.array([e.q for e in found])
    assert np.all((poses[:, 0] > -np.pi) & (poses[:, 0] <= np.pi + 1e-9))
    seen = {(round(float(np.cos(a)), 6), round(float(np.sin(a)), 6), round(float(b - a), 6)) for a, b in poses}
    assert len(seen) == len(found)
    relative = find_equilibria(
        system(library.chain(links=2, stiffness=[0.0, 0.2], coordinates="relative")), box={"theta2": 3 * np.pi}
    )
    other = {
        (round(float(np.cos(e["theta1"])), 6), round(float(np.sin(e["theta1"])), 6), round(e["theta2"], 6))
        for e in relative
    }
    assert seen <= other


def test_branches_are_followed_round_their_turning_point():
    k = 0.8  # k theta = -(m g l/2) sin(theta) then has roots near pi and near 2 pi
    model = library.chain(links=1, stiffness=k)
    assert spring_parameters(model) == ["k"]
    one = system(model)
    rng = np.random.default_rng(0)
    balance, v = Balance.of(one), np.zeros(1)
    problem = _problem(balance, Turning.of(balance.system, v), domain_of(balance, None), rng)
    ends = round_the_turn(loosened(problem, ["k"]), problem, np.array([[np.pi, 0.0]]))[:, 0]

    def moment(x):
        return k * x + 9.81 / 2 * np.sin(x)

    expected = [brentq(moment, np.pi, 4.4), brentq(moment, 4.4, 2 * np.pi)]  # the branch turns back in between
    assert len(ends) == 2
    assert np.allclose(sorted(ends), expected, atol=0.02)  # interpolated between two points of the branch
    found = find_equilibria(one)
    assert np.allclose(angles(found, "theta1"), [-expected[1], -expected[0], 0.0, *expected], atol=CLOSE)


def test_stiffness_that_is_used_elsewhere_is_not_varied():
    model = library.chain(links=1, stiffness="m*3", mass=1.0)
    assert "m" not in spring_parameters(model)


# -- closed loops ------------------------------------------------------------------------------------------


def _four_bar_potential(crank, sign):
    """Potential of the crank-rocker with its pin where two circles meet, by hand; rods weigh 1 per length."""
    a, b, c, d = 1.0, 2.0, 2.2, 2.5
    tip = a * np.array([np.sin(crank), -np.cos(crank)])
    pivot = np.array([d, 0.0])
    gap = pivot - tip
    far = np.hypot(*gap)
    along = (b**2 - c**2 + far**2) / (2 * far)
    across = np.sqrt(b**2 - along**2)
    pin = tip + along * gap / far + sign * across * np.array([-gap[1], gap[0]]) / far
    return 9.81 * (a * tip[1] / 2 + b * (tip[1] + pin[1]) / 2 + c * (pivot[1] + pin[1]) / 2)


def _stationary(potential):
    """Angles at which the slope of a potential changes sign."""

    def slope(x, h=1e-5):
        return (potential(x + h) - potential(x - h)) / (2 * h)

    grid = np.linspace(-np.pi, np.pi, 721)[:-1] + 0.001
    values = np.array([slope(x) for x in grid])
    return [
        brentq(slope, x, x + grid[1] - grid[0])
        for x, one, other in zip(grid, values, np.roll(values, -1), strict=True)
        if one * other < 0
    ]


@pytest.mark.parametrize("formulation", ["lagrange", "maximal", "projection"])
def test_four_bar_against_its_potential_over_the_crank(formulation):
    loop = system(library.four_bar(), formulation)
    found = find_equilibria(loop)
    cranks = [float(loop.in_joints.read(e.q, e.v)[0][0]) for e in found]
    expected = [x for sign in (1, -1) for x in _stationary(lambda q, s=sign: _four_bar_potential(q, s))]
    same_sets(np.array(sorted(cranks))[:, None], np.array(sorted(expected))[:, None], tol=1e-6)
    assert found.complete == "indicated"
    assert all(e.residual < 1e-10 for e in found)
    assert [e.unstable_directions for e in found] == [0, 1, 0, 1]


@pytest.mark.parametrize("mass", [1.0, 0.0])
def test_slider_crank_against_its_potential_over_the_crank(mass):
    loop = find_equilibria(system(library.slider_crank(slider_mass=mass, offset=0.3)))

    def potential(q):  # crank of length 1, rod of length 3 up to the rail at height 0.3; the slider stays level
        return 9.81 * (-0.5 * np.cos(q) + 3 * (-np.cos(q) + 0.3) / 2)

    expected = sorted(2 * _stationary(potential))  # the slider to the right and to the left
    same_sets(np.array(angles(loop, "crank"))[:, None], np.array(expected)[:, None], tol=1e-6)


def test_hanging_chain_held_at_both_ends():
    """Links between two pivots, against the conditions of Lagrange written by hand and solved by SciPy."""
    model = library.linkage(bars=5)
    found = find_equilibria(system(model))
    values = model.parameter_values
    lengths = np.array([1.0, 1.0, 1.0, values["last"]])
    start = system(model).initial_state().q
    end = np.array([lengths @ np.sin(start), -(lengths @ np.cos(start))])

    def conditions(z):
        x, (h, w) = z[:4], z[4:]
        below = np.cumsum(np.ones(4)[::-1])[::-1] - 0.5  # weights that hang on each link
        return np.concatenate(
            [
                9.81 * below * lengths * np.sin(x) + lengths * (h * np.cos(x) + w * np.sin(x)),
                [lengths @ np.sin(x) - end[0], -(lengths @ np.cos(x)) - end[1]],
            ]
        )

    rng = np.random.default_rng(5)
    roots = []
    for _ in range(300):
        z, _, status, _ = fsolve(
            conditions, [*rng.uniform(-np.pi, np.pi, 4), *rng.normal(size=2) * 20], full_output=True
        )
        turned = (z[:4] + np.pi) % (2 * np.pi) - np.pi
        if status == 1 and not any(np.abs(np.exp(1j * turned) - np.exp(1j * r)).max() < 1e-5 for r in roots):
            roots.append(turned)
    same_sets([e.q for e in found], roots, tol=1e-6)
    assert found[0].unstable_directions == 0


# -- space, families, charts -------------------------------------------------------------------------------


def test_rod_on_a_ball_joint_hangs_or_stands():
    found = find_equilibria(system(library.spatial_rod(orientation="quaternion")))
    assert [e.unstable_directions for e in found] == [0, 2]
    assert [list(e.free_directions[0]) for e in found] == [["ball_wx"], ["ball_wx"]]


def test_singular_chart_does_not_make_a_level_rod_rest():
    """With ZYZ angles at theta = 0 the moment of the weight has no coordinate to show on."""
    rod = system(library.spatial_rod())
    level = rod.forces([0.0, 0.0, np.pi / 2], [0.0, 0.0, 0.0])
    assert np.abs(level).max() < 1e-12
    everywhere = dict.fromkeys(rod.layout.coordinates, (-np.pi, np.pi))
    for found in (find_equilibria(rod), find_equilibria(rod, box=everywhere)):  # in quaternions, and in these angles
        height = [float(rod.energies(e.q, e.v).potential) for e in found]
        assert np.allclose(np.abs(height), 2.5 * 9.8 * 0.5)
    assert "singular chart" in found.reason


def hung_body(orientation, centre, gravity):
    """A body on a ball joint at the origin."""
    body = {"name": "b", "mass": 1.0, "com": centre, "inertia": [0.1, 0.12, 0.05]}
    ball = {"name": "j", "type": "spherical", "parent": {"body": "ground"}, "child": {"body": "b"}}
    return pendula.Model(
        name="hung body", bodies=[body], joints=[{**ball, "orientation": orientation}], gravity=gravity
    )


@pytest.mark.parametrize("orientation", ["xyz", "zxz", "space zyx", "rotation vector", "quaternion"])
def test_equilibria_of_a_body_on_a_ball_joint_are_listed_once_in_all_coordinates(orientation):
    """Angles name every pose twice: as (a, b, c) and as (a + pi, pi - b, c + pi) or alike."""
    found = find_equilibria(hung_body(orientation, (0.1, -0.2, -0.5), (-1.1, -9.81, -1.7)))
    weight, arm = np.linalg.norm([-1.1, -9.81, -1.7]), np.linalg.norm([0.1, -0.2, -0.5])
    assert [e.potential for e in found] == pytest.approx([-weight * arm, weight * arm])
    assert [e.unstable_directions for e in found] == [0, 2]
    assert [len(e.free_directions) for e in found] == [1, 1]  # turning about the vertical


def test_members_of_a_family_are_written_with_zeros_where_they_are_free():
    hanging, standing = find_equilibria(hung_body("xyz", (0.0, 0.0, -0.5), (0.0, 0.0, -9.81)))
    assert np.abs(hanging.q).max() == 0.0
    assert standing.q == pytest.approx([0.0, np.pi, 0.0])
    assert hanging.free_directions == ({"j_3_dot": 1.0},)


@pytest.mark.slow
def test_families_that_meet_are_joined():
    """In angles a walk towards a far member may fail although both lie on one curve; there are two, each named twice."""
    slider = {"name": "rod", "rod": {"mass": 0.8, "length": 0.6, "axis": [0.486, -0.428, 0.332], "diameter": 0.1}}
    turned = {"sequence": "zyz", "angles": [0.371, -1.459, 0.32]}
    rail = {
        "name": "s", "type": "prismatic", "parent": {"body": "b", "position": [0.377, -0.3, -0.197], "rotation": turned},
        "child": {"body": "rod", "position": [0.485, -0.457, -0.379]},
    }  # fmt: skip
    body = hung_body("xyz", (-0.236, 0.438, 0.214), (-1.123, -9.81, -1.743)).model_dump(mode="json", exclude_unset=True)
    model = pendula.Model(**{**body, "bodies": [*body["bodies"], slider], "joints": [*body["joints"], rail]})
    balance = Balance.of(system(model), None, None)
    domain, rng = domain_of(balance, None), np.random.default_rng(0)
    search = Search(_problem(balance, Turning.of(balance.system, np.zeros(4)), domain, rng), domain, rng)
    search.run(400)
    assert sum(bool(one.directions.family.size) for one in search.found) == 4


def test_a_proof_says_which_coordinates_have_no_effect():
    found = find_equilibria("cart-pole", prove=5.0)
    assert "x has no effect, so each equilibrium represents all values of x" in found.reason


@pytest.mark.slow
def test_weightless_linkages_have_a_family_for_every_assembly():
    """The poses of a four-bar whose shortest link turns fully form two closed curves, and all are equilibria."""
    found = find_equilibria(library.four_bar(), parameters={"g": 0.0})
    assert [len(e.free_directions) for e in found] == [1, 1]
    assert sum(found.found) == pytest.approx(found.starts, rel=0.05)


def test_a_pose_where_the_chart_hides_a_force_is_refused():
    for formulation in ("lagrange", "maximal"):
        with pytest.raises(NotAnEquilibrium, match="singular"):
            equilibrium_at(system(library.spatial_rod(), formulation), {"psi": np.pi / 2})
    bottom = equilibrium_at(system(library.spherical_pendulum()), {"theta": 0.0})  # singular, but balanced
    assert bottom.residual == 0.0


def test_without_forces_everything_is_one_family():
    found = find_equilibria(system(library.free_body()))
    assert len(found) == 1
    assert len(found[0].free_directions) == 6


# -- none, refusals ----------------------------------------------------------------------------------------


def test_no_equilibrium_is_an_answer_that_names_the_force():
    found = find_equilibria(system(library.cart_pole()), inputs={"F": 1.5})
    assert len(found) == 0
    assert found.complete == "proven"
    assert found.unbalanced == pytest.approx({"x_dot": 1.5})
    assert "no equilibrium" in str(found)
    assert "1.5 N on x_dot" in str(found)


@pytest.mark.parametrize(
    ("box", "count"), [(("-10deg", "10deg"), 1), ("200deg", 3), ((-1.0, "200deg"), 2), (np.array([-1.0, 1.0]), 1)]
)
def test_bounds_of_the_box_are_numbers_or_text(box, count):
    """A pendulum is at rest at theta = 0 and at half a turn to either side."""
    assert len(find_equilibria("pendulum", box={"theta": box})) == count


def test_none_in_a_box_leaves_the_least_force_at_its_edge():
    found = find_equilibria(system(library.pendulum()), box={"theta": (0.5, 1.0)})
    assert len(found) == 0
    assert found.unbalanced == pytest.approx({"theta_dot": -9.81 / 2 * np.sin(0.5)})


@pytest.mark.parametrize(
    ("make", "options", "said"),
    [
        (library.cart_pole, {"rates": {"theta": 1.0}}, "constant rate"),
        (library.cart_pole, {"rates": {"phi": 1.0}}, 'no coordinate "phi"'),
        (library.pendulum, {"box": {"x": 1.0}}, 'no coordinate "x"'),
        (library.pendulum, {"box": {"theta": (1.0, 0.0)}}, "lowest < highest"),
        (library.pendulum, {"starts": 0}, "whole number from 1"),
        (library.cart_pole, {"inputs": {"G": 1.0}}, 'no input "G"'),
    ],
)
def test_refusals(make, options, said):
    with pytest.raises(UsageError, match=said):
        find_equilibria(system(make()), **options)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (lambda: library.driven_chain(links=2), {}),
        (lambda: library.driven_linkage(bars=5), {}),
        (library.spring_mass_bar, {"parameters": {"F0": 1.0}}),
    ],
)
def test_nothing_rests_where_motions_or_loads_change_with_time(make, options):
    compiled = system(make())
    start = pendula.assemble(compiled).state.as_dict()
    hold = {name: start[name] for name in compiled.layout.coordinates[:1]}
    for ask in (
        lambda: find_equilibria(compiled, **options),
        lambda: pendula.linearize(compiled, hold, **options),
        lambda: pendula.equilibria.trim(compiled, hold, list(hold), **options),
    ):
        with pytest.raises(NotSupported, match="depend on time") as refused:
            ask()
        assert refused.value.refusal.id == "equilibria/depends-on-time"


def test_time_in_the_expression_of_a_force_is_noticed():
    push = {"type": "generalized", "coordinate": "theta", "value": "sin(3*t)"}
    model = library.pendulum().with_changes(forces=[push])
    with pytest.raises(NotSupported, match="depend on time"):
        find_equilibria(system(model))
    with pytest.raises(NotSupported, match="depend on time"):
        equilibrium_at(system(model), {"theta": 0.0})


LATE = {
    "late": "5 if t > 1000 else 0",
    "window": "5 if 1000 < t and t < 1000.001 else 0",
    "pulse": "3*exp(-((t - 5)/0.01)**2)",
    "odd pulse": "(t - at)*exp(-((t - at)/0.01)**2)",
    "step": "max(0, t - 3000)",
}


@pytest.mark.parametrize("value", LATE.values(), ids=LATE)
def test_a_load_that_acts_late_or_briefly_is_noticed(value):
    push = {"type": "generalized", "coordinate": "theta", "value": value}
    model = library.pendulum()
    model = model.with_changes(forces=[push], parameters={**model.parameters, "at": 5})
    with pytest.raises(NotSupported, match="depend on time"):
        find_equilibria(system(model))
    with pytest.raises(NotSupported, match="depend on time"):
        equilibrium_at(system(model), {"theta": 0.0})


def test_a_late_stiffness_leaves_the_equilibrium_but_not_its_linear_model():
    push = {"type": "generalized", "coordinate": "theta", "value": "-3*theta if t > 1000 else 0"}
    model = system(library.pendulum().with_changes(forces=[push]))
    assert equilibrium_at(model, {"theta": 0.0})["theta"] == 0.0
    with pytest.raises(UsageError, match="coefficients of small motion"):
        pendula.linearize(model, {"theta": 0.0})


def test_bodies_with_coordinates_of_their_own_do_not_stand_still_in_a_steady_turn():
    with pytest.raises(NotSupported, match="prescribed motion"):
        find_equilibria(system(library.hoop_bead(), "maximal"))


def test_a_constant_input_replaces_one_that_depends_on_time():
    found = find_equilibria(system(library.spring_mass_bar()), inputs={"F": 30.0}, parameters={"F0": 1.0})
    assert np.allclose([e["x"] for e in found], 0.1)
    assert angles(found) == [0.0, np.pi]


def test_the_same_seed_gives_the_same_result():
    loop = system(library.slider_crank())
    one, other = (find_equilibria(loop, starts=40, seed=7) for _ in range(2))
    assert one.found == other.found
    assert all(np.array_equal(a.q, b.q) for a, b in zip(one, other, strict=True))


@pytest.mark.slow
def test_a_search_without_result_says_what_is_left_even_if_closing_loops_leaves_the_box():
    """A free body with loads: closing its loop moves random poses out of the box that is searched."""
    found = pendula.find_equilibria(random_mechanism(14))
    assert len(found) == 0
    assert "remains unbalanced" in str(found)


def test_invariants_of_no_pose_at_all():
    """A search that finds nothing groups an empty list of poses."""
    system = pendula.compile_system(pendula.library.spatial_chain(links=2))
    orbits = Orbits.of(Balance(system, None, system.parameters))
    assert orbits is not None
    some = orbits.features(np.zeros((3, len(system.layout.coordinates))) + np.eye(len(system.layout.coordinates))[0])
    assert orbits.features(np.zeros((0, len(system.layout.coordinates)))).shape == (0, some.shape[1])
