"""Three words for a verdict: proven by structure and interval arithmetic, indicated by what was tried, undecided."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import pendula
from pendula import library
from pendula.errors import SingularPose
from tests.analysis.test_true_sentences import judged, masses
from tests.helpers.choices import slow_too

KNOWN = [
    ("pendulum", {"theta": 0}, "stable", "proven"),
    ("pendulum", {"theta": math.pi}, "unstable", "proven"),
    ("double-pendulum", {}, "asymptotically stable", "proven"),
    ("cart-pole", {"theta": 0}, "critical: drifts along x, stable otherwise", "proven"),
    ("cart-pole", {"theta": math.pi}, "unstable", "proven"),
    ("hoop-bead", {"theta": 0}, "unstable", "proven"),
    ("spherical-pendulum", {"theta": 0}, "stable", "proven"),  # at a pole of its coordinates
    ("spherical-pendulum", {"theta": math.pi}, "unstable", "indicated"),
    ("double-spherical-pendulum", {"theta1": 0, "theta2": 0}, "stable", "proven"),
]


@pytest.mark.parametrize(("name", "at", "verdict", "certainty"), KNOWN)
def test_verdicts_of_library_mechanisms(name: str, at: dict, verdict: str, certainty: str) -> None:
    found = pendula.stability(name, at)
    assert (found.verdict, found.certainty) == (verdict, certainty)
    assert found.grounds
    assert f"{certainty}: {found.grounds}" in " ".join(str(found).split())


@pytest.mark.parametrize("formulation", ["lagrange", "kane", "newton-euler", "maximal", "projection"])
def test_every_formulation_has_the_same_proof(formulation: str) -> None:
    system = pendula.compile_system(library.chain(links=3, friction=0.1), formulation)
    assert pendula.stability(system, {}).certainty == "proven"


@pytest.mark.parametrize(
    ("forces", "verdict", "certainty"),
    [
        (("x0", "-1e13*x1"), "unstable", "proven"),
        (("-4*x0", "-1e13*x1"), "stable", "proven"),
        (("-x0 + 1e-12*x0_dot",), "unstable", "proven"),
        (("-x0 - 1e-9*x0_dot",), "asymptotically stable", "proven"),
        (("-x0 - x1", "x0 - x1 - 0.01*x1_dot"), "unstable", "proven"),  # flutter
        (("-6*x0**5",), "stable", "indicated"),  # no interval shows that the stiffness is exactly zero
        (("-6*x0**5 + 4e-4*x0**3",), "unstable", "indicated"),
        (("-x0 - x0_dot**3",), "stable", "indicated"),  # power tested at nearby states
        (("-x0 + x0_dot**3",), "undecided", "undecided"),
        (("-x0 - 0.5*x1", "-0.5*x0 - x1"), "stable", "proven"),  # derivatives symmetric: a potential exists
        (("-2*x0 - x1", "0.1*x0 - x1"), "undecided", "undecided"),
    ],
)
def test_certainty_of_small_models(forces: tuple[str, ...], verdict: str, certainty: str) -> None:
    found = judged(*forces)
    assert (found.verdict, found.certainty) == (verdict, certainty)


def test_negative_damping_coefficients_are_not_taken_for_dissipation() -> None:
    """Damping of opposite signs that cancels: the energy criterion must not call its structure dissipative."""
    pair = masses("-x0", "-x1")
    friction = [{"type": "friction", "joint": "x0", "coefficient": c} for c in (0.5, -0.5)]
    found = pendula.stability(pair.with_changes(forces=[*pair.forces, *friction]), {})
    assert found.certainty != "proven"
    right = pendula.stability(pair.with_changes(forces=[*pair.forces, friction[0]]), {})
    assert (right.verdict, right.certainty) == ("stable", "proven")


def test_where_constraints_are_dependent_there_is_no_verdict() -> None:
    """A parallelogram that a spring holds flat: its constraints lose rank, and no linear model describes it."""
    spring = {"type": "torsion-spring", "joint": "crank", "stiffness": 1000.0, "rest": math.pi / 2}
    model = library.four_bar(lengths=[1.0, 2.0, 1.0, 2.0]).with_parameters({"g": 0.0}).with_changes(forces=[spring])
    with pytest.raises(SingularPose):
        pendula.stability(model, dict.fromkeys(("crank", "coupler", "rocker"), math.pi / 2))


@pytest.mark.parametrize("block", slow_too([0], range(1, 8)))
def test_proven_verdicts_are_true_in_fifty_digits(block: int) -> None:
    """Random forces on two masses, scaled so that roots come near the axis: up to 25 mechanisms a block, 50 digits judge."""
    rng = np.random.default_rng(block)
    proven = 0
    with mp.workdps(50):
        for _ in range(10 if block == 0 else 25):
            K, C = rng.integers(-9, 10, size=(2, 2)) / 4.0, rng.integers(-3, 4, size=(2, 2)) / 8.0
            near = 10.0 ** rng.uniform(-14, 0)
            C = C * near
            rows = [
                " + ".join([*(f"({-K[i, j]!r})*x{j}" for j in (0, 1)), *(f"({-C[i, j]!r})*x{j}_dot" for j in (0, 1))])
                for i in (0, 1)
            ]
            found = judged(*(row.replace("np.float64", "") for row in rows))
            if found.certainty != "proven" or found.behavior != "significant":
                continue
            proven += 1
            A = mp.zeros(4)
            for i in (0, 1):
                A[i, 2 + i] = 1
                for j in (0, 1):
                    A[2 + i, j], A[2 + i, 2 + j] = -mp.mpf(float(K[i, j])), -mp.mpf(float(C[i, j]))
            largest = max(x.real for x in mp.eig(A, left=False, right=False))
            assert (largest > 0) == (found.verdict == "unstable")
            assert abs(largest) > 1e-40
    assert proven > 2


def test_words_in_json(tmp_path) -> None:
    from pendula.present.words.verdicts import stability_data

    data = stability_data(pendula.stability("pendulum", {"theta": 0}))
    assert data["certainty"] == "proven"
    assert "verified" in data["grounds"]


def test_words_over_a_parameter() -> None:
    found = pendula.linear.stability_over("hoop-bead", "Omega", 1, 5, at={"theta": 0}, samples=20)
    assert found.certainty == "indicated"
    assert [part.stability.certainty for part in found.ranges] == ["proven", "proven"]


def test_spin_about_the_intermediate_axis_has_one_verdict_in_singular_coordinates() -> None:
    """Principal moments 0.25, 0.1, 0.2: Euler angles xyz at j_2 = +-90 deg turn about the intermediate axis."""
    body = {"name": "body", "mass": 1.0, "inertia": [0.25, 0.1, 0.2]}
    joint = {"name": "j", "type": "spherical", "orientation": "xyz", "parent": "ground", "child": "body"}
    system = pendula.compile_system(pendula.Model(name="free", gravity=[0, 0, 0], bodies=[body], joints=[joint]))
    for side in (-1.0, 1.0):
        found = pendula.stability(system, {"j_2": side * math.pi / 2, "j_1_dot": 3.0})
        assert found.verdict == "unstable"
        assert found.at.unstable_directions in (1, None)


def test_singular_coordinates_at_rest_do_not_judge_the_potential() -> None:
    found = pendula.find_equilibria("spherical-pendulum", starts=40)
    poles = [one for one in found if one.singular]
    assert poles
    assert all(one.unstable_directions is None for one in poles)
    assert "not judged in singular coordinates" in " ".join(str(found).split())


def test_a_mass_at_the_edge_of_its_domain_proves_nothing() -> None:
    from pendula.analysis.stability.enclosure import MotionTape
    from pendula.numerics.intervals.tape import Tape

    tape = Tape(2)
    root = tape.add(tape.constant(1.0), tape.call("sqrt", 0))
    motion = MotionTape(tape, [tape.multiply(0, tape.constant(-1.0))], [[root]])
    assert motion.matrices(np.array([[1.0, 1.1], [0.0, 0.0]]))[0].is_finite
    assert not motion.matrices(np.array([[-1e-9, 1e-9], [0.0, 0.0]]))[0].is_finite


@pytest.mark.parametrize(
    ("height", "stiffness", "verdict", "certainty"),
    [(3.0, 3.0, "stable", "proven"), (3.0, 60.0, "unstable", "indicated"), (-0.5, 4.0, "stable", "proven")],
)
def test_the_pole_of_a_spherical_pendulum_on_a_spring(
    height: float, stiffness: float, verdict: str, certainty: str
) -> None:
    """A spring to a point of the vertical: stiffness m g + k (1 - L/d) h by hand, with d its length at the pole."""
    spring = {
        "type": "spring", "from": {"body": "ground", "position": [0, 0, height]}, "to": "bob",
        "stiffness": stiffness, "length": 0.3,
    }  # fmt: skip
    model = pendula.library.spherical_pendulum().with_changes(forces=[spring])
    m, g, l = (float(model.parameters[k]) for k in "mgl")
    d = abs(height + l)
    by_hand = m * g - stiffness * (1 - 0.3 / d) * height
    assert (by_hand > 0) == (verdict == "stable")
    found = pendula.stability(model, {"theta": 0.0})
    assert (found.verdict, found.certainty) == (verdict, certainty)
