"""Equations of others against ours: right ones pass in every form, wrong ones are refuted at a simple state."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.analysis.court.against import TOLERANCE
from pendula.derivation import check_against
from pendula.errors import ModelError, PendulaError, UsageError

PUBLISHED = Path(__file__).resolve().parents[2] / "examples" / "published"
CASES = {"turner-15": "three-links", "turner-28-29": "three-links-friction", "tataru-41": "two-bodies"}
SAME = 1e-9  # relative, between our accelerations and those worked out here


def model_of(case: str) -> pendula.Model:
    return pendula.load(PUBLISHED / f"{CASES[case]}.toml")


def generator():
    spec = importlib.util.spec_from_file_location("write_files", PUBLISHED / "write_files.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- closed forms, worked out here without the files -------------------------------------------------------


def arrays(model: pendula.Model, *symbols: str) -> list[np.ndarray]:
    values = model.parameter_values
    return [np.array([values[f"{s}{i}"] for i in (1, 2, 3)]) for s in symbols]


def chain_truth(model: pendula.Model, q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Accelerations of links with absolute angles: M_ij = a_ij cos(q_i - q_j), a_ij from the masses below."""
    m, L, d, I = arrays(model, "m", "L", "d", "I")
    g, mu = model.parameter_values["g"], model.parameter_values.get("mu", 0.0)
    arms = np.tril(np.tile(L, (3, 1)), -1) + np.diag(d)  # arm of angle j at the mass centre of link i
    a = arms.T @ np.diag(m) @ arms
    difference = q[:, None] - q[None, :]
    M = a * np.cos(difference) + np.diag(I)
    friction = -mu * (arms * np.cos(difference) * w[:, None]).sum(axis=0)
    f = -(a * np.sin(difference)) @ w**2 - g * (m @ arms) * np.sin(q) + friction
    return np.linalg.solve(M, f)


def chain_equation_15_printed(model: pendula.Model, q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """With the terms of link i alone, those with speeds cancel and the links do not feel each other."""
    m, L, d, I = arrays(model, "m", "L", "d", "I")
    arms = np.tril(np.tile(L, (3, 1)), -1) + np.diag(d)
    return -model.parameter_values["g"] * (m @ arms) * np.sin(q) / (I + np.diag(arms.T @ np.diag(m) @ arms))


def chain_equations_28_29_printed(model: pendula.Model, q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Moments about the upper elbow of link i of links 1 to i, with i times the inertia of link i."""
    m, L, d, I = arrays(model, "m", "L", "d", "I")
    g, mu = model.parameter_values["g"], model.parameter_values["mu"]
    along = np.column_stack([np.sin(q), -np.cos(q)])
    across = np.column_stack([np.cos(q), np.sin(q)])
    ends = np.vstack([np.zeros(2), np.cumsum(L[:, None] * along, axis=0)])
    centres = ends[:-1] + d[:, None] * along
    forces = np.column_stack([np.zeros(3), -m * g]) - mu * w[:, None] * across

    def residual(a: np.ndarray) -> np.ndarray:
        turned = a[:, None] * across - (w**2)[:, None] * along
        end_accelerations = np.vstack([np.zeros(2), np.cumsum(L[:, None] * turned, axis=0)])
        accelerations = end_accelerations[:-1] + d[:, None] * turned
        left = np.zeros(3)
        for i in range(3):
            for j in range(i + 1):
                x, y = centres[j] - ends[i]
                fx, fy = forces[j] - m[j] * accelerations[j]
                left[i] += x * fy - y * fx - I[i] * a[i]
        return left

    zero = residual(np.zeros(3))
    A = np.column_stack([residual(unit) - zero for unit in np.eye(3)])
    return np.linalg.solve(A, -zero)


def two_bodies(model: pendula.Model, q: np.ndarray, w: np.ndarray, *, printed: bool) -> np.ndarray:
    """The double physical pendulum; as printed, the elbow accelerates by R1 (w1 x (l w1 e_y)) turned wrongly.

    -R1 omega1 in place of -R2 omega2 acts on the speed of O2 in the axes of body 2, which is R2^T R1 (l w1 e_y).
    """
    p = model.parameter_values
    m, c, J = (np.array([p[f"{s}1"], p[f"{s}2"]]) for s in "mcJ")
    l, g = p["l"], p["g"]
    s, k = np.sin(q[0] - q[1]), np.cos(q[0] - q[1])
    M = np.array([[J[0] + m[1] * l**2, m[1] * c[1] * l * k], [m[1] * c[1] * l * k, J[1]]])
    f = np.array([-m[1] * c[1] * l * s * w[1] ** 2, m[1] * c[1] * l * s * w[0] ** 2])
    f -= g * np.array([(m[0] * c[0] + m[1] * l) * np.sin(q[0]), m[1] * c[1] * np.sin(q[1])])
    if printed:
        turn = [np.array([[np.cos(x), -np.sin(x)], [np.sin(x), np.cos(x)]]) for x in q]
        quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
        speed = turn[1].T @ turn[0] @ np.array([0.0, l * w[0]])  # of O2, in the axes of body 2
        excess = turn[1].T @ (turn[1] * w[1] - turn[0] * w[0]) @ quarter @ speed  # of the acceleration of O2
        force = -m[1] * excess
        f += np.array([turn[0][:, 1] @ turn[1] @ force * l, c[1] * force[1]])
    return np.linalg.solve(M, f)


TRUTH = {
    "turner-15": chain_truth,
    "turner-28-29": chain_truth,
    "tataru-41": lambda model, q, w: two_bodies(model, q, w, printed=False),
}
AS_PRINTED = {
    "turner-15": chain_equation_15_printed,
    "turner-28-29": chain_equations_28_29_printed,
    "tataru-41": lambda model, q, w: two_bodies(model, q, w, printed=True),
}


# -- published equations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_corrected_equations_pass(case):
    found = check_against(model_of(case), PUBLISHED / f"{case}-corrected.toml")
    assert found.passed
    assert found.max_difference < 1e-12
    assert found.counterexample is None
    assert found.differences == ()
    assert "only for these values" not in found.remark


@pytest.mark.parametrize("case", CASES)
def test_printed_equations_are_refuted_with_the_numbers_of_the_closed_forms(case):
    model = model_of(case)
    found = check_against(model, PUBLISHED / f"{case}-printed.toml")
    assert not found.passed
    names = [c.name for c in model.coordinates]
    q = np.array([found.counterexample[n] for n in names])
    w = np.array([found.counterexample[f"{n}_dot"] for n in names])
    ours, theirs = TRUTH[case](model, q, w), AS_PRINTED[case](model, q, w)
    by_name = {d.what: d for d in found.differences}
    differing = {f"{n}_ddot" for n, x, y in zip(names, ours, theirs, strict=True) if abs(x - y) > 1e-6}
    assert differing
    assert differing == {what for what in by_name if what.endswith("_ddot") and ":" not in what}
    for k, name in enumerate(names):
        if f"{name}_ddot" in differing:
            assert by_name[f"{name}_ddot"].ours == pytest.approx(ours[k], rel=SAME, abs=1e-9)
            assert by_name[f"{name}_ddot"].theirs == pytest.approx(theirs[k], rel=SAME, abs=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_both_sides_follow_the_closed_forms_at_a_general_state(case):
    """The reading of the printed equations does not rest on one simple state."""
    model = model_of(case)
    system = pendula.compile_system(model)
    rng = np.random.default_rng(5)
    q, w = rng.uniform(-3, 3, size=len(system.layout.coordinates)), rng.normal(size=len(system.layout.speeds))
    assert system.accelerations(q, w) == pytest.approx(TRUTH[case](model, q, w), rel=SAME)
    from pendula.analysis.court.given import Points, evaluate, read_given

    given = read_given(system, PUBLISHED / f"{case}-printed.toml")
    numbers = evaluate(given, system, Points(np.zeros(1), q[None], w[None], np.zeros((1, 0)), system.parameters))
    theirs = np.linalg.solve(numbers.A[0], -numbers.b[0])
    assert theirs == pytest.approx(AS_PRINTED[case](model, q, w), rel=SAME)


def test_equation_15_counterexample_names_the_missing_terms():
    found = check_against(model_of("turner-15"), PUBLISHED / "turner-15-printed.toml")
    assert all(found.counterexample[f"theta{i}_dot"] == 0 for i in (1, 2, 3))  # it differs at rest already
    missing = [d for d in found.differences if d.what == "equation 1: coefficient of theta2_ddot"]
    assert [d.theirs for d in missing] == [0.0]


def test_equation_41_is_wrong_only_where_something_moves():
    found = check_against(model_of("tataru-41"), PUBLISHED / "tataru-41-printed.toml")
    assert "At rest the two sides agree" in found.remark
    assert {d.what for d in found.differences if not d.what.endswith("_ddot")} <= {"f[phi1]", "f[phi2]"}


def test_equations_28_29_need_the_inertia_of_link_j():
    wrong = generator().turner_newton_euler(printed=False, inertia="i")
    assert not check_against(model_of("turner-28-29"), wrong, states=20).passed


def test_newton_euler_files_are_what_the_script_writes():
    script = generator()
    for name in ("turner-28-29-printed.toml", "turner-28-29-corrected.toml"):
        assert (PUBLISHED / name).read_text(encoding="utf-8") == script.toml(script.FILES[name]())


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["turner-15-printed", "turner-15-corrected", "tataru-41-printed", "tataru-41-corrected"]
)
def test_files_are_what_the_script_writes(name):
    script = generator()
    text = script.toml(script.FILES[f"{name}.toml"]())
    assert (PUBLISHED / f"{name}.toml").read_text(encoding="utf-8") == text


def test_every_published_file_is_explained_and_readable():
    readme = (PUBLISHED / "README.md").read_text(encoding="utf-8")
    for path in PUBLISHED.glob("*.toml"):
        assert path.name in readme
        tomllib.loads(path.read_text(encoding="utf-8"))


# -- forms -------------------------------------------------------------------------------------------------

# The double pendulum of two equal bars with springs and dampers: eqs. 8 and 9 of Kamman's unit, as M and f.
DOUBLE = {
    "M": [["4*m*l**2/3", "m*l**2/2*cos(theta1 - theta2)"], ["m*l**2/2*cos(theta1 - theta2)", "m*l**2/3"]],
    "f": [
        "-m*l**2/2*theta2_dot**2*S - 3*m*g*l/2*sin(theta1) - k1*theta1 - c1*theta1_dot + T",
        "m*l**2/2*theta1_dot**2*S - m*g*l/2*sin(theta2) - T",
    ],
    "define": {"S": "sin(theta1 - theta2)", "T": "k2*(theta2 - theta1) + c2*(theta2_dot - theta1_dot)"},
}


def changed(**entries) -> dict:
    return {**DOUBLE, **entries}


def test_mass_matrix_and_forces_pass_entry_by_entry():
    found = check_against(library.double_pendulum(), DOUBLE)
    assert found.passed
    assert found.remark == "M and f equal the model's entry by entry."


def test_rows_multiplied_and_combined_are_not_wrong():
    (a, b), (c, d) = DOUBLE["M"]
    f1, f2 = DOUBLE["f"]
    combined = changed(
        M=[[f"3*({a})", f"3*({b})"], [f"{c} - ({a})", f"{d} - ({b})"]], f=[f"3*({f1})", f"{f2} - ({f1})"]
    )
    found = check_against(library.double_pendulum(), combined)
    assert found.passed
    assert "are equivalent" in found.remark


def test_nearly_dependent_rows_are_not_refuted_by_rounding():
    (a, b), (c, d) = DOUBLE["M"]
    f1, f2 = DOUBLE["f"]
    e = "1e-8"
    M = [[a, b], [f"{a} + {e}*({c})", f"{b} + {e}*({d})"]]
    assert check_against(library.double_pendulum(), changed(M=M, f=[f1, f"{f1} + {e}*({f2})"])).passed


def test_a_wrong_entry_of_the_mass_matrix_is_named():
    M = [[DOUBLE["M"][0][0], "m*l**2/2*cos(theta1 + theta2)"], DOUBLE["M"][1]]
    found = check_against(library.double_pendulum(), changed(M=M))
    assert not found.passed
    assert {d.what for d in found.differences if "ddot" not in d.what} == {"M[theta1, theta2]"}


def test_a_wrong_entry_is_named_though_its_row_is_multiplied():
    (a, b), row = DOUBLE["M"]
    f = [f"2*({DOUBLE['f'][0]}) + 2*c1*theta1_dot", DOUBLE["f"][1]]  # the damper of joint 1 is missing
    found = check_against(library.double_pendulum(), changed(M=[[f"2*({a})", f"2*({b})"], row], f=f))
    assert not found.passed
    assert {d.what for d in found.differences if "ddot" not in d.what} == {"f[theta1] (our row times 2)"}
    assert "terms that contain speeds" in found.remark


def test_a_small_error_is_found():
    """One part in a million of one spring."""
    f = [DOUBLE["f"][0] + " - 1e-6*k1*theta1", DOUBLE["f"][1]]
    found = check_against(library.double_pendulum(), changed(f=f))
    assert not found.passed
    assert found.max_difference < 1e-4


def test_equations_with_and_without_equals_sign():
    model = library.pendulum()
    for text in ("m*l**2/3*theta_ddot = -m*g*l/2*sin(theta)", "2*l*theta_ddot + 3*g*sin(theta)"):
        assert check_against(model, {"equations": [text]}).passed
    assert not check_against(model, {"equations": ["2*l*theta_ddot = 3*g*sin(theta)"]}).passed


def test_accelerations_as_a_table():
    model = library.pendulum()
    assert check_against(model, {"accelerations": {"theta_ddot": "-3*g/(2*l)*sin(theta)"}}).passed
    found = check_against(model, {"accelerations": {"theta_ddot": "-g/l*sin(theta)"}})
    assert not found.passed
    assert found.counterexample == {"t": 0.0, "theta": pytest.approx(np.pi / 2), "theta_dot": 0.0}
    assert [(d.what, d.ours, d.theirs) for d in found.differences] == [
        ("theta_ddot", pytest.approx(-1.5 * 9.81), pytest.approx(-9.81))
    ]


def test_own_coordinates_are_linear_in_those_of_the_model():
    """Equations in absolute angles, a model in relative ones; the names of the model are replaced."""
    model = library.chain(links=2, coordinates="relative")
    absolute = {
        "M": [["4*m*l**2/3", "m*l**2/2*C"], ["m*l**2/2*C", "m*l**2/3"]],
        "f": ["-m*l**2/2*S*theta2_dot**2 - 3*m*g*l/2*sin(theta1)", "m*l**2/2*S*theta1_dot**2 - m*g*l/2*sin(theta2)"],
        "define": {"S": "sin(theta1 - theta2)", "C": "cos(theta1 - theta2)"},
    }
    assert not check_against(model, absolute).passed
    found = check_against(model, {**absolute, "coordinates": {"theta1": "theta1", "theta2": "theta1 + theta2"}})
    assert found.passed
    assert found.remark == "M and f equal the model's entry by entry."


def test_own_coordinates_from_the_horizontal_and_in_another_order():
    model = library.chain(links=2, kind="point")
    given = {
        "coordinates": {"b": "theta2 - 90deg", "a": "theta1 - 90deg"},
        "equations": [
            "l*b_ddot + l*a_ddot*cos(a - b) - l*a_dot**2*sin(a - b) + g*cos(b)",
            "2*l*a_ddot + l*b_ddot*cos(a - b) + l*b_dot**2*sin(a - b) + 2*g*cos(a)",
        ],
    }
    assert check_against(model, given).passed


def test_order_numbers_the_rows_of_the_mass_matrix():
    (a, b), (c, d) = DOUBLE["M"]
    turned = changed(M=[[d, c], [b, a]], f=DOUBLE["f"][::-1])
    assert not check_against(library.double_pendulum(), turned).passed
    assert check_against(library.double_pendulum(), {**turned, "order": ["theta2", "theta1"]}).passed


def test_a_long_chain_written_out_passes_and_a_wrong_term_is_found():
    """Eight equal rods: a_ij = m l^2 (n - max(i, j) + 1/2), 1/3 on the diagonal; one term of damping too many."""
    n = 8
    links = range(1, n + 1)
    define = {f"a{i}_{j}": f"m*l**2*({n - max(i, j)} + {'1/3' if i == j else '1/2'})" for i in links for j in links}
    term = "a{0}_{1}*(theta{1}_ddot*cos(theta{0} - theta{1}) + theta{1}_dot**2*sin(theta{0} - theta{1}))"
    equations = [
        " + ".join(term.format(i, j) for j in links) + f" + m*g*l*({n - i} + 1/2)*sin(theta{i}) = 0" for i in links
    ]
    model = library.chain(links=n)
    assert check_against(model, {"equations": equations, "define": define}, states=20).passed
    equations[1] += " - 0.01*theta4_dot"
    found = check_against(model, {"equations": equations, "define": define}, states=20)
    assert {name: abs(x) for name, x in found.counterexample.items() if x != 0} == {"theta4_dot": 1.0}
    rows = [d for d in found.differences if d.what.startswith("equation")]
    assert [d.what for d in rows] == ["equation 2: terms without accelerations"]
    assert abs(rows[0].theirs - rows[0].ours) == pytest.approx(0.01)


def test_reactions_as_unknowns():
    """A rod by Newton and Euler about its mass centre, with the force of the pivot unknown."""
    right = {
        "unknowns": ["X", "Y"],
        "equations": ["m*ax = X", "m*ay = Y - m*g", "m*l**2/12*theta_ddot = -l/2*sin(theta)*Y - l/2*cos(theta)*X"],
        "define": {
            "ax": "l/2*(theta_ddot*cos(theta) - theta_dot**2*sin(theta))",
            "ay": "l/2*(theta_ddot*sin(theta) + theta_dot**2*cos(theta))",
        },
    }
    assert check_against(library.pendulum(), right).passed
    wrong = {
        **right,
        "equations": [*right["equations"][:2], "m*l**2/3*theta_ddot = -l/2*(sin(theta)*Y + cos(theta)*X)"],
    }
    found = check_against(library.pendulum(), wrong)
    assert not found.passed
    assert any("left side - right side" in d.what for d in found.differences)


FOUR_BAR = {  # absolute angles, uniform bars, multipliers X, Y for the gap between coupler and rocker
    "unknowns": ["X", "Y"],
    "equations": [
        "(ma/3 + mb)*a**2*crank_ddot + h*cos(D)*coupler_ddot + h*sin(D)*coupler_dot**2 + (ma/2 + mb)*g*a*sin(crank)"
        " = a*(X*cos(crank) + Y*sin(crank))",
        "mb*b**2/3*coupler_ddot + h*cos(D)*crank_ddot - h*sin(D)*crank_dot**2 + mb*g*b/2*sin(coupler)"
        " = b*(X*cos(coupler) + Y*sin(coupler))",
        "mc*c**2/3*rocker_ddot + mc*g*c/2*sin(rocker) = -c*(X*cos(rocker) + Y*sin(rocker))",
        "a*(crank_ddot*cos(crank) - crank_dot**2*sin(crank)) + b*(coupler_ddot*cos(coupler) - coupler_dot**2*sin(coupler))"
        " = c*(rocker_ddot*cos(rocker) - rocker_dot**2*sin(rocker))",
        "a*(crank_ddot*sin(crank) + crank_dot**2*cos(crank)) + b*(coupler_ddot*sin(coupler) + coupler_dot**2*cos(coupler))"
        " = c*(rocker_ddot*sin(rocker) + rocker_dot**2*cos(rocker))",
    ],
    "define": {"ma": "rho*a", "mb": "rho*b", "mc": "rho*c", "h": "mb*a*b/2", "D": "crank - coupler"},
}


def test_a_closed_loop_with_multipliers():
    found = check_against(library.four_bar(), FOUR_BAR, states=30)
    assert found.passed, found.sentence


def test_a_closed_loop_is_refuted_at_a_state_that_closes():
    wrong = {**FOUR_BAR, "define": {**FOUR_BAR["define"], "mc": "2*rho*c"}}
    model = library.four_bar()
    found = check_against(model, wrong, states=30)
    assert not found.passed
    system = pendula.compile_system(model)
    state = system.state({k: v for k, v in found.counterexample.items() if k != "t"})
    gap, rate = system.gaps(state.q, state.v)
    assert np.abs(gap).max() < 1e-9
    assert np.abs(rate).max() < 1e-9
    assert all(found.counterexample[f"{n}_dot"] == 0 for n in ("crank", "coupler", "rocker"))


def test_eulers_equations_of_a_free_body():
    turn = {"x": "m*(b**2 + h**2)/12", "y": "m*(a**2 + h**2)/12", "z": "m*(a**2 + b**2)/12"}
    given = {
        "define": {f"I{axis}": text for axis, text in turn.items()},
        "equations": [
            *(f"box_{axis}_ddot" for axis in "xyz"),
            "Ix*box_wx_dot = (Iy - Iz)*box_wy*box_wz",
            "Iy*box_wy_dot = (Iz - Ix)*box_wz*box_wx",
            "Iz*box_wz_dot = (Ix - Iy)*box_wx*box_wy",
        ],
    }
    assert check_against(library.free_body(), given, states=20).passed
    given["equations"][4] = "Iy*box_wy_dot = (Ix - Iz)*box_wz*box_wx"
    found = check_against(library.free_body(), given, states=20)
    assert [d.what for d in found.differences if ":" not in d.what] == ["box_wy_dot"]
    assert found.counterexample["box_q0"] == 1.0
    assert found.counterexample["box_wy"] == 0.0


CART = {
    "M": [["M + m", "m*l/2*cos(theta)"], ["m*l/2*cos(theta)", "m*l**2/3"]],
    "f": ["F + m*l/2*theta_dot**2*sin(theta)", "-m*g*l/2*sin(theta)"],
}


def test_inputs_take_part_though_the_model_leaves_them_at_zero():
    assert check_against(library.cart_pole(), CART).passed
    found = check_against(library.cart_pole(), {**CART, "f": ["-" + CART["f"][0], CART["f"][1]]})
    assert not found.passed
    without = check_against(library.cart_pole(), {**CART, "f": ["m*l/2*theta_dot**2*sin(theta)", CART["f"][1]]})
    assert not without.passed
    assert abs(without.counterexample["F"]) == 1.0


def test_time_and_prescribed_motion():
    """A bead on a hoop that turns at Omega; the motion of the hoop is not in the state."""
    right = "m*r**2*theta_ddot = m*r**2*Omega**2*sin(theta)*cos(theta) - m*g*r*sin(theta) - c*r**2*theta_dot"
    assert check_against(library.hoop_bead(), {"equations": [right]}).passed
    assert not check_against(library.hoop_bead(), {"equations": [right + " + t"]}).passed


def test_a_missing_factor_that_is_one_is_remarked():
    """m g l sin(theta) for g sin(theta): the same numbers while m = l = 1, as in a published pendulum."""
    model = library.pendulum(kind="point")
    found = check_against(model, {"equations": ["l*theta_ddot + m*g*l*sin(theta) = 0"]})
    assert found.passed
    assert "m (1), l (1)" in found.remark
    assert (
        check_against(model.with_parameters({"m": 2}), {"equations": ["l*theta_ddot + m*g*l*sin(theta) = 0"]}).passed
        is False
    )


def test_the_sentence_tells_the_verdict():
    right, wrong = ({"accelerations": {"theta_ddot": f"-{k}*g/l*sin(theta)"}} for k in (1.5, 1))
    assert "agrees with pendulum" in check_against(library.pendulum(), right).sentence
    assert "theta_ddot is -14.715 by the model and -9.81" in check_against(library.pendulum(), wrong).sentence


def test_expressions_are_never_run():
    with pytest.raises(UsageError, match="equation 1"):
        check_against(library.pendulum(), {"equations": ["__import__('os').getcwd()"]})


# -- bad input ---------------------------------------------------------------------------------------------

RIGHT = "l*theta_ddot + 3*g/2*sin(theta)"
TWO = ["theta1_ddot", "theta2_ddot"]
BAD = {
    "nothing given": ({}, ["no equations"]),
    "unknown entry": ({"equation": [RIGHT]}, ['"equation"', '"equations"']),
    "two forms": ({"equations": [RIGHT], "accelerations": {}}, ["both"]),
    "M without f": ({"M": [["l"]]}, ["f", "missing"]),
    "f without M": ({"f": ["l"]}, ['"M" is missing']),
    "f beside equations": ({"equations": [RIGHT], "f": ["l"]}, ["f", "does not belong"]),
    "too few equations": ({"equations": []}, ["equations", "must have 1", "found 0"]),
    "too many equations": ({"equations": [RIGHT, RIGHT]}, ["equations", "found 2"]),
    "equations no list": ({"equations": RIGHT}, ["equations", "must be a list"]),
    "equation is a table": ({"equations": [{}]}, ["equation 1"]),
    "two equals signs": ({"equations": ["theta_ddot = 1 = 2"]}, ["equation 1", "2 equals signs"]),
    "comparison for an equation": ({"equations": ["theta_ddot == 1"]}, ["equation 1"]),
    "half an equation": ({"equations": ["theta_ddot ="]}, ["equation 1"]),
    "unknown name": ({"equations": ["l*theta_ddot + 3*g/2*sin(teta)"]}, ["equation 1", '"teta"', '"theta"']),
    "bad expression": ({"equations": ["l*theta_ddot + 3*g^2"]}, ["equation 1", "**"]),
    "square of an acceleration": ({"equations": ["theta_ddot**2 + g"]}, ["equation 1", '"theta_ddot**2"', "linear"]),
    "product of accelerations": ({"equations": ["theta_ddot*(1 + theta_ddot)"]}, ["equation 1", "linear"]),
    "acceleration under a function": ({"equations": ["sin(theta_ddot)"]}, ["equation 1", "linear"]),
    "acceleration in a divisor": ({"equations": ["1/theta_ddot + 1"]}, ["equation 1", "linear"]),
    "acceleration in a condition": ({"equations": ["l if theta_ddot > 0 else g"]}, ["equation 1", "linear"]),
    "no acceleration": ({"equations": ["g*sin(theta)"]}, ["theta_ddot", "not determined"]),
    "not finite": ({"equations": ["theta_ddot + sqrt(-1 - theta**2)"]}, ["equation 1", "sqrt"]),
    "not finite in an abbreviation": (
        {"equations": ["theta_ddot + r"], "define": {"r": "log(-1 - theta**2)"}},
        ["equation 1", "log"],
    ),
    "coefficient not finite": ({"equations": ["theta_ddot*(theta - theta)**(-1)"]}, ["equation 1", "finite"]),
    "M of wrong size": ({"M": [["l", "l"]], "f": ["g"]}, ["M", "row of theta", "1 entries"]),
    "too many rows of M": ({"M": [["l"], ["l"]], "f": ["g"]}, ["M", "must have 1 rows"]),
    "f of wrong size": ({"M": [["l"]], "f": ["g", "g"]}, ["f", "must have 1 entries"]),
    "acceleration in M": ({"M": [["theta_ddot"]], "f": ["g"]}, ["M[theta, theta]", "acceleration"]),
    "singular M": ({"M": [["m - m"]], "f": ["g"]}, ["M", "not determined"]),
    "M not finite": ({"M": [["1/(m - m)"]], "f": ["g"]}, ["M[theta, theta]", "division by zero"]),
    "acceleration missing": ({"accelerations": {}}, ["accelerations", '"theta_ddot"', "missing"]),
    "unknown acceleration": ({"accelerations": {"theta_dot": "g"}}, ["accelerations", '"theta_dot"', '"theta_ddot"']),
    "accelerations no table": ({"accelerations": [1]}, ["accelerations", "table"]),
    "abbreviations in a circle": (
        {"equations": [RIGHT], "define": {"a": "b", "b": "a"}},
        ["define", "circularly"],
    ),
    "abbreviation takes a name": ({"equations": [RIGHT], "define": {"l": "2"}}, ["define: l", "already"]),
    "abbreviation with a bad name": ({"equations": [RIGHT], "define": {"a b": "2"}}, ["define: a b"]),
    "unknown name in an abbreviation": ({"equations": [RIGHT], "define": {"a": "zz"}}, ["define: a", '"zz"']),
    "own coordinate is no coordinate": ({"equations": [RIGHT], "coordinates": {"phi": "l"}}, ["coordinates: phi"]),
    "own coordinate not linear": (
        {"equations": [RIGHT], "coordinates": {"phi": "sin(theta)"}},
        ["coordinates: phi", "linear"],
    ),
    "own coordinate takes a parameter": ({"equations": [RIGHT], "coordinates": {"l": "theta"}}, ["coordinates: l"]),
    "too many own coordinates": (
        {"M": [["l"]], "f": ["g"], "coordinates": {"a": "theta", "b": "2*theta"}},
        ["coordinates", "2 are given"],
    ),
    "order of wrong size": ({"M": [["l"]], "f": ["g"], "order": []}, ["order", "must have 1"]),
    "order with an unknown name": ({"M": [["l"]], "f": ["g"], "order": ["phi"]}, ["order", '"phi"']),
    "unknowns without equations": ({"M": [["l"]], "f": ["g"], "unknowns": ["X"]}, ["unknowns", "equations"]),
    "unknown takes a name": ({"equations": [RIGHT, "g"], "unknowns": ["m"]}, ["unknowns", '"m"']),
    "unknown in no equation": ({"equations": [RIGHT, "theta_ddot"], "unknowns": ["X"]}, ['"X"', "not determined"]),
    "title is a number": ({"equations": [RIGHT], "title": 3}, ["title"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_equations_are_refused_by_name(name, tmp_path):
    data, words = BAD[name]
    with pytest.raises(UsageError) as caught:
        check_against(library.pendulum(), data, states=5)
    message = str(caught.value)
    assert message.startswith("given equations: ")
    for word in words:
        assert word in message, message


def test_a_long_row_of_abbreviations_is_followed_to_the_cause():
    define = {"d0": "1/(m - m)"} | {f"d{k}": f"d{k - 1} + 1" for k in range(1, 3000)}
    with pytest.raises(UsageError, match="division by zero"):
        check_against(library.pendulum(), {"equations": ["theta_ddot + d2999"], "define": define}, states=2)


def test_too_much_is_refused_before_it_takes_long(monkeypatch):
    monkeypatch.setattr("pendula.analysis.court.given.MOST_PARTS", 1000)
    define = {f"d{k}": "+".join(["m"] * 100) for k in range(6)}  # 6 times 199 parts
    with pytest.raises(UsageError, match="more than 1000 parts together"):
        check_against(library.pendulum(), {"equations": [RIGHT], "define": define}, states=2)


@pytest.mark.parametrize("value", [None, True, float("nan"), float("inf"), [], {}, 10**400, b"x", object()])
@pytest.mark.parametrize("key", ["equations", "M", "f", "accelerations", "define", "coordinates", "order", "unknowns"])
def test_values_of_any_type_are_refused_in_one_error(key, value):
    base = {"M": [["m*l**2/3"]], "f": ["-m*g*l/2*sin(theta)"]}
    if key == "equations" or key == "unknowns":
        base = {"equations": [RIGHT]}
    if key == "accelerations":
        base = {}
    for bad in (value, [value], {"theta_ddot": value}, [[value]]):
        if (key == "M" and bad in ([], [[]])) or bad == {} or bad == []:
            continue  # an empty table or list may be left out
        with pytest.raises(UsageError, match="given equations: "):
            check_against(library.pendulum(), {**base, key: bad}, states=2)


def test_equations_that_depend_on_each_other_are_refused():
    model = library.double_pendulum()
    twice = ["theta1_ddot + theta2_ddot*cos(theta1)", "2*theta1_ddot + 2*theta2_ddot*cos(theta1) + g"]
    with pytest.raises(UsageError, match="equations: the equations depend on each other at t = "):
        check_against(model, {"equations": twice}, states=5)
    with pytest.raises(UsageError, match="equation 2: it contains no acceleration"):
        check_against(model, {"equations": ["theta1_ddot + theta2_ddot", "g*sin(theta1)"]}, states=5)


def test_own_coordinates_that_depend_on_each_other_are_refused():
    same = {"a": "theta1", "b": "2*theta1"}
    with pytest.raises(UsageError, match=r"coordinates: .* depend on each other"):
        check_against(library.double_pendulum(), {**DOUBLE, "coordinates": same}, states=5)


def test_quaternions_are_not_own_coordinates():
    with pytest.raises(UsageError, match=r"coordinates: a: .*quaternion"):
        check_against(library.heavy_top(), {"equations": [], "coordinates": {"a": "pivot_q1"}}, states=5)


def test_mass_matrix_of_a_closed_loop_is_refused():
    eye = [["1" if i == j else "0" for j in range(3)] for i in range(3)]
    with pytest.raises(UsageError, match="M: the model has closed loops"):
        check_against(library.four_bar(), {"M": eye, "f": ["0"] * 3}, states=5)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    for name, content in {"bytes.toml": b"\xff\xfe", "broken.toml": b"equations = ["}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ModelError, match=name):
            check_against(library.pendulum(), tmp_path / name)
    with pytest.raises(PendulaError, match="path"):
        check_against(library.pendulum(), 3)


def test_messages_name_the_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('equations = ["l*theta_ddot + g*sin(fi)"]')
    with pytest.raises(UsageError, match=r"mine\.toml: equation 1: "):
        check_against(library.pendulum(), path)


def test_tolerance_is_what_the_page_says():
    assert TOLERANCE == 1e-9
