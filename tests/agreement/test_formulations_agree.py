"""Formulations share poses and nothing else, so where they agree they are right: on every library mechanism in
every variant, and on random mechanisms."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pytest

import pendula
from pendula.analysis.court import agreement
from pendula.equations.formulations.registry import formulations
from pendula.system.joint_forces import jacobi_integral, joint_wrenches
from pendula.system.system import BodyMotion, Energies
from tests.helpers.choices import formulations_in_turn, some_formulations, two_formulations
from tests.helpers.loops import CLOSING, closed_chain
from tests.helpers.mechanisms import VARIANTS, has_ball, is_driven, library_system
from tests.helpers.numbers import Array, drive_forces, regular, states
from tests.helpers.random_mechanisms import random_mechanism

pytestmark = pytest.mark.usefixtures("quick_code")

AGREES = 1e-10
"""Relative difference: round-off (1e-16) of some hundred operations, times a condition of at most 1e5."""
STATES = 40
NAMES = tuple(formulations())

SEEDS = (9, 14, 15, 18, 20, 26, 32, 33, 40)
"""Of 1 to 5 bodies, some with a loop: with the next two, few that have every joint, force and way to use them twice."""
CLOSED_SEEDS = (1002, 1004, 1006, 1007, 1008, 1009)
"""Each with a loop: where the seed lets one be closed, which the test makes sure of."""
LARGE_SEEDS = (3000, 3001)
"""Of 6 bodies."""
MORE_SEEDS = (*(seed for seed in range(44) if seed not in SEEDS), 1003, *range(2000, 2240))
MORE_CLOSED_SEEDS = (1012, 1014, *range(1016, 1021), 1022, 1023)
MORE_LARGE_SEEDS = range(3002, 3020)


def _relative(x: Array, y: Array, floor: Array | float = 0.0) -> float:
    """Largest difference of rows, each relative to its own size or to a floor where that is larger."""
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    if x.size == 0:
        return 0.0
    size = np.maximum(np.maximum(np.abs(x).max(axis=1), np.abs(y).max(axis=1)), floor)
    gap = np.abs(x - y).max(axis=1)
    assert np.all(np.isfinite(gap))
    return float((gap / np.maximum(size, 1e-300)).max())


@dataclass(frozen=True)
class _Seen:
    """What one formulation says at some states of the joints."""

    system: pendula.results.System
    speeds: Array
    motion: BodyMotion
    energies: Energies
    power: Array
    drives: Array
    poses: tuple[Array, Array]
    transmitted: Array | None
    own: dict[str, Array]
    """Where coordinates are those of the joints: parts of the equations themselves."""

    @cached_property
    def total(self) -> Array:
        return np.abs(self.energies.kinetic) + np.abs(self.energies.potential)


def _seen(s: pendula.results.System, t: Array, q: Array, v: Array) -> _Seen:
    x, y = s.in_joints.place(q, v, t)
    own: dict[str, Array] = {}
    if not s.equations.nodes:
        own = {"jacobi": jacobi_integral(s, q, v, t), "mass matrix": s.mass_matrix(q, t)}
        if s.equations.loop_rows:
            own["multipliers"] = s.multipliers(q, v, t)
            own["constraint forces"] = np.einsum("kri,kr->ki", s.constraint_jacobian(q, t), own["multipliers"])
            own["gaps"], own["gap rates"] = (gap + 1.0 for gap in s.gaps(q, v, t))
    return _Seen(
        s,
        s.in_joints.accelerations(x, y, t),
        s.body_motion(x, y, s.accelerations(x, y, t), t),
        s.energies(x, y, t),
        s.power(x, y, t),
        drive_forces(s, x, y, t)[0],
        s.poses(x, t),
        joint_wrenches(s, x, y, t).force if s.equations.transmitted else None,
        own,
    )


def _differences(a: _Seen, b: _Seen) -> dict[str, float]:
    """Everything two formulations have in common, as the largest relative difference."""
    one, two, total = a.motion, b.motion, a.total
    size = [np.abs(x.reshape(len(total), -1)).max(axis=1) for x in (one.angular_velocity, one.velocity)]
    # bodies are about one length unit large: a turn that vanishes is measured against the shift
    turning = size[0] ** 2 + np.abs(one.acceleration.reshape(len(total), -1)).max(axis=1)
    found = {
        "speeds": _relative(a.speeds, b.speeds),
        "bodies": _relative(one.acceleration, two.acceleration, size[0] * size[1]),
        "turning": _relative(one.angular_acceleration, two.angular_acceleration, turning),
        "velocities": _relative(one.velocity, two.velocity, 1.0),
        "rates of turning": _relative(one.angular_velocity, two.angular_velocity, 1.0),
        "kinetic": _relative(a.energies.kinetic, b.energies.kinetic, total),
        "potential": _relative(a.energies.potential, b.energies.potential, total),
        "power": _relative(a.power, b.power, total),
        "drives": _relative(a.drives, b.drives, 1.0),
        "poses": _relative(a.poses[1], b.poses[1], 1.0),
        "axes": _relative(a.poses[0], b.poses[0], 1.0),
    }
    if a.transmitted is not None and b.transmitted is not None:
        found["closing joints"] = _closing(a.system, a.transmitted, b.system, b.transmitted)
    if a.own and b.own:
        assert a.own.keys() == b.own.keys()
        found |= {what: _relative(x, b.own[what], total if what == "jacobi" else 0.0) for what, x in a.own.items()}
    return found


def _closing(a: pendula.results.System, x: Array, b: pendula.results.System, y: Array) -> float:
    """Difference of the forces in closing joints."""
    names = [j.name for j in a.model.closures]
    if not names:
        return 0.0
    first, second = ([t.joint for t in s.equations.transmitted] for s in (a, b))
    return _relative(x[:, [first.index(n) for n in names]], y[:, [second.index(n) for n in names]], 1.0)


def _assert_agree(systems: dict[str, pendula.results.System], t: Array, q: Array, v: Array) -> None:
    seen = {name: _seen(system, t, q, v) for name, system in systems.items()}
    for a, b in combinations(seen, 2):
        bad = {what: gap for what, gap in _differences(seen[a], seen[b]).items() if not gap <= AGREES}
        assert not bad, f"{a} and {b} differ: {bad}"


def _assert_mass_is_positive(system: pendula.results.System, t: Array, q: Array) -> None:
    """M is symmetric, and positive definite on the motions that the constraints allow."""
    M, G = system.mass_matrix(q, t), system.constraint_jacobian(q, t)
    np.testing.assert_allclose(M, np.swapaxes(M, 1, 2), rtol=0, atol=1e-13 * np.abs(M).max())
    for mass, slopes in zip(M, G, strict=True):
        free = np.linalg.svd(slopes)[2][len(slopes) :].T if len(slopes) else np.eye(len(mass))
        assert np.linalg.eigvalsh(free.T @ mass @ free)[0] > 0


@pytest.mark.parametrize(("name", "compared"), formulations_in_turn(VARIANTS, two_formulations))
def test_formulations_agree_on_library_mechanism(name: str, compared: tuple[str, ...]) -> None:
    systems = {f: library_system(name, f) for f in compared}
    first = next(s for s in systems.values() if not s.equations.nodes)  # one in the joints' coordinates
    t, q, v = regular(first, *states(first, STATES))
    assert len(t) >= STATES // 2
    _assert_agree(systems, t, q, v)
    for system in systems.values():
        _assert_mass_is_positive(system, t[:20], system.in_joints.place(q[:20], v[:20], t[:20])[0])


@pytest.mark.parametrize("name", ["double-pendulum", "hoop-bead", "four-bar", "spatial-rod: quaternion, spatial"])
def test_certificate_of_library_mechanism_passes(name: str) -> None:
    certificate = pendula.check(VARIANTS[name](), states=STATES)
    assert certificate.passed
    assert certificate.formulations == NAMES
    assert len(certificate.pairs) == len(NAMES) * (len(NAMES) - 1) // 2
    assert all(0 <= pair.max_difference <= AGREES for pair in certificate.pairs)


def _check_random(model: pendula.Model, compared: tuple[str, ...] = NAMES) -> None:
    systems = {f: pendula.compile_system(model, f) for f in compared}
    first = next(s for s in systems.values() if not s.equations.nodes)  # one in the joints' coordinates
    t, q, v = regular(first, *states(first, 20))
    assert len(t) >= 1
    _assert_agree(systems, t, q, v)
    _assert_mass_is_positive(first, t, q)


def _one_of_more(seed: int) -> pendula.Model:
    return random_mechanism(seed, closed=seed % 3 == 0 or None)


@pytest.mark.parametrize(("seed", "compared"), formulations_in_turn(SEEDS, two_formulations))
def test_formulations_agree_on_random_mechanism(seed: int, compared: tuple[str, ...]) -> None:
    _check_random(random_mechanism(seed), compared)


@pytest.mark.parametrize(("seed", "compared"), formulations_in_turn(CLOSED_SEEDS, two_formulations))
def test_formulations_agree_on_random_mechanism_with_a_loop(seed: int, compared: tuple[str, ...]) -> None:
    model = random_mechanism(seed, closed=True)
    assert model.closures
    _check_random(model, compared)


@pytest.mark.parametrize(("seed", "compared"), formulations_in_turn(LARGE_SEEDS))
def test_formulations_agree_on_random_mechanism_of_six_bodies(seed: int, compared: tuple[str, ...]) -> None:
    _check_random(random_mechanism(seed, bodies=6), compared)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE_CLOSED_SEEDS)
def test_formulations_agree_on_more_random_mechanisms_with_a_loop(seed: int) -> None:
    model = random_mechanism(seed, closed=True)
    assert model.closures
    _check_random(model)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE_SEEDS)
def test_formulations_agree_on_more_random_mechanisms(seed: int) -> None:
    _check_random(_one_of_more(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE_LARGE_SEEDS)
def test_formulations_agree_on_more_random_mechanisms_of_six_bodies(seed: int) -> None:
    _check_random(random_mechanism(seed, bodies=6))


def test_every_run_compares_every_two_formulations() -> None:
    """On library mechanisms, and on trees, loops and large ones: each formulation, though in turn."""
    chosen = {name: two_formulations(k) for k, name in enumerate(VARIANTS)}
    assert {pair for some in chosen.values() for pair in combinations(sorted(some), 2)} == {
        *combinations(sorted(NAMES), 2)
    }
    closed = [name for name in VARIANTS if VARIANTS[name]().closures]
    for names in (closed, [n for n in VARIANTS if is_driven(n)], [n for n in VARIANTS if has_ball(n)]):
        assert {f for name in names for f in chosen[name]} == {*NAMES}
    assert {f for k in range(len(LARGE_SEEDS)) for f in some_formulations(k)} == {*NAMES}
    for seeds in (SEEDS, CLOSED_SEEDS, CLOSING):
        assert {f for k in range(len(seeds)) for f in two_formulations(k)} == {*NAMES}


def _elements(model: pendula.Model) -> set[str]:
    """Joints, forces and ways to use them that a model has."""
    seen = {f.type for f in model.forces} | {j.type for j in model.joints}
    seen |= {"driven" for j in model.joints if getattr(j, "motion", None)}
    seen |= {f"loop {j.kind}" for j in model.joints if j.type == "loop"}
    seen |= {"shaken" for j in model.joints if j.parent.body == "ground" and "t" in str(j.parent.position)}
    seen |= {"euler" for j in model.joints if getattr(j, "orientation", "quaternion") != "quaternion"}
    seen |= {"quaternion" for j in model.joints if not j.closing and j.quaternion()}
    seen |= {"absolute" for j in model.joints if getattr(j, "measured_from", "") == "ground"}
    return seen | {f"{len(model.bodies)} bodies", "closed" if model.closures else "open"}


def _counts(models: list[pendula.Model]) -> Counter[str]:
    """How many of some models have each element; in the plane are those without gravity across it."""
    found = Counter(element for model in models for element in _elements(model))
    found["in the plane"] = sum(str(model.gravity[2]) == "0" for model in models)
    found["in space"] = len(models) - found["in the plane"]
    found["friction of any kind"] = sum(bool(_elements(m) & {"friction", "com-friction"}) for m in models)
    found["springs of any kind"] = sum(bool(_elements(m) & {"spring", "torsion-spring"}) for m in models)
    found["moved from outside"] = sum(bool(_elements(m) & {"driven", "shaken"}) for m in models)
    return found


JOINTS = ("revolute", "prismatic", "planar", "universal", "spherical", "free", "fixed", "coordinates")
FORCES = ("spring", "torsion-spring", "damper", "friction", "force", "torque", "generalized", "spin-drive")
USES = ("driven", "shaken", "euler", "quaternion", "absolute", "com-friction")
BODIES = tuple(f"{n} bodies" for n in range(1, 7))
GROUPS = ("in the plane", "in space", "friction of any kind", "springs of any kind", "moved from outside", "damper")


def test_random_mechanisms_use_every_joint_and_force() -> None:
    """The generator would be no good if it never drew some of them."""
    models = [random_mechanism(s, closed=False) for s in (*SEEDS, *CLOSED_SEEDS)]
    models += [random_mechanism(s, closed=False, bodies=6) for s in LARGE_SEEDS]
    counts = _counts(models)
    assert len(models) >= 16
    assert len(CLOSED_SEEDS) >= len(models) / 5
    assert min(counts[element] for element in (*JOINTS, *FORCES, *USES, *BODIES)) >= 2, counts
    assert min(counts[group] for group in GROUPS) >= len(models) / 6, counts


@pytest.mark.slow
def test_more_random_mechanisms_use_every_joint_and_force_and_closing_joint() -> None:
    models = [*map(_one_of_more, MORE_SEEDS), *(random_mechanism(s, bodies=6) for s in MORE_LARGE_SEEDS)]
    counts = _counts(models)
    closing = (
        "coincident",
        "point-on-line",
        *(f"loop {k}" for k in CLOSING if k not in ("coincident", "point-on-line")),
    )
    assert len(models) + len(SEEDS) + len(CLOSED_SEEDS) + len(MORE_CLOSED_SEEDS) + len(LARGE_SEEDS) >= 320
    assert counts["closed"] >= len(models) / 5, counts
    assert min(counts[element] for element in (*JOINTS, *FORCES, *USES, *BODIES, *closing)) >= 2, counts
    assert min(counts[group] for group in GROUPS) >= len(models) / 6, counts


@pytest.mark.parametrize(("kind", "compared"), formulations_in_turn(CLOSING, two_formulations))
def test_formulations_agree_on_every_closing_joint_in_space(kind: str, compared: tuple[str, ...]) -> None:
    model = closed_chain(kind)
    systems = {f: pendula.compile_system(model, f) for f in compared}
    first = next(s for s in systems.values() if not s.equations.nodes)  # one in the joints' coordinates
    rows = {"coincident": 3, "point-on-line": 2, "universal": 4, "spherical": 3, "fixed": 6}.get(kind, 5)
    held = {f: s.equations.nodes[-1].rows[1] if s.equations.nodes else 0 for f, s in systems.items()}
    assert {s.equations.loop_rows - held[f] for f, s in systems.items()} == {rows}
    t, q, v = regular(first, *states(first, 20))
    assert len(t) >= 5
    _assert_agree(systems, t, q, v)
    _assert_mass_is_positive(first, t, q)


# --- where formulations must not be trusted blindly ---------------------------------------------------


def _pendulum(**changes: object) -> pendula.Model:
    return pendula.library.pendulum().with_changes(**changes)


@pytest.mark.parametrize("stiffness", ["2*(1 + theta**2)", "2 + sin(t)", "1 + 0.1*theta_dot**2", "2*F"])
def test_spring_with_a_stiffness_that_varies_is_refused_or_agreed_on(stiffness: str) -> None:
    """k(q) (q - rest) has the potential k q^2/2 only if k is constant."""
    try:
        model = _pendulum(
            inputs={"F": "cos(t)"}, forces=[{"type": "torsion-spring", "joint": "theta", "stiffness": stiffness}]
        )
        systems = {f: pendula.compile_system(model, f) for f in NAMES}
    except pendula.errors.PendulaError:
        return
    _assert_agree(systems, *states(systems[NAMES[0]], 10))
    run = pendula.simulate(systems[NAMES[0]], 3.0, tol=1e-10)
    assert run.energy_drift < 1e-7


def test_names_of_joint_and_body_cannot_meet_inside_the_equations() -> None:
    """A shaken joint "c" makes a motion c__x; the cosine of a body "x" must not get the same name."""

    def model(joint: str, body: str) -> pendula.Model:
        parent = {"body": "ground", "position": ["0.3*sin(t)", 0, 0]}
        return pendula.library.pendulum().with_changes(
            bodies=[{"name": body, "rod": {"mass": "m", "length": "l"}}],
            joints=[{"name": joint, "type": "revolute", "parent": parent, "child": body}],
            initial={},
        )

    q, v, t = np.array([[0.4]]), np.array([[1.0]]), np.array([1.0])
    plain = pendula.compile_system(model("theta", "link"))
    for formulation in NAMES:
        system = pendula.compile_system(model("c", "x"), formulation)
        own = system.in_joints.place(q, v, t)
        np.testing.assert_allclose(system.in_joints.accelerations(*own, t), plain.accelerations(q, v, t), rtol=1e-13)
        np.testing.assert_allclose(system.energies(*own, t).kinetic, plain.energies(q, v, t).kinetic, rtol=1e-13)


def test_rounding_in_a_turn_that_vanishes_is_no_difference() -> None:
    """A loop that keeps its bodies from turning: their angular accelerations are rounding against rounding."""
    assert pendula.check(random_mechanism(2145, closed=True), states=20, seed=1).passed


def test_formulations_agree_where_a_closing_joint_holds_again_what_a_slide_holds() -> None:
    """Two sliders between the same bodies: a row that keeps them from turning never changes, and kane leaves it out."""
    assert pendula.check(random_mechanism(1021, closed=True), states=20).passed


def test_a_difference_that_is_not_a_number_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    real = agreement._quantities

    def broken(system: pendula.results.System, *args: Array) -> dict[str, tuple[Array, Array]]:
        found = real(system, *args)
        if system.equations.formulation == NAMES[1]:
            first = next(iter(found))
            found[first] = (found[first][0] * np.nan, found[first][1])
        return found

    monkeypatch.setattr(agreement, "_quantities", broken)
    assert not pendula.check(pendula.library.pendulum(), states=3).passed
