"""Commands about small motion: fields, numbers against closed forms, which equilibrium is meant, how they end."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from pendula.errors import NotSupported
from pendula.library import mechanisms
from pendula.refusals import Refusal, Why
from tests.helpers.choices import slow_too

WIDTH = 80
COMMANDS = ("equilibria", "linearize", "modes", "stability")
DRIVEN = {"driven-chain", "inverted-chain", "driven-linkage"}  # forces depend on time: there is no equilibrium
FEW = ("--samples", "40")
"""Values of a range: what lies between two of them is refined in any case."""
LARGE = {"chain": ["-p", "links=3"], "free-body": ["--starts", "20"]}
LONG = {"spatial-chain", "double-spherical-pendulum", "linkage"}  # as others of the library, only larger
SHAKEN = ["driven-chain", "-p", "links=1", "-p", "kind=point", "-p", "amplitude=0.05", "-p", "direction=0"]


def read(result):
    assert result.code in (0, 1), result.err
    return json.loads(result.out)


def narrow(text: str) -> bool:
    return max(map(len, text.splitlines())) <= WIDTH


# --- equilibria -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", slow_too(sorted(set(mechanisms()) - DRIVEN - LONG), sorted(LONG)))
def test_every_library_mechanism_has_its_table(pendula, name):
    result = pendula("equilibria", name, *LARGE.get(name, []))
    assert result.code == 0, result.err
    assert narrow(result.out)
    assert "complete      " in result.out
    assert "searched in" in result.out


@pytest.mark.parametrize("name", sorted(DRIVEN))
def test_driven_mechanisms_are_sent_to_floquet(pendula, name):
    result = pendula("equilibria", name)
    assert result.code == 2
    assert "pendula floquet" in result.err


def test_equilibria_have_the_fields_that_are_promised(pendula):
    data = read(pendula("equilibria", "double-physical-pendulum", "--json"))
    assert data["complete"] == "proven"
    assert set(data["box"]) == {"phi1", "phi2"}
    assert len(data["equilibria"]) == 4
    for one in data["equilibria"]:
        assert {"name", "q", "residual", "verdict"} <= set(one)
        assert one["residual"] < 1e-12
    assert [e["verdict"] for e in data["equilibria"]] == ["stable", "unstable", "unstable", "unstable"]


def test_exercise_1_of_paper_001_has_four_equilibria_for_a_stiff_spring(pendula):
    data = read(pendula("equilibria", "piston-bar", "-p", "k=25", "--json"))
    angles = sorted(math.degrees(e["q"]["theta"]) for e in data["equilibria"])
    push = 3 + 4 / 2 + 40  # lb: weights of piston and of half the bar, and F
    tilted = math.degrees(math.acos(push / (25 * 2)))
    assert angles == pytest.approx([-tilted, 0, tilted, 180], abs=1e-9)
    verdicts = {round(math.degrees(e["q"]["theta"])): e["verdict"] for e in data["equilibria"]}
    assert verdicts == {180: "asymptotically stable", 0: "asymptotically stable", 26: "unstable", -26: "unstable"}


def test_a_box_is_read_with_units_and_printed(pendula):
    result = pendula("equilibria", "disc-bar", "--box", "theta=0:90deg", "--json")
    data = read(result)
    assert data["box"]["theta"] == pytest.approx([0, math.pi / 2])
    tilted = [math.degrees(e["q"]["theta"]) for e in data["equilibria"] if e["q"]["theta"] > 0.1]
    assert tilted == [pytest.approx(58.69, abs=0.01)]
    assert "from -720 to 720 deg" in pendula("equilibria", "disc-bar", "--box", "theta=720deg").out


def test_no_equilibrium_names_the_force_and_exits_with_1(pendula):
    for command in COMMANDS:
        result = pendula(command, "cart-pole", "--input", "F=2")
        assert result.code == 1
        assert "2 N on x_dot remains unbalanced" in result.out
        data = json.loads(pendula(command, "cart-pole", "--input", "F=2", "--json").out)
        assert data["unbalanced"] == {"x_dot": pytest.approx(2.0)}


def test_families_and_steady_motions_are_named(pendula):
    assert "belong to families of equilibria along x" in pendula("equilibria", "cart-pole").out
    data = read(pendula("equilibria", "spherical-pendulum", "--rate", "phi=4", "--json"))
    swing = math.acos(9.81 / 16)  # cos(theta) = g / (l phi'^2)
    found = [e for e in data["equilibria"] if abs(abs(e["q"]["theta"]) - swing) < 1e-9]
    assert len(found) == 1, "theta and -theta are one circle"
    assert found[0]["v"]["phi_dot"] == 4
    assert found[0]["free_directions"] == [{"phi": 1.0}]


@pytest.mark.parametrize("name", ["hoop-bead", "double-physical-pendulum", "cart-pole"])
def test_potentials_are_drawn(pendula, tmp_path, name):
    assert "wrote v.png" in pendula("equilibria", name, "--plot", "v.png").out
    assert (tmp_path / "v.png").read_bytes()[:4] == b"\x89PNG"


# --- which equilibrium ------------------------------------------------------------------------------------


def test_the_one_of_least_effective_potential_is_taken_and_said(pendula):
    result = pendula("stability", "hoop-bead")
    assert "equilibrium 1 of 4, the one of least effective potential" in " ".join(result.out.split())
    data = read(pendula("stability", "hoop-bead", "--json"))
    assert abs(data["at"]["theta"]) == pytest.approx(math.acos(9.81 / 20))


@pytest.mark.parametrize("at", [["2"], ["theta=180deg"], ["theta=pi"], ["theta=179.99deg"]])
def test_at_takes_numbers_and_values(pendula, at):
    data = read(pendula("linearize", "pendulum", *(x for one in at for x in ("--at", one)), "--json"))
    assert data["at"]["theta"] == pytest.approx(math.pi, abs=1e-12)


def test_several_values_may_stand_in_one_or_in_several(pendula):
    for at in (["--at", "theta1=180deg,theta2=0"], ["--at", "theta1=180deg", "--at", "theta2=0"]):
        data = read(pendula("stability", "chain", "-p", "links=2", *at, "--json"))
        assert data["at"] == {"theta1": math.pi, "theta2": 0, "theta1_dot": 0, "theta2_dot": 0}
        assert data["verdict"] == "unstable"


def test_a_rounded_value_means_the_equilibrium_that_has_it(pendula):
    result = pendula("stability", "piston-bar", "-p", "k=25", "--at", "theta=25.84deg")
    assert "up to rounding" in result.out
    assert "theta = 25.8419 deg" in result.out


def test_a_point_that_is_none_is_refused_with_the_nearest(pendula):
    result = pendula("linearize", "piston-bar", "-p", "k=25", "--at", "theta=30deg")
    assert result.code == 2
    assert "not an equilibrium" in result.err
    assert "of a typical force" in result.err
    assert "theta = 25.8419 deg" in result.err


def test_parts_of_a_loop_follow_the_values_given(pendula):
    one = read(pendula("linearize", "slider-crank", "--at", "crank=0", "--json"))
    assert abs(one["at"]["x"]) == pytest.approx(math.sqrt(8))
    assert [e["label"].split(":")[0] for e in one["eigenvalues"]] == ["physical"] * 2 + ["infinite"] * 6


# --- linearize --------------------------------------------------------------------------------------------


def test_matrices_of_the_double_pendulum_are_those_of_paper_001(pendula):
    data = read(pendula("linearize", "double-pendulum", "--json"))
    fields = {"coordinates", "speeds", "inputs", "M", "C", "K", "A", "B", "eigenvalues", "residual", "at"}
    assert fields <= set(data)
    m, length = 5 / 32.2, 2.0
    inertia = m * length**2 * np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]])
    stiffness = np.array([[1300 + 15, -300], [-300, 300 + 5]])  # springs and weight
    damping = np.array([[5.5, -0.5], [-0.5, 0.5]])
    np.testing.assert_allclose(data["M"], inertia, rtol=1e-12)
    np.testing.assert_allclose(data["K"], stiffness, rtol=1e-12)
    np.testing.assert_allclose(data["C"], damping, rtol=1e-12)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(inertia, np.hstack([stiffness, damping]))]])
    np.testing.assert_allclose(data["A"], A, rtol=1e-9, atol=1e-9)
    roots = sorted((complex(e["re"], e["im"]) for e in data["eigenvalues"]), key=lambda z: (z.real, z.imag))
    true = sorted(np.linalg.eigvals(A), key=lambda z: (z.real, z.imag))
    np.testing.assert_allclose(roots, true, rtol=1e-10)
    assert {e["label"] for e in data["eigenvalues"]} == {"physical"}


@pytest.mark.parametrize(
    ("settings", "others"),
    [(["-p", "chart=xy"], {}), ([], {"undetermined": 2}), (["-p", "chart=xy", "--formulation", "maximal"], None)],
)
def test_the_pendulum_of_paper_000_in_every_chart(pendula, settings, others):
    data = read(pendula("linearize", "spherical-pendulum", *settings, "--json"))
    kinds = [e["label"].split(":")[0] for e in data["eigenvalues"]]
    physical = [e for e in data["eigenvalues"] if e["label"].startswith("physical")]
    assert sorted(e["im"] for e in physical) == pytest.approx([-math.sqrt(9.81)] * 2 + [math.sqrt(9.81)] * 2, abs=1e-14)
    assert all(e["re"] == 0 for e in physical)
    if others is None:
        assert kinds.count("infinite") > 0
    else:
        assert {kind: kinds.count(kind) for kind in set(kinds) - {"physical"}} == others


def test_without_the_geometric_stiffness_a_hanging_linkage_has_none(pendula):
    right = read(pendula("linearize", "four-bar", "--formulation", "maximal", "--json"))
    wrong = read(pendula("linearize", "four-bar", "--formulation", "maximal", "--no-geometric", "--json"))
    assert right["K"][0][0] > 1
    assert abs(wrong["K"][0][0]) < 1e-9
    assert "WRONG ON PURPOSE" in wrong["notes"][0]


def test_differences_state_their_error(pendula):
    data = read(pendula("linearize", "double-pendulum", "--method", "differences", "--json"))
    exact = read(pendula("linearize", "double-pendulum", "--json"))
    off = np.abs(np.array(data["A"]) - exact["A"]).max() / np.abs(exact["A"]).max()
    assert 0 < data["error"] < 1e-6
    assert off == pytest.approx(data["error"], rel=1e-3)
    assert "central differences" in pendula("linearize", "double-pendulum", "--method", "differences").out


def test_symbols_give_the_condition_of_exercise_1(pendula):
    result = pendula("linearize", "piston-bar", "--symbolic", "--at", "theta=0")
    assert "asymptotically stable if 2*k*l > 2*F0 + g*m + 2*g*m_p" in result.out
    data = read(pendula("linearize", "piston-bar", "--symbolic", "--at", "theta=0", "--json"))
    assert data["M"] == [["l**2*m/3"]]
    assert r"\frac{l^{2} m}{3}" in pendula("linearize", "piston-bar", "--symbolic", "--latex", "--at", "theta=0").out


def test_a_point_without_closed_form_gets_a_symbol(pendula):
    result = pendula("linearize", "hoop-bead", "--symbolic")
    assert result.code == 0
    assert "theta_e = -1.05" in result.out
    assert "an equilibrium only if" in result.out
    result = pendula("linearize", "hoop-bead", "--symbolic", "--at", "theta=acos(g/(r*Omega**2))")
    assert "asymptotically stable if Omega**2*r > g" in result.out
    assert "underdamped if" in result.out


def test_terms_are_told_in_every_format(pendula):
    arguments = ("linearize", "double-pendulum", "--symbolic", "--terms", "--at", "theta1=0")
    result = pendula(*arguments)
    assert result.code == 0
    assert narrow(result.out)
    assert "dropped, of order 3: product of theta2_dot**2 (order 2)" in result.out
    told = read(pendula(*arguments, "--json"))["equations"]
    assert [x["equation"] for x in told] == ["theta1_dot", "theta2_dot"]
    assert {t["kind"] for t in told[0]["terms"]} == {"kept", "linearized", "dropped"}
    latex = pendula(*arguments, "--latex").out
    assert r"\ddot{\theta}_{2}" in latex
    assert r"\Delta \theta_{1}" in latex
    assert latex.count("{") == latex.count("}")


def test_terms_that_take_too_long_are_left_out_in_every_format(pendula, monkeypatch):
    late_terms = Refusal("terms/late", "symbolic linear model", (), "the account of every term was left out", Why.SIZE)

    def late(*_):
        raise NotSupported(late_terms)

    monkeypatch.setattr("pendula.equations.small_motion.build._Builder.told", late)
    arguments = ("linearize", "pendulum", "--symbolic", "--at", "theta=0")
    assert "account" not in pendula(*arguments).out
    assert pendula(*arguments, "--terms").out.endswith("the account of every term was left out\n")
    data = read(pendula(*arguments, "--terms", "--json"))
    assert (data["equations"], data["left_out"]) == (None, ["the account of every term was left out"])
    assert pendula(*arguments, "--terms", "--latex").out.endswith("\n% the account of every term was left out\n")


def test_a_long_chain_does_not_flood_the_terminal(pendula, tmp_path):
    result = pendula("linearize", "chain", "-p", "links=200", "-o", "all.npz", "--plot", "roots.png")
    assert result.code == 0
    assert len(result.out.splitlines()) < 60
    assert narrow(result.out)
    assert "M, C, K: 200 x 200" in result.out
    with np.load(tmp_path / "all.npz") as read:
        assert read["A"].shape == (400, 400)
        assert read["coordinates"][199] == "theta200"
        slowest = np.abs(read["eigenvalues"]).min()
    # a hanging string of length L: j0 / 2 sqrt(g/L), less by terms of the order 1/n^2
    assert slowest == pytest.approx(2.404825557695773 / 2 * math.sqrt(9.81 / 200), rel=1e-3)
    assert (tmp_path / "roots.png").read_bytes()[:4] == b"\x89PNG"


def test_latex_is_printed_alone(pendula):
    result = pendula("linearize", "pendulum", "--at", "1", "--latex")
    assert result.out.startswith(r"\begin{bmatrix}")


# --- modes ------------------------------------------------------------------------------------------------


def test_modes_have_the_fields_and_numbers_of_the_closed_form(pendula):
    data = read(pendula("modes", "double-pendulum", "--json"))
    fields = {"frequencies_rad_s", "frequencies_hz", "damping_ratios", "shapes", "description", "at"}
    assert fields <= set(data)
    inertia = 5 / 32.2 * 4 * np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]])
    squares = np.linalg.eigvals(np.linalg.solve(inertia, [[1315, -300], [-300, 305]]))
    assert data["frequencies_rad_s"] == pytest.approx(sorted(np.sqrt(squares)))
    assert data["frequencies_hz"] == pytest.approx(sorted(np.sqrt(squares) / (2 * math.pi)))
    assert "in phase" in data["description"][0]
    assert "out of phase" in data["description"][1]
    assert data["at"]["theta1"] == 0


def test_damped_modes_say_so(pendula):
    plain, damped = (pendula("modes", "double-pendulum", *extra) for extra in ([], ["--damped"]))
    assert "--damped" in plain.out
    assert "modes, damped" in damped.out
    data = read(pendula("modes", "double-pendulum", "--damped", "--json"))
    assert data["damping_ratios"][0] == pytest.approx(0.9178335393 / abs(complex(0.9178335393, 21.43204755)), rel=1e-8)


def test_modes_play_and_respond(pendula, tmp_path):
    files = ["--animate", "m.html", "--mode", "2", "--plot", "m.png", "--plot-response", "r.png"]
    result = pendula("modes", "cart-pole", *files, "--response", "F")
    assert result.code == 0, result.err
    assert "rigid body" in result.out
    assert "resonance with mode 2" in result.out
    assert "<html" in (tmp_path / "m.html").read_text()[:200].lower()
    assert (tmp_path / "r.png").read_bytes()[:4] == b"\x89PNG"
    data = read(pendula("modes", "cart-pole", "--response", "F", "--json"))
    peak = data["response"]["resonances"][0]
    assert peak["infinite"]
    assert peak["frequency"] == pytest.approx(math.sqrt(0.981 * 1.2 / (1.2 / 15 - 0.01)))


# --- stability --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "verdict", "code"),
    [
        (["double-pendulum"], "asymptotically stable", 0),
        (["pendulum", "--at", "theta=0"], "stable", 0),
        (["pendulum", "--at", "theta=180deg"], "unstable", 1),
        (["cart-pole"], "critical: drifts along x, stable otherwise", 0),
        (["hoop-bead", "-p", "Omega=sqrt(g/r)", "--at", "theta=0"], "stable", 0),
        (["piston-bar", "-p", "k=22.5", "--at", "theta=0"], "unstable", 1),
    ],
)
def test_verdicts_and_exit_codes(pendula, arguments, verdict, code):
    result = pendula("stability", *arguments, "--json")
    data = json.loads(result.out)
    assert {"verdict", "behavior", "applies_to_nonlinear", "proof", "at"} <= set(data)
    assert (data["verdict"], result.code) == (verdict, code)
    assert data["applies_to_nonlinear"] is True
    text = pendula("stability", *arguments)
    assert text.code == code
    assert narrow(text.out)
    assert verdict in " ".join(text.out.split())


def test_exercise_1_is_stable_from_22_5_on(pendula):
    result = pendula("stability", "piston-bar", "--at", "theta=0", "--over", "k=0:50", *FEW)
    assert result.code == 0
    assert narrow(result.out)
    data = read(pendula("stability", "piston-bar", "--at", "theta=0", "--over", "k=0:50", *FEW, "--json"))
    assert [c["value"] for c in data["critical"]] == [pytest.approx((3 + 2 + 40) / 2, rel=1e-12)]
    assert [r["verdict"] for r in data["ranges"]] == ["unstable", "asymptotically stable"]
    assert data["critical"][0]["verdict"] == "unstable"
    assert "Chetaev" in data["critical"][0]["proof"]


def test_a_range_starts_from_the_equilibrium_of_its_low_end(pendula):
    # the bead stays at the bottom up to Omega^2 = g/r and is followed there; above 4 the lowest one is tilted
    low = read(pendula("stability", "hoop-bead", "--over", "Omega=2:6", *FEW, "--json"))
    assert [c["value"] for c in low["critical"]] == [pytest.approx(math.sqrt(9.81), rel=1e-9)]
    assert [r["verdict"] for r in low["ranges"]] == ["asymptotically stable", "unstable"]
    assert low["critical"][0]["verdict"] == "stable"
    assert all(r["at"]["theta"] == pytest.approx(0, abs=1e-9) for r in low["ranges"])
    high = read(pendula("stability", "hoop-bead", "--over", "Omega=4:6", *FEW, "--json"))
    assert [r["verdict"] for r in high["ranges"]] == ["asymptotically stable"]
    assert math.cos(high["ranges"][0]["at"]["theta"]) == pytest.approx(9.81 / 25)


CART = """
name = "sprung mass"
gravity = [0, 0, 0]
[parameters]
m = 2.0
k = 3.0
[[bodies]]
name = "block"
point = { mass = "m" }
[[joints]]
name = "x"
type = "prismatic"
parent = "ground"
child = "block"
[[forces]]
type = "spring"
joint = "x"
stiffness = "k"
damping = 1
"""


def test_an_end_of_a_range_at_which_something_else_holds_is_told(pendula, tmp_path):
    """A mass on a damper alone stays where it stops; the least spring brings it back."""
    (tmp_path / "mass.toml").write_text(CART)
    data = read(pendula("stability", "mass.toml", "--over", "k=0:5", *FEW, "--json"))
    assert [(r["low"], r["high"], r["verdict"]) for r in data["ranges"]] == [(0, 5, "asymptotically stable")]
    assert data["critical"] == []
    assert [(e["value"], e["verdict"] == "asymptotically stable") for e in data["ends"]] == [(0, False)]
    text = pendula("stability", "mass.toml", "--over", "k=0:5", *FEW).out
    assert narrow(text)
    assert "at 0 " in text
    above = read(pendula("stability", "mass.toml", "--over", "k=1:5", *FEW, "--json"))
    assert above["ends"] == []


WATT = """
name = "Watt linkage"
gravity = [0, -9.81, 0]
[parameters]
a = 1.0
h = 0.5
[[bodies]]
name = "left"
rod = { mass = 1, length = "a", axis = [1, 0, 0] }
[[bodies]]
name = "middle"
rod = { mass = 0.5, length = "h" }
[[bodies]]
name = "right"
rod = { mass = 1, length = "a", axis = [-1, 0, 0] }
[[joints]]
name = "phi"
type = "revolute"
parent = "ground"
child = { body = "left", at = "start" }
[[joints]]
name = "psi"
type = "revolute"
parent = { body = "left", at = "end" }
child = { body = "middle", at = "start" }
[[joints]]
name = "chi"
type = "revolute"
parent = { body = "ground", position = ["2*a", "-h", 0] }
child = { body = "right", at = "start" }
[[joints]]
name = "pin"
type = "coincident"
parent = { body = "middle", at = "end" }
child = { body = "right", at = "end" }
[[forces]]
type = "spring"
from = { body = "ground", position = ["a", 1, 0] }
to = { body = "middle", at = "center" }
stiffness = 60
length = 0.9
[initial]
phi = "10deg"
"""


def test_the_entry_of_a_shape_that_is_called_1_is_1(pendula, tmp_path):
    """With a loop the shape is scaled by its independent coordinate, which need not be the first of all."""
    (tmp_path / "watt.toml").write_text(WATT)
    lines = pendula("modes", "watt.toml", "--at", "1").out.splitlines()
    title = next(line for line in lines if line.startswith("shapes"))
    entries = {line.split()[0]: float(line.split()[2]) for line in lines if "[rad]" in line.split()[1:2]}
    first = next(iter(entries))
    named = (
        first if title == "shapes, first significant entry 1" else title.removeprefix("shapes, ").removesuffix(" = 1")
    )
    assert entries[named] == 1


def test_the_heading_of_shapes_holds_for_every_mode(pendula):
    """One mode of a gyroscope moves its second coordinate only: its first entry is 0."""
    lines = pendula("modes", "gyroscope").out.splitlines()
    assert "shapes, first significant entry 1" in lines
    rows = [[float(x) for x in line.split()[2:]] for line in lines if "[rad]" in line.split()[1:2]]
    assert [next(x for x in column if x) for column in zip(*rows, strict=True)] == [1, 1, 1]


def test_roots_of_a_pair_are_counted_as_two(pendula):
    """The 3D pendulum has +-i sqrt(g/l) twice: four roots."""
    for command in ("linearize", "stability"):
        lines = pendula(command, "spherical-pendulum", "-p", "chart=xy", "--at", "x=0").out.splitlines()
        head = next(k for k, line in enumerate(lines) if line.lstrip().startswith("eigenvalue ["))
        assert lines[head].split()[2] == "roots"
        assert lines[head + 2].split()[:2] == [lines[head + 2].split()[0], "4"]
        assert lines[head + 2].lstrip().startswith("+-3.132")


# --- floquet ----------------------------------------------------------------------------------------------


def test_a_pendulum_stands_on_a_shaken_pivot(pendula, tmp_path):
    result = pendula("floquet", *SHAKEN, "-p", "rate=100", "--at", "theta1=180deg", "--plot", "f.png")
    assert result.code == 0
    assert "stable (linear)" in result.out
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
    assert pendula("floquet", *SHAKEN, "-p", "rate=60", "--at", "theta1=180deg").code == 1
    data = read(pendula("floquet", *SHAKEN, "-p", "rate=100", "--at", "theta1=180deg", "--json"))
    product = np.prod([complex(m["re"], m["im"]) for m in data["multipliers"]])
    assert product == pytest.approx(1, abs=1e-10)
    assert data["period"] == pytest.approx(2 * math.pi / 100)


def test_floquet_prints_the_corrected_state_of_a_periodic_motion(pendula):
    arguments = ["floquet", *SHAKEN, "-p", "rate=100", "--at", "theta1=170deg", "--close"]
    assert read(pendula(*arguments, "--json"))["at"]["theta1"] == pytest.approx(math.pi)
    assert "at time 0     theta1 = 180 deg" in pendula(*arguments).out


def test_the_limit_over_the_rate_is_that_of_mathieu(pendula):
    from scipy.optimize import brentq
    from scipy.special import mathieu_a

    # theta'' - (g - a w^2 cos w t) theta / l = 0 with tau = w t / 2: characteristic value a0(q), q = 2 a / l
    limit = brentq(lambda w: -4 * 9.81 / w**2 - mathieu_a(0, 2 * 0.05), 50, 120, xtol=1e-12)
    arguments = [*SHAKEN, "--at", "theta1=180deg", "--over", "omega=70:110", "--samples", "5"]
    data = read(pendula("floquet", *arguments, "--json"))
    assert [x["value"] for x in data["limits"]] == [pytest.approx(limit, abs=1e-6)]
    assert [r["verdict"] for r in data["ranges"]] == ["unstable", "stable (linear)"]
    result = pendula("floquet", *arguments)
    assert result.code == 0
    assert narrow(result.out)


@pytest.mark.parametrize("command", [*COMMANDS, "floquet"])
def test_help_tells_the_exit_codes(pendula, command):
    result = pendula(command, "--help")
    assert result.code == 0
    assert "with 1" in " ".join(result.out.split())
    assert narrow(result.out)


def test_chart_draws_borders_of_equilibria_and_of_driven_mechanisms(pendula, tmp_path):
    bead = pendula(
        "chart", "hoop-bead", "--x", "Omega=1:5", "--y", "r=0.5:2", "--at", "theta=0", "--samples", "4", "--json"
    )
    assert bead.code == 0, bead.err
    borders = json.loads(bead.out)["borders"]
    assert borders
    assert all(abs(b["x"] ** 2 * b["y"] - 9.81) < 1e-8 for b in borders)
    shaken = ("driven-chain", "-p", "links=1", "-p", "direction=0", "-p", "rate=100", "-p", "kind=point")
    axes = ("--x", "omega=60:120", "--y", "alpha=0.03:0.06", "--at", "theta1=180deg", "--samples", "3")
    result = pendula("chart", *shaken, *axes, "--plot", "chart.svg")
    assert result.code == 0, result.err
    assert "where a multiplier passes 1" in result.out
    assert (tmp_path / "chart.svg").exists()
    assert pendula("chart", "hoop-bead", "--x", "Omega=1:5", "--y", "r=0.5:2", "--period", "1").code == 2


def test_prescribed_motions_are_inputs_with_hold(pendula):
    common = ("driven-chain", "-p", "links=1", "-p", "kind=point", "--hold", "0")
    data = json.loads(pendula("linearize", *common, "--json").out)
    assert data["motions"]["names"] == ["theta1__x", "theta1__y"]
    assert data["motions"]["D2"] == [[pytest.approx(-1.0), pytest.approx(0.0)]]
    text = pendula("linearize", *common).out
    assert "D1 y'" in text
    assert "theta1__x = 0.05 m" in text
    answer = pendula("modes", *common, "--response", "theta1__x", "--amplitude", "0.01")
    assert answer.code == 0, answer.err
    assert "the motion theta1__x" in answer.out
    assert pendula("linearize", "pendulum", "--hold", "0").code == 2
    assert pendula("linearize", *common, "--at", "1").code == 2


def test_equilibria_of_a_linkage_are_drawn_as_poses_after_the_table(pendula):
    from pathlib import Path

    found = pendula("equilibria", "four-bar", "--plot", "poses.png")
    assert found.code == 0, found.err
    assert "crank" in found.out
    assert found.out.rstrip().endswith("wrote poses.png")
    assert Path("poses.png").stat().st_size > 5000


def test_commands_take_given_equations_or_say_why_not(pendula):
    Path("mine.toml").write_text('equations = ["m*l**2/3*theta_ddot = -m*g*l/2*sin(theta) - 0.2*theta_dot"]\n')
    stable = pendula("stability", "pendulum", "--equations", "mine.toml")
    assert stable.code == 0
    assert "asymptotically stable" in stable.out  # by the friction, which the model does not have
    around = pendula("floquet", "pendulum", "--equations", "mine.toml", "--period", "1", "--at", "theta=0")
    assert "asymptotically stable" in around.out
    for command in (["equilibria"], ["chart", "--x", "l=0.5:1", "--y", "m=1:2"]):
        refused = pendula(command[0], "pendulum", *command[1:], "--equations", "mine.toml")
        assert refused.code == 2
        assert "draws on the model, with which the equations of mine.toml need not agree" in refused.err
