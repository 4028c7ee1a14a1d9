"""Sets of equilibria that are called proven: compared with searches written here, and never wrong."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq

import pendula
from pendula import library
from pendula.analysis.equilibria.proofs import boxes
from pendula.errors import NotSupported, UsageError
from tests.helpers.choices import slow_too
from tests.helpers.loops import closed_chain

G = 9.81
TURN = 2 * math.pi


def chain_by_newton(stiffness: tuple[float, ...], half: float, starts: int, weights: tuple[float, ...]) -> np.ndarray:
    """Equilibria of a chain in angles from ground: weights sin(angle) and springs between neighbours, by many starts."""
    n, k, w = len(stiffness), np.array(stiffness), np.array(weights)
    spring = np.diag(k) + np.diag(np.append(k[1:], 0.0)) - np.diag(k[1:], 1) - np.diag(k[1:], -1)
    x = np.random.default_rng(1).uniform(-half, half, size=(starts, n))
    for _ in range(60):
        left = w * np.sin(x) + x @ spring
        slope = spring + np.einsum("ki,ij->kij", w * np.cos(x), np.eye(n))
        x = x - np.clip(np.linalg.solve(slope + 1e-14 * np.eye(n), left[..., None])[..., 0], -1.0, 1.0)
    left = np.abs(w * np.sin(x) + x @ spring).max(axis=1)
    x = x[(left < 1e-9) & np.all(np.abs(x) <= half, axis=1)]
    return np.unique(np.round(x, 6) + 0.0, axis=0)


PAIRS = [(1.0, 1.0), (0.3, 2.0), (4.0, 0.2), (0.1, 0.1), (2.0, 5.0)]


@pytest.mark.parametrize("pair", slow_too([0], [1, 2, 3, 4]))
def test_double_pendulum_with_torsion_springs(pair: int) -> None:
    """As many as 10,000 starts of Newton's method find (100,000 for slow ones), each in the bounds given for it."""
    found = pendula.find_equilibria(library.chain(links=2, stiffness=list(PAIRS[pair])), box=box(2, TURN), prove=60)
    known = chain_by_newton(PAIRS[pair], TURN, 100_000 if pair else 10_000, (1.5 * G, 0.5 * G))
    assert found.complete == "proven"
    assert "interval" in found.reason
    assert len(found) == len(known)
    for one in found:
        assert np.abs(known - one.q).max(axis=1).min() < 2e-6
        assert one.enclosure is not None
        assert all(high - low < 1e-11 for low, high in one.enclosure.values())


def box(links: int, half: float) -> dict[str, float]:
    return {f"theta{k + 1}": half for k in range(links)}


@pytest.mark.parametrize("links", slow_too([2], [3]))
def test_links_on_weak_springs_have_five_each(links: int) -> None:
    found = pendula.find_equilibria(library.chain(links=links, stiffness=0.02 * G), box=box(links, TURN), prove=120)
    assert (len(found), found.complete) == (5**links, "proven")


@pytest.mark.parametrize("branch", ["open", "crossed"])
def test_four_bar(branch: str) -> None:
    """Both branches of the linkage have two each; the crank stands where the height of the mass centre is stationary."""
    found = pendula.find_equilibria(library.four_bar(branch=branch), prove=60)
    assert found.complete == "proven"
    searched = pendula.find_equilibria(library.four_bar(branch=branch), starts=2000)
    assert len(found) == len(searched) == 4
    for one in searched:
        assert min(np.abs(np.exp(1j * other.q) - np.exp(1j * one.q)).max() for other in found) < 1e-8


FIVE_BARS = {
    "long ground": ((1.0, 1.2, 0.9, 1.1), (1.0, 1.5, 0.7, 1.2), (1.9, 0.4), None),
    "short ground": ((1.0, 1.3, 0.8, 1.45), (1.0, 0.6, 1.9, 1.2), (0.35, -0.2), None),
    "spring": ((0.98, 0.85, 1.27, 1.35), (0.9, 1.9, 0.6, 1.1), (1.1, 0.7), (30.0, 0.2, (-2.1, 0.9))),
    "soft spring": ((1.1, 1.4, 0.7, 0.8), (1.4, 0.5, 1.0, 1.7), (0.5, 0.6), (6.0, 0.1, (0.3, 2.9))),
    "spring that closes": ((0.98, 0.85, 1.27, 1.35), (0.9, 1.9, 0.6, 1.1), (1.1, 0.7), (30.0, 0.2, (-0.6, 0.9))),
    "flat": ((1.0, 1.5, 0.5, 1.0), (1.0, 1.5, 0.5, 1.0), (2.0, 0.0), None),
    "level": ((1.0, 1.5, 1.5, 1.0), (1.0, 1.5, 1.5, 1.0), (1.2, 0.0), None),
}
"""lengths, masses, place of the second pivot, and stiffness, length and anchor of a spring that pulls at the joint
between b and c"""


def five_bar(name: str) -> pendula.Model:
    """Rods a, b from the origin and d, c from the second pivot, which meet; angles from ground."""
    lengths, masses, pivot, spring = FIVE_BARS[name]

    def pin(body: str, parent: object) -> dict[str, object]:
        return {"name": body, "type": "revolute", "parent": parent, "child": body, "measured_from": "ground"}

    joints = [
        pin("a", "ground"),
        pin("b", {"body": "a", "at": "tip"}),
        pin("d", {"body": "ground", "position": [*pivot, 0]}),
        pin("c", {"body": "d", "at": "tip"}),
        {
            "name": "pin",
            "type": "coincident",
            "parent": {"body": "b", "at": "tip"},
            "child": {"body": "c", "at": "tip"},
        },
    ]
    forces = []
    if spring is not None:
        stiffness, length, anchor = spring
        ends = {"from": {"body": "ground", "position": [*anchor, 0]}, "to": {"body": "b", "at": "tip"}}
        forces = [{"type": "spring", **ends, "stiffness": stiffness, "length": length}]
    bodies = [{"name": n, "rod": {"mass": m, "length": l}} for n, m, l in zip("abcd", masses, lengths, strict=True)]
    return pendula.Model(name=name, gravity=[0, -G, 0], bodies=bodies, joints=joints, forces=forces)


def five_bar_by_newton(name: str, starts: int) -> np.ndarray:
    """Equilibria of the same (angles a, b, d, c) by Newton's method for stationary V + lam g, written out by hand."""
    (la, lb, lc, ld), (ma, mb, mc, md), pivot, spring = FIVE_BARS[name]
    length = np.array([la, lb, ld, lc])
    weight = G * np.array([ma / 2 + mb, mb / 2, md / 2 + mc, mc / 2]) * length
    side = np.array([1.0, 1.0, -1.0, -1.0])
    rng = np.random.default_rng(3)
    q = rng.uniform(-math.pi, math.pi, size=(starts, 4))
    lam = rng.normal(size=(starts, 2)) * 30.0
    stiffness, rest, anchor = spring or (0.0, 1.0, (9.0, 9.0))

    def slopes(q: np.ndarray, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gradient of V + lam g by q, gaps, and their slopes."""
        s, c = np.sin(q) * length, -np.cos(q) * length
        ds, dc = -c, s
        gap = np.stack([s @ side - pivot[0], c @ side - pivot[1]], axis=1)
        jacobian = np.stack([ds * side, dc * side], axis=1)
        to = np.array([1.0, 1.0, 0.0, 0.0])
        away = np.stack([s @ to - anchor[0], c @ to - anchor[1]], axis=1)
        d = np.linalg.norm(away, axis=1, keepdims=True)
        pull = stiffness * (1.0 - rest / d) * away
        gradient = weight * np.sin(q) + np.einsum("kji,kj->ki", jacobian, lam)
        return gradient + (pull[:, :1] * ds + pull[:, 1:] * dc) * to, gap, jacobian

    h = 1e-6
    for _ in range(80):
        left, gap, jacobian = slopes(q, lam)
        J = np.zeros((len(q), 6, 6))
        for i in range(4):
            step = h * np.eye(4)[i]
            J[:, :4, i] = (slopes(q + step, lam)[0] - slopes(q - step, lam)[0]) / (2 * h)
        J[:, 4:, :4], J[:, :4, 4:] = jacobian, np.swapaxes(jacobian, 1, 2)
        change = np.linalg.solve(J + 1e-12 * np.eye(6), -np.concatenate([left, gap], axis=1)[..., None])[..., 0]
        change *= np.minimum(1.0, 0.7 / np.maximum(np.abs(change[:, :4]).max(axis=1, keepdims=True), 1e-300))
        q, lam = q + change[:, :4], lam + change[:, 4:]
        good = np.isfinite(q).all(axis=1) & np.isfinite(lam).all(axis=1)
        q, lam = q[good], lam[good]
    left, gap, _ = slopes(q, lam)
    q = q[(np.abs(left).max(axis=1) < 1e-6) & (np.abs(gap).max(axis=1) < 1e-9)]
    circle = np.unique(np.round(np.concatenate([np.cos(q), np.sin(q)], axis=1), 5) + 0.0, axis=0)
    kept: list[np.ndarray] = []
    for one in circle:
        if not any(np.abs(one - other).max() < 1e-4 for other in kept):
            kept.append(one)
    return np.array(kept)


@pytest.mark.parametrize("name", slow_too(["spring"], ["long ground", "short ground", "soft spring", "level"]))
def test_five_bars(name: str) -> None:
    """Two freedoms in a closed loop: as many as Newton's method finds from many starts, each at one of its places."""
    found = pendula.find_equilibria(five_bar(name), prove=60)
    known = five_bar_by_newton(name, 1500 if name == "spring" else 20_000)
    assert found.complete == "proven"
    assert len(found) == len(known)
    for one in found:
        place = np.concatenate([np.cos(one.q), np.sin(one.q)])
        assert np.abs(known - place).max(axis=1).min() < 2e-5
        assert all(high - low < 1e-10 for low, high in one.enclosure.values())


@pytest.mark.slow
@pytest.mark.parametrize("bars", [6, 7])
def test_linkages_of_three_and_four_freedoms(bars: int) -> None:
    """An arch of equal bars: the search from many starts finds the same number."""
    found = pendula.find_equilibria(library.linkage(bars=bars), prove=120)
    searched = pendula.find_equilibria(library.linkage(bars=bars), starts=5000)
    assert found.complete == "proven"
    assert len(found) == len(searched)


def test_where_constraints_may_be_dependent_nothing_is_proven() -> None:
    """Bars that can lie flat: there the constraints lose rank, and each such pose lies in an undecided box."""
    found = pendula.find_equilibria(five_bar("flat"), prove=60)
    assert found.complete == "undecided"
    (la, lb, lc, ld), _, (x, _), _ = FIVE_BARS["flat"]
    signs = [s for s in product((1, -1), repeat=4) if s[0] * la + s[1] * lb == x + s[2] * ld + s[3] * lc]
    assert len(signs) == 2
    flat = [{n: s * math.pi / 2 for n, s in zip("abdc", four, strict=True)} for four in signs]
    for pose in flat:
        assert any(all(within(pose[n], *place[n]) for n in pose) for place in found.undecided)


def within(angle: float, low: float, high: float) -> bool:
    """Whether an angle lies in an interval, up to turns."""
    return any(low <= angle + k * TURN <= high for k in (-1, 0, 1))


@pytest.mark.slow
def test_a_spring_that_can_close_leaves_undecided_places() -> None:
    """Where its ends meet its force has no direction: 16 are verified, 4 ways to bring the ends together undecided."""
    found = pendula.find_equilibria(five_bar("spring that closes"), prove=60)
    assert found.complete == "undecided"
    lengths, _, _, (_, _, anchor) = FIVE_BARS["spring that closes"]
    assert len(found) == len(five_bar_by_newton("spring that closes", 4000))
    assert len(found.undecided) == 4
    for place in found.undecided:
        a, b = (sum(place[n]) / 2 for n in "ab")
        x, y = (lengths[0] * f(a) + lengths[1] * f(b) for f in (math.sin, lambda q: -math.cos(q)))
        assert math.hypot(x - anchor[0], y - anchor[1]) < 1e-4


def test_slider_crank_with_a_spring() -> None:
    model = library.slider_crank()
    joint = next(j.name for j in model.joints if j.type == "prismatic")
    model = model.with_changes(forces=[{"type": "spring", "joint": joint, "stiffness": 40.0, "length": 0.3}])
    found = pendula.find_equilibria(model, prove=60)
    searched = pendula.find_equilibria(model, starts=2000)
    assert found.complete == "proven"
    assert len(found) == len(searched) >= 2


@pytest.mark.parametrize("share", [*np.linspace(0.3, 0.95, 8), *np.linspace(1.05, 3.0, 12)])
def test_bead_on_a_hoop_at_20_speeds(share: float) -> None:
    """Two below the speed sqrt(g/r), four above it."""
    model = library.hoop_bead()
    values = model.parameter_values
    radius = next(values[name] for name in ("r", "R") if name in values)
    speed = share * math.sqrt(values["g"] / radius)
    found = pendula.find_equilibria(model, parameters={"Omega": speed}, prove=30)
    assert (len(found), found.complete) == (2 if share < 1 else 4, "proven")


def test_at_the_bifurcation_of_the_hoop_nothing_is_proven() -> None:
    model = library.hoop_bead()
    values = model.parameter_values
    radius = next(values[name] for name in ("r", "R") if name in values)
    found = pendula.find_equilibria(model, parameters={"Omega": math.sqrt(values["g"] / radius)}, prove=30)
    assert found.complete == "undecided"
    assert any(low <= 1e-3 and high >= -1e-3 for place in found.undecided for low, high in place.values())


BUMPS = [(place, width) for place in (1.0, 2.5, 4.0, 4.5, 5.0, -2.0) for width in (20.0, 500.0, 5e4)]


@pytest.mark.parametrize(("place", "width"), BUMPS)
def test_narrow_bumps_are_not_missed_by_a_proof(place: float, width: float) -> None:
    """A pendulum of 1 kg at 1 m, and a force that acts near one angle only."""

    def moment(x):
        return -G * np.sin(x) - 60 * np.exp(-width * (x - place) ** 2)

    value = f"-60*exp(-{width}*(theta - {place})**2)"
    bump = {"type": "generalized", "coordinate": "theta", "value": value}
    model = library.pendulum(kind="point").with_changes(forces=[bump], parameters={"m": 1.0, "l": 1.0, "g": G})
    found = pendula.find_equilibria(model, prove=30)
    low, high = found.box["theta"]
    x = np.unique(np.concatenate([np.linspace(low, high, 20001), np.linspace(place - 0.5, place + 0.5, 40001)]))
    x = x[(x >= low) & (x <= high)]
    y = moment(x)
    roots = [brentq(moment, a, b, xtol=1e-14) for a, b, s in zip(x[:-1], x[1:], y[:-1] * y[1:], strict=True) if s < 0.0]
    roots += x[y == 0.0].tolist()
    assert found.complete == "proven"
    assert "theta" not in found.circles
    np.testing.assert_allclose(np.sort([one["theta"] for one in found]), np.sort(roots), atol=1e-8)


@pytest.mark.parametrize("where", ["force", "input"])
def test_what_happens_later_is_not_proven_away(where: str) -> None:
    late, push = "0 if t < 300 else 5", {"type": "generalized", "coordinate": "theta", "value": "F"}
    if where == "force":
        model = library.pendulum().with_changes(forces=[push | {"value": late}])
    else:
        model = library.pendulum().with_changes(inputs={"F": late}, forces=[push])
    with pytest.raises(NotSupported, match="depend on time"):
        pendula.find_equilibria(model, prove=5)
    if where == "input":
        assert pendula.find_equilibria(model, inputs={"F": 0.0}, prove=5).complete == "proven"


@pytest.mark.parametrize("block", slow_too(range(1), range(1, 20)))
def test_proven_sets_are_never_short(block: int) -> None:
    """10 random chains in each block: masses, lengths and springs at random; a search from 4000 starts finds no other."""
    rng = np.random.default_rng(block)
    for _ in range(10):
        n = int(rng.integers(1, 3))
        mass, length = rng.uniform(0.5, 2.0, size=n), rng.uniform(0.5, 1.5, size=n)
        stiffness = 10.0 ** rng.uniform(-1.0, 1.3, size=n)
        above = np.array([mass[k] / 2 + mass[k + 1 :].sum() for k in range(n)])
        half = float(rng.uniform(3.3, 7.0))
        model = library.chain(links=n, mass=mass.tolist(), length=length.tolist(), stiffness=stiffness.tolist())
        found = pendula.find_equilibria(model, box=box(n, half), prove=30)
        known = chain_by_newton(tuple(stiffness), half, 4000, tuple(above * length * G))
        if found.complete == "proven":
            assert len(found) == len(known)
        else:
            assert found.undecided


def test_time_and_arguments_are_checked() -> None:
    with pytest.raises(UsageError, match="prove must be a positive number of seconds"):
        pendula.find_equilibria("pendulum", prove=-1)
    assert pendula.find_equilibria("heavy-top", rates={"pivot about body z": 60.0}, prove=1).complete != "proven"


@pytest.mark.parametrize("kind", ["revolute", "fixed", "spherical"])
def test_loops_in_space_are_not_called_proven(kind: str) -> None:
    """They may close in two ways of which one counts, or have more than one freedom: nothing is claimed."""
    from pendula.analysis.equilibria.balance import Balance
    from pendula.analysis.equilibria.proofs.equations_at_rest import equations_at_rest
    from pendula.numerics.intervals.tape import Undecidable

    system = pendula.compile_system(closed_chain(kind), "kane")
    with pytest.raises(Undecidable):
        equations_at_rest(Balance.of(system), np.zeros(len(system.layout.speeds)))


@pytest.mark.parametrize(
    ("stiffness", "anchor"),
    [(20.0, (0.7, 0.4, -0.9)), (60.0, (0.2, -0.5, 0.3)), (200.0, (0.9, 0.1, 0.6)), (5.0, (-1, 1, 1))],
)
def test_a_spherical_pendulum_on_a_spring_off_its_axis(stiffness: float, anchor: tuple[float, float, float]) -> None:
    """All equilibria on the sphere, also where the chart of angles is singular.

    Forces balance where m g z + k (1 - L/d) (p - a) is along p, so in the plane of the vertical and the anchor: there
    the roots on a circle are counted by their changes of sign.
    """
    model = pendula.library.spherical_pendulum()
    spring = {
        "name": "spring", "type": "spring", "from": {"body": "ground", "position": list(anchor)}, "to": "bob",
        "stiffness": stiffness, "length": 0.3,
    }  # fmt: skip
    found = pendula.find_equilibria(model.with_changes(forces=[spring]), prove=60)
    assert found.complete == "proven"
    a = np.array(anchor, dtype=float)
    across = np.array([a[0], a[1], 0.0]) / np.hypot(a[0], a[1])
    angle = np.linspace(-np.pi, np.pi, 200_001)[:-1] + 1e-5
    p = np.sin(angle)[:, None] * across - np.cos(angle)[:, None] * np.array([0.0, 0.0, 1.0])
    tangent = np.cos(angle)[:, None] * across + np.sin(angle)[:, None] * np.array([0.0, 0.0, 1.0])
    d = np.linalg.norm(p - a, axis=1)[:, None]
    force = 9.81 * np.array([0.0, 0.0, 1.0]) + stiffness * (1.0 - 0.3 / d) * (p - a)
    along = np.sum(force * tangent, axis=1)
    places = np.flatnonzero(along * np.roll(along, -1) < 0.0)
    system = pendula.compile_system(model)
    positions = [system.poses([e["theta"], e["phi"]])[1][0] for e in found]
    assert len(positions) == len(places)
    for k in places:
        assert min(np.linalg.norm(x - p[k]) for x in positions) < 1e-3


def test_where_several_coordinates_count_no_expression_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proof at once is for one coordinate; to expand the forces of an arm in space took half a minute."""
    monkeypatch.setattr(boxes, "equations_at_rest", lambda *given, **more: pytest.fail("expressions are expanded"))
    found = pendula.find_equilibria(library.double_pendulum())
    assert len(found) > 0
    assert found.complete == "indicated"
