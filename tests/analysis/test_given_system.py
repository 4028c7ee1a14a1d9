"""Equations written by others as a system: they move, lose energy, and are linearized, as they are written."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pendula
from pendula import library
from pendula.analysis.court.given import Points, evaluate, read_given
from pendula.errors import NotAnEquilibrium, NotSupported, UsageError

PUBLISHED = Path(__file__).resolve().parents[2] / "examples" / "published"
SAME = 1e-10  # accelerations from two ways to solve a small linear system
CONSERVED = 1e-8  # energy [J] of about 10 J kept by a run at tolerance 1e-11
FOLLOWED = 1e-7  # two integrators at tolerance 1e-11, 5 s

DOUBLE = {
    "M": [["4*m*l**2/3", "m*l**2/2*cos(theta1 - theta2)"], ["m*l**2/2*cos(theta1 - theta2)", "m*l**2/3"]],
    "f": [
        "-m*l**2/2*theta2_dot**2*S - 3*m*g*l/2*sin(theta1) - k1*theta1 - c1*theta1_dot + T",
        "m*l**2/2*theta1_dot**2*S - m*g*l/2*sin(theta2) - T",
    ],
    "define": {"S": "sin(theta1 - theta2)", "T": "k2*(theta2 - theta1) + c2*(theta2_dot - theta1_dot)"},
}
ROW1, ROW2 = (
    f"({a})*theta1_ddot + ({b})*theta2_ddot - ({f})" for (a, b), f in zip(DOUBLE["M"], DOUBLE["f"], strict=True)
)
FORMS = {
    "M and f": DOUBLE,
    "equations": {"equations": [ROW1, ROW2], "define": DOUBLE["define"]},
    "wrong signs": {"equations": [f"-({ROW1})", f"-({ROW2})"], "define": DOUBLE["define"]},
    "rows combined": {"equations": [f"3*({ROW1}) + {ROW2} = 0", f"{ROW2} = {ROW1}"], "define": DOUBLE["define"]},
    "abbreviations with accelerations": {
        "equations": ["first = 0", "second = 0"],
        "define": DOUBLE["define"] | {"first": ROW1, "second": f"{ROW2} + 2*first"},
    },
    "unknown torque": {
        "equations": [ROW1.replace("+ T)", "+ X)"), ROW2.replace("- T)", "- X)"), "X = 2*T - X"],
        "unknowns": ["X"],
        "define": DOUBLE["define"],
    },
}


def accelerations(system, count=20, seed=3):
    rng = np.random.default_rng(seed)
    q, v = rng.uniform(-2, 2, size=(count, 2)), rng.normal(size=(count, 2))
    return system.accelerations(q, v)


@pytest.mark.parametrize("form", FORMS)
def test_right_equations_in_every_form_move_as_the_model_does(form):
    model = library.double_pendulum()
    given = pendula.derivation.compile_equations(model, FORMS[form])
    assert accelerations(given) == pytest.approx(accelerations(pendula.compile_system(model)), rel=SAME)
    M = given.mass_matrix([0.3, 0.8])
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0


def test_own_coordinates_in_an_own_order_are_turned_into_those_of_the_model():
    model = library.double_pendulum()
    a, b, c = "4*m*l**2/3", "m*l**2/2*cos(r)", "m*l**2/3"  # r = theta2 - theta1, s = theta1
    f1 = "m*l**2/2*(s_dot + r_dot)**2*sin(r) - 3*m*g*l/2*sin(s) - k1*s - c1*s_dot + T"
    f2 = "-m*l**2/2*s_dot**2*sin(r) - m*g*l/2*sin(s + r) - T"
    relative = {
        "coordinates": {"r": "theta2 - theta1", "s": "theta1"},
        "M": [[c, f"{b} + {c}"], [f"{b} + {c}", f"{a} + 2*({b}) + {c}"]],
        "f": [f2, f"{f1} + {f2}"],
        "define": {"T": "k2*r + c2*r_dot"},
    }
    given = pendula.derivation.compile_equations(model, relative)
    assert accelerations(given) == pytest.approx(accelerations(pendula.compile_system(model)), rel=SAME)
    assert given.mass_matrix([0.3, 0.8]) == pytest.approx(pendula.compile_system(model).mass_matrix([0.3, 0.8]))


def test_linear_model_and_run_of_right_equations_are_those_of_the_model():
    model = library.double_pendulum()
    for form in ("M and f", "rows combined"):
        given = pendula.derivation.compile_equations(model, FORMS[form])
        at = {"theta1": 0.0, "theta2": 0.0}
        roots = [pendula.linear.spectrum(pendula.linearize(s, at)).values for s in (given, model)]
        assert np.sort_complex(roots[0]) == pytest.approx(np.sort_complex(roots[1]), rel=1e-9)
        runs = [pendula.simulate(s, 1.0, tol=1e-11, samples=5) for s in (given, model)]
        assert runs[0].q == pytest.approx(runs[1].q, abs=FOLLOWED)
        assert runs[0].energy_drift < 1e-8  # dampers do work, which the account of the model contains
        assert runs[0].ok


# -- a published code with an error that only spatial motion shows ----------------------------------------


@pytest.fixture(scope="module")
def rods():
    """Largest change of energy [J] in 5 s, by equations and start."""
    found = {}
    for version, rule in (("printed", "printed"), ("corrected", "consistent")):
        for start in ("planar", "spatial"):
            model = library.spatial_rod(start=start, inertia_rule=rule)
            given = pendula.derivation.compile_equations(model, PUBLISHED / f"gupta-saha-code-{version}.toml")
            found[version, start] = pendula.simulate(given, 5.0, tol=1e-11, samples=501)
    return found


def test_printed_code_of_the_rod_loses_energy_from_the_spatial_start_only(rods):
    change = {key: np.abs(run["energy"] - run["energy"][0]).max() for key, run in rods.items()}
    assert change["printed", "spatial"] == pytest.approx(0.85, abs=0.005)
    assert change["printed", "planar"] < CONSERVED
    assert change["corrected", "spatial"] < CONSERVED
    assert change["corrected", "planar"] < CONSERVED
    wrong = rods["printed", "spatial"]
    assert not wrong.ok
    assert any("the given equations gain or lose it" in doubt for doubt in wrong.doubts)
    assert any("gupta-saha-code-printed.toml" in note for note in wrong.notes)


def test_printed_code_moves_as_an_independent_integration_of_it_does(rods):
    run = rods["printed", "spatial"]
    system = pendula.compile_system(run.system.model)
    given = read_given(system, PUBLISHED / "gupta-saha-code-printed.toml")

    def rates(t, y):
        at = Points(np.array([t]), y[None, :3], y[None, 3:], np.zeros((1, 0)), system.parameters)
        numbers = evaluate(given, system, at)
        return np.concatenate([y[3:], np.linalg.solve(numbers.A[0], -numbers.b[0])])

    begin = np.concatenate([run.q[0], run.v[0]])
    other = solve_ivp(rates, (0, 0.3), begin, method="DOP853", rtol=1e-10, atol=1e-10)
    assert run.q[30] == pytest.approx(other.y[:3, -1], abs=FOLLOWED)


def test_the_code_is_wrong_where_it_is_said_and_right_where_it_is_corrected():
    printed = library.spatial_rod(inertia_rule="printed")
    wrong = pendula.derivation.check_against(printed, PUBLISHED / "gupta-saha-code-printed.toml", states=20)
    assert not wrong.passed
    assert pendula.derivation.check_against(
        "spatial-rod", PUBLISHED / "gupta-saha-code-corrected.toml", states=20
    ).passed


@pytest.mark.slow
@pytest.mark.parametrize("version", ["printed", "corrected"])
def test_files_of_the_rod_are_what_the_script_writes(version):
    spec = importlib.util.spec_from_file_location("write_files", PUBLISHED / "write_files.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    name = f"gupta-saha-code-{version}.toml"
    assert (PUBLISHED / name).read_text(encoding="utf-8") == script.toml(script.FILES[name]())


# -- what is refused, and what is said ---------------------------------------------------------------------

PENDULUM = {"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta)"]}


def test_what_draws_on_the_model_refuses_given_equations():
    given = pendula.derivation.compile_equations("pendulum", PENDULUM)
    for ask in (
        pendula.find_equilibria,
        lambda s: pendula.simulate_many(s, 1.0, [{"theta": 1.0}]),
        lambda s: pendula.reactions(pendula.simulate(s, 0.1)),
        lambda s: pendula.linear.stability_chart(s, {"l": (0.5, 1)}, {"m": (0.5, 1)}),
        lambda s: pendula.linear.linearize_symbolic(s),
        lambda s: pendula.report(s, "report.html"),
    ):
        with pytest.raises(NotSupported, match="given equations"):
            ask(given)
    assert pendula.stability(given, {"theta": 0.0}).verdict == "undecided"
    assert pendula.stability(given, {"theta": np.pi}).verdict == "unstable"


def test_loops_and_masses_that_depend_on_speeds_are_refused():
    with pytest.raises(NotSupported, match="closed loops"):
        pendula.derivation.compile_equations("four-bar", PENDULUM)
    with pytest.raises(NotSupported, match=r"row 1: .* depend on theta_dot"):
        pendula.derivation.compile_equations("pendulum", {"equations": ["(1 + theta_dot**2)*theta_ddot + theta = 0"]})
    with pytest.raises(UsageError, match="theta_ddot"):
        pendula.derivation.compile_equations("pendulum", {"equations": ["theta_ddot**2 = 1"]})


def test_a_state_at_which_given_equations_do_not_balance_is_refused():
    shifted = {"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta - 0.1)"]}
    given = pendula.derivation.compile_equations("pendulum", shifted)
    with pytest.raises(NotAnEquilibrium):
        pendula.linearize(given, {"theta": 0.0})
    linear = pendula.linearize(given, {"theta": 0.1})
    assert linear.K[0, 0] / linear.M[0, 0] == pytest.approx(1.5 * 9.81)


def test_jumps_and_time_in_given_equations_are_seen_by_linearize():
    rubbing = {"equations": ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta) - 0.1*sign(theta_dot)"]}
    with pytest.raises(pendula.errors.ComputationError, match="jump"):
        pendula.linearize(pendula.derivation.compile_equations("pendulum", rubbing), {"theta": 0.0})
    shaken = {"equations": ["m*l**2/3*theta_ddot = -m*(g + cos(3*t))*l/2*sin(theta)"]}
    with pytest.raises(UsageError, match="depend on time"):
        pendula.linearize(pendula.derivation.compile_equations("pendulum", shaken), {"theta": 0.0})


def test_equations_follow_changed_parameters_and_inputs():
    model = library.pendulum()
    pushed = model.with_changes(
        inputs={"F": 0.0}, forces=[*model.forces, {"type": "generalized", "coordinate": "theta", "value": "F"}]
    )
    equations = {"equations": ["m*l**2/3*theta_ddot = F - m*g*l/2*sin(theta)"]}
    given, ours = pendula.derivation.compile_equations(pushed, equations), pendula.compile_system(pushed)
    how = {"samples": 3, "tol": 1e-11, "parameters": {"l": 2.0}, "inputs": {"F": "sin(2*t)"}}
    one, other = pendula.simulate(given, 2.0, **how), pendula.simulate(ours, 2.0, **how)
    assert one.q == pytest.approx(other.q, abs=FOLLOWED)
    assert one.energy_drift < 1e-8


def test_expressions_may_be_long():
    terms = " + ".join(f"m*g*l/2*sin(theta)/{900}" for _ in range(900))
    assert len(terms) > 20_000
    long = {"equations": [f"m*l**2/3*theta_ddot + {terms} = 0"]}
    assert pendula.derivation.check_against("pendulum", long, states=5).passed
    given = pendula.derivation.compile_equations("pendulum", long)
    assert given.accelerations([0.5], [0.0]) == pytest.approx([-1.5 * 9.81 * np.sin(0.5)])


def test_inputs_that_were_zeroed_are_named():
    model = library.pendulum()
    pushed = model.with_changes(
        inputs={"F": 2.0}, forces=[*model.forces, {"type": "generalized", "coordinate": "theta", "value": "F"}]
    )
    wrong = {"equations": ["m*l**2*theta_ddot = F - m*g*l/2*sin(theta)"]}
    assert "F = 0" in pendula.derivation.check_against(pushed, wrong, states=10).sentence


SWUNG = {"equations": ["m*l**2/3*theta_ddot = -m*(g + 3*cos(9*t))*l/2*sin(theta) - 0.2*theta_dot"]}


def test_multipliers_are_those_of_the_equations_as_written():
    """A damped pendulum whose weight oscillates, against SciPy; the model has neither damping nor time."""
    system = pendula.derivation.compile_equations("pendulum", SWUNG)
    period, (m, l, g) = 2 * np.pi / 9, (1.0, 1.0, 9.81)

    def tilt(t, y):
        return [y[1], (-m * (g + 3 * np.cos(9 * t)) * l / 2 * y[0] - 0.2 * y[1]) / (m * l**2 / 3)]

    ends = [solve_ivp(tilt, (0, period), y, rtol=1e-12, atol=1e-13).y[:, -1] for y in np.eye(2)]
    found = pendula.driven.floquet(system, period, at={"theta": 0.0})
    assert np.abs(np.sort_complex(found.multipliers) - np.sort_complex(np.linalg.eigvals(ends))).max() < CONSERVED
    assert found.verdict == "asymptotically stable"
    assert found.trivial == 0
