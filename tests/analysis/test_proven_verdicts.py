"""Verdicts on closed loops and on bodies turned by quaternions that are called proven: known truths, and never wrong."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pendula
from pendula import library
from tests.helpers.choices import slow_too

G = 9.81


# -- closed loops ------------------------------------------------------------------------------------------------


def energy(q: mp.mpf, lengths: tuple[float, ...], sign: int) -> mp.mpf:
    """Potential of library.four_bar without a spring at a crank angle; the pin is where two circles meet."""
    a, b, c, d = (mp.mpf(x) for x in lengths)
    x, y = a * mp.sin(q), -a * mp.cos(q)
    across, up = d - x, -y
    far = mp.sqrt(across**2 + up**2)
    along = (b**2 - c**2 + far**2) / (2 * far)
    height = mp.sqrt(b**2 - along**2)
    pin = y + (along * up + sign * height * across) / far
    return mp.mpf(G) * (a * y / 2 + b * (y + pin) / 2 + c * pin / 2)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_loops_hang_stably_and_stand_unstably(name: str) -> None:
    found = pendula.find_equilibria(name)
    verdicts = [pendula.stability(name, one) for one in found]
    assert {v.certainty for v in verdicts} == {"proven"}
    assert verdicts[0].verdict == "stable"
    assert verdicts[-1].verdict == "unstable"
    for one, verdict in zip(found, verdicts, strict=True):
        assert (verdict.verdict == "stable") == (one.unstable_directions == 0)


@pytest.mark.parametrize("formulation", ["lagrange", "kane", "newton-euler", "maximal", "projection"])
def test_every_formulation_proves_the_verdicts_of_a_loop(formulation: str) -> None:
    system = pendula.compile_system(library.four_bar(), formulation)
    found = pendula.find_equilibria(system, starts=40)
    assert [pendula.stability(system, found[k]).certainty for k in (0, -1)] == ["proven", "proven"]


def test_friction_makes_a_hanging_five_bar_asymptotically_stable() -> None:
    bars = library.linkage(bars=5)
    drag = [{"type": "friction", "joint": f"theta{k}", "coefficient": 0.3} for k in (1, 2, 3, 4)]
    damped = bars.with_changes(forces=[*bars.forces, *drag])
    low, high = pendula.find_equilibria(damped)
    for one, verdict in ((low, "asymptotically stable"), (high, "unstable")):
        found = pendula.stability(damped, one)
        assert (found.verdict, found.certainty) == (verdict, "proven")


def slope(q: mp.mpf, lengths: tuple[float, ...], sign: int) -> mp.mpf:
    """Derivative of the potential, by a complex step."""
    return mp.im(energy(mp.mpc(q, STEP**2), lengths, sign)) / STEP**2


def curvature(q: mp.mpf, lengths: tuple[float, ...], sign: int) -> mp.mpf:
    return (slope(q + STEP, lengths, sign) - slope(q - STEP, lengths, sign)) / (2 * STEP)


def settled(q: mp.mpf, stiffness: float, rest: float, lengths: tuple[float, ...], sign: int) -> mp.mpf | None:
    """Newton's method for the equilibrium with a torsion spring; None if it fails."""
    k = mp.mpf(stiffness)
    for _ in range(12):
        change = (slope(q, lengths, sign) + k * (q - rest)) / (curvature(q, lengths, sign) + k)
        if not abs(change) < 0.5:
            return None
        q -= change
    return q if abs(change) < STEP else None


STEP = mp.mpf(10) ** -15


@pytest.mark.parametrize("block", slow_too([0], range(1, 6)))
def test_four_bars_near_the_limit_of_stability(block: int) -> None:
    """A torsion spring cancels the stiffness of gravity up to a share of 1e-15 to 1: proven only if 60 digits agree."""
    rng = np.random.default_rng(block)
    proven = 0
    while proven < (2 if block == 0 else 5):
        lengths = tuple(float(x) for x in rng.uniform(1.0, 2.0, size=4))
        sign = int(rng.choice([-1, 1]))
        with mp.workdps(60):
            place = settled(mp.mpf(float(rng.uniform(-1.0, 1.0))), 0.0, 0.0, lengths, sign)
            far = (
                None if place is None else mp.hypot(lengths[3] - lengths[0] * mp.sin(place), lengths[0] * mp.cos(place))
            )
            if far is None or not abs(lengths[1] - lengths[2]) + 0.1 < far < lengths[1] + lengths[2] - 0.1:
                continue
            share = float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(-15, 0))
            stiffness, rest = float(-curvature(place, lengths, sign) * (1 + share)), float(place)
            true = settled(place, stiffness, rest, lengths, sign)
            if true is None:
                continue
            left = curvature(true, lengths, sign) + mp.mpf(stiffness)
        spring = {"type": "torsion-spring", "joint": "crank", "stiffness": stiffness, "rest": rest}
        model = library.four_bar(lengths=lengths, branch="open" if sign > 0 else "crossed", start=float(true))
        model = model.with_changes(forces=[spring])
        start = pendula.compile_system(model).initial_state()
        found = pendula.stability(model, {n: start[n] for n in ("crank", "coupler", "rocker")})
        if found.certainty == "proven":
            proven += 1
            assert (found.verdict == "stable") == (left > 0)
        else:
            assert abs(share) < 1e-5, found.grounds  # another equilibrium is near


# -- steady motions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["quaternion", pytest.param("xyz", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("share", "certain"), [(0.999, "unstable"), (1.001, "critical"), (-2.0, "critical")])
def test_a_sleeping_top_is_proven_on_both_sides_of_its_critical_spin(kind: str, share: float, certain: str) -> None:
    """Iz w = 2 sqrt(m g h I), with moments about the pivot."""
    critical = 2 * math.sqrt(1.3 * G * 0.5 * (0.2 + 1.3 * 0.25)) / 0.1
    found = pendula.stability(ball(kind, h=-0.5), {"j0_wz" if kind == "quaternion" else "j0_3_dot": share * critical})
    assert found.verdict.split(":")[0] == certain
    assert found.certainty == "proven", found.grounds


def test_an_uneven_top_that_sleeps_is_not_proven() -> None:
    """Its masses change along the spin, so that angular momentum about its axis is not kept."""
    critical = 2 * math.sqrt(1.3 * G * 0.5 * (0.2 + 1.3 * 0.25)) / 0.1
    found = pendula.stability(ball(h=-0.5, Iy=0.21), {"j0_wz": 2.0 * critical})
    assert found.certainty != "proven" or found.verdict == "unstable"


@pytest.mark.parametrize(("tilt", "spin"), [(0.5, 60.0), pytest.param(2.5, 5.0, marks=pytest.mark.slow)])
def test_steady_precession_is_proven_stable(tilt: float, spin: float) -> None:
    """Both rates of a heavy symmetric top; nutation about each has a real frequency (Goldstein, section 5.7)."""
    for one in pendula.equilibria.steady_precession("heavy-top", tilt, spin).motions:
        found = pendula.stability("heavy-top", one)
        assert found.verdict.startswith("critical: drifts along the rotation about z, the spin of top")
        assert found.certainty == "proven", found.grounds


# -- quaternions -------------------------------------------------------------------------------------------------


def ball(
    kind: str = "quaternion", bodies: int = 1, forces: tuple[dict, ...] = (), **parameters: object
) -> pendula.Model:
    """Bodies that hang from each other by ball joints, each with its mass centre h below its joint."""
    names = [f"b{k}" for k in range(bodies)]
    tops = ["ground", *({"body": name, "at": "tip"} for name in names)]
    return pendula.Model(
        name="balls",
        gravity=[0, 0, "-g"],
        parameters={"g": G, "m": 1.3, "h": 0.5, "Ix": 0.2, "Iy": "Ix", "Iz": 0.1} | parameters,
        bodies=[
            {
                "name": n,
                "mass": "m",
                "com": [0, 0, "-h"],
                "inertia": ["Ix", "Iy", "Iz"],
                "points": {"tip": [0, 0, "-2*h"]},
            }
            for n in names
        ],
        joints=[
            {"name": f"j{k}", "type": "spherical", "orientation": kind, "parent": tops[k], "child": n}
            for k, n in enumerate(names)
        ],
        forces=list(forces),
    )


@pytest.mark.parametrize(("bodies", "moment"), [(1, "Ix"), (1, 0.3), pytest.param(2, "Ix", marks=pytest.mark.slow)])
def test_bodies_on_ball_joints_hang_stably_and_stand_unstably(bodies: int, moment: object) -> None:
    """They turn freely about the vertical; with a symmetric body each about its own axis."""
    model = ball(bodies=bodies, Iy=moment)
    for one in pendula.find_equilibria(model):
        found = pendula.stability(model, one)
        hangs = one.unstable_directions == 0
        drifting = ", ".join(f"j{k}_rz" for k in range(bodies))
        assert found.verdict == (f"critical: drifts along {drifting}, stable otherwise" if hangs else "unstable")
        assert found.certainty == "proven"


def test_two_asymmetric_bodies_do_not_turn_alone_and_nothing_false_is_proven() -> None:
    """Both turn about the vertical together or apart, but only together without change of mass."""
    model = ball(bodies=2, Iy=0.3)
    found = pendula.stability(model, {})
    assert found.certainty != "proven"


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_top_spinning_too_slowly_is_unstable(share: float) -> None:
    """Sleeping top: unstable below Iz w = 2 sqrt(m g h I), with moments about the pivot."""
    model = ball(h=-0.5)
    speed = share * 2 * math.sqrt(1.3 * G * 0.5 * (0.2 + 1.3 * 0.25)) / 0.1
    found = pendula.stability(model, {"j0_wz": speed})
    assert (found.verdict, found.certainty) == ("unstable", "proven")


@pytest.mark.parametrize("kind", ["quaternion", "zxz", "rotation vector"])
@pytest.mark.parametrize("seed", slow_too([0], range(1, 12)))
def test_bodies_on_springs_are_judged_by_the_curvature_of_their_potential(kind: str, seed: int) -> None:
    """The potential on rotations R exp(x) is written out here; differences of it have the signs of the verdict."""
    rng = np.random.default_rng(seed)
    anchors, points = rng.uniform(-1.0, 1.0, size=(2, 2, 3))
    stiffness, rest = rng.uniform(5.0, 40.0, size=2), rng.uniform(0.05, 0.4, size=2)
    springs = [
        {
            "type": "spring", "from": {"body": "ground", "position": a.tolist()}, "to": {"body": "b0", "position": p.tolist()},
            "stiffness": float(k), "length": float(l),
        }
        for a, p, k, l in zip(anchors, points, stiffness, rest, strict=True)
    ]  # fmt: skip
    model = ball(kind, 1, tuple(springs), Iy=0.3)
    system = pendula.compile_system(model)

    def potential(R: np.ndarray, x: np.ndarray) -> float:
        turned = R @ Rotation.from_rotvec(x).as_matrix()
        lengths = np.linalg.norm(points @ turned.T - anchors, axis=1)
        return float(1.3 * G * turned[2] @ [0.0, 0.0, -0.5] + np.sum(stiffness / 2 * (lengths - rest) ** 2))

    judged = 0
    h = 1e-4
    for one in pendula.find_equilibria(system, starts=60):
        found = pendula.stability(system, one)
        assert found.certainty == "proven"
        R = system.poses(one.q)[0][0]
        signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
        V = np.array(
            [
                [sum(s * t * potential(R, h * (s * e + t * f)) for s, t in signs) / (4 * h * h) for f in np.eye(3)]
                for e in np.eye(3)
            ]
        )
        lowest = float(np.linalg.eigvalsh(V)[0])
        assert abs(lowest) > 1e-4  # far beyond the error of these differences
        assert (found.verdict == "stable") == (lowest > 0)
        judged += 1
    assert judged >= 2
