"""Linkages against plane geometry done here: circles that meet, cranks turned by hand, a slider's closed form.

Paper 003: section 4.2 (n-bar linkage with a generated last link), eq. 55 (moved end), and the claim of section 5.4
about cranks, which is wrong; the right criterion is Grashof's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pendula
from pendula import Model, library
from pendula.errors import UsageError
from tests.helpers.choices import slow_too
from tests.helpers.mechanisms import library_system
from tests.helpers.numbers import Array

CLOSED = 1e-12
"""Gaps at the start: a few roundings of lengths of about 1."""
KEPT = 1e-11
"""Gaps during a run, after projection."""
BALANCED = 1e-6
"""Energy account over some seconds at tolerance 1e-9."""

LOOPS = [
    "four-bar: pumpjack",
    "four-bar: double-crank",
    "four-bar: double-rocker",
    "four-bar: triple-rocker",
    "four-bar: spin-driven",
    "slider-crank",
    "slider-crank: massless",
    "slider-crank: left",
    "linkage",
    "linkage: 4 bars",
    "linkage: given last",
    "linkage: given last, crossed",
    "linkage: lists",
    "linkage: friction",
    "driven-linkage",
    "driven-linkage: 5 bars",
]


def _down(angle: Any) -> Array:
    """Unit vector at an angle counted from hanging straight down."""
    return np.array([np.sin(angle), -np.cos(angle)])


@pytest.mark.parametrize("name", LOOPS)
def test_loop_closes_at_its_start_and_stays_closed(name: str) -> None:
    system = library_system(name)
    start = system.initial_state()
    gaps, rates = system.gaps(start.q, start.v)
    assert np.abs(gaps).max() < CLOSED
    assert np.abs(rates).max() < CLOSED * 10
    assert not pendula.assemble(system, start).moved
    run = pendula.simulate(system, 3.0, tol=1e-9)
    assert run.outcome.ok
    assert run.constraint_violation < KEPT
    assert run.energy_drift < BALANCED
    assert np.ptp(run.q, axis=0).max() > 0.05, "it does not move"


# --- Grashof ------------------------------------------------------------------------------------------


def _turns(arm: float, far: float, other: float, ground: float) -> bool:
    """Whether a link on the ground turns fully: at every angle the two circles at its tip and at the pivot meet."""
    angles = np.linspace(0, 2 * np.pi, 721)
    apart = np.hypot(ground - arm * np.cos(angles), arm * np.sin(angles))
    return bool(np.all((abs(far - other) <= apart) & (apart <= far + other)))


def _class_by_turning(a: float, b: float, c: float, d: float) -> str:
    crank, rocker = _turns(a, b, c, d), _turns(c, b, a, d)
    if crank and rocker:
        return "double-crank"
    if crank:
        return "crank-rocker"
    if rocker:
        return "rocker-crank"
    # The loop seen from the crank: does the coupler turn fully against it?
    return "double-rocker" if _turns(b, c, d, a) else "triple-rocker"


@pytest.mark.parametrize("seed", range(60))
def test_grashof_class_is_what_turning_each_link_shows(seed: int) -> None:
    lengths = np.random.default_rng(seed).uniform(0.5, 3.0, 4).tolist()
    if max(lengths) >= sum(lengths) - max(lengths):
        with pytest.raises(UsageError, match="cannot close"):
            library.grashof(*lengths)
    else:
        assert library.grashof(*lengths) == _class_by_turning(*lengths)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ((1, 2, 2.2, 2.5), "crank-rocker"),
        ((2.2, 2, 1, 2.5), "rocker-crank"),
        ((2, 2.2, 2.5, 1), "double-crank"),
        ((2, 1, 2.2, 2.5), "double-rocker"),
        # adjacent moving links shorter than the other two: the rule of paper 003, section 5.4; they do not turn
        ((1, 2, 2.2, 4), "triple-rocker"),
        ((2, 2.5, 4, 1), "triple-rocker"),
    ],
)
def test_grashof_classes_of_chosen_lengths(lengths: tuple[float, ...], expected: str) -> None:
    assert library.grashof(*lengths) == expected
    assert _class_by_turning(*lengths) == expected


def test_counterexamples_to_paper_003_obey_its_rule_and_their_cranks_do_not_turn() -> None:
    for a, b, c, d in ((1, 2, 2.2, 4), (2, 2.5, 4, 1)):
        assert a + b < c + d
        assert not _turns(a, b, c, d)


@pytest.mark.parametrize("lengths", [(1, 2, 1, 2), (2, 2, 1, 1), (0.1, 0.2, 0.3, 0.2), (1, 1, 1, 1)])
def test_links_that_can_lie_on_one_line_are_at_a_change_point(lengths: tuple[float, ...]) -> None:
    assert library.grashof(*lengths) == "change-point"


@pytest.mark.parametrize("bad", [(1, 1, 1, 3), (1, 1, 1, 5), (0, 1, 1, 1), (-1, 2, 2, 2), ("one", 1, 1, 1)])
def test_lengths_that_make_no_loop_are_refused(bad: tuple[Any, ...]) -> None:
    with pytest.raises(UsageError):
        library.grashof(*bad)


@pytest.mark.parametrize("preset", ["crank-rocker", "pumpjack", "double-crank", "double-rocker", "triple-rocker"])
def test_preset_says_its_class_and_its_links_turn_or_swing_so(preset: str) -> None:
    model = library.four_bar(preset=preset, crank_rate=12.0)
    expected = "crank-rocker" if preset == "pumpjack" else preset
    lengths = [model.parameter_values[n] for n in "abcd"]
    assert model.description.endswith(f": {expected}.")
    assert _class_by_turning(*lengths) == expected
    run = pendula.simulate(pendula.compile_system(model), 6.0, tol=1e-8)
    assert run.outcome.ok
    turns = {n: np.ptp(run[n]) > 2 * np.pi for n in ("crank", "rocker")}
    assert turns == {"crank": expected in ("crank-rocker", "double-crank"), "rocker": expected == "double-crank"}


def test_pump_jack_is_drawn_and_weighed_as_beam_and_counterweight() -> None:
    """Parts added up by hand: an arm of 2 a with the coupler's mass at its far end, and a beam of 2 c."""
    model = library.four_bar(preset="pumpjack")
    p = model.parameter_values
    system = pendula.compile_system(model)
    a, b, c = p["a"], p["b"], p["c"]
    M = system.mass_matrix(system.initial_state().q)
    # crank about its pivot, plus the coupler's mass seen at its tip
    assert M[0, 0] == pytest.approx((2 * a) ** 3 / 12 + b * a**2 + b * a**2, rel=1e-12)
    assert M[2, 2] == pytest.approx((2 * c) ** 3 / 12, rel=1e-12)


# --- slider-crank -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "offset", "sign"),
    [("slider-crank", 0.0, 1), ("slider-crank: massless", 0.4, 1), ("slider-crank: left", -0.3, -1)],
)
def test_slider_is_where_the_closed_form_says_over_a_run(name: str, offset: float, sign: int) -> None:
    run = pendula.simulate(library_system(name), 4.0, tol=1e-9, samples=81)
    q, w = run["crank"], run["crank_dot"]
    rise = offset + np.cos(q)
    reach = np.sqrt(9 - rise**2)
    np.testing.assert_allclose(run["x"], np.sin(q) + sign * reach, atol=1e-11)
    speed = np.cos(q) * w + sign * rise * np.sin(q) * w / reach
    np.testing.assert_allclose(run["x_dot"], speed, atol=1e-9)


def test_stroke_of_the_slider_is_the_closed_form() -> None:
    system = pendula.compile_system(library.slider_crank(offset=0.5, crank_rate=10.0))
    run = pendula.simulate(system, 2.0, tol=1e-9, samples=20001)
    assert np.ptp(run["crank"]) > 4 * np.pi
    stroke = np.sqrt((3 + 1) ** 2 - 0.5**2) - np.sqrt((3 - 1) ** 2 - 0.5**2)
    assert np.ptp(run["x"]) == pytest.approx(stroke, abs=1e-5)


def test_slider_crank_accelerates_by_its_own_energy() -> None:
    """One freedom: T = I(q) w^2/2, so w' = -(I' w^2/2 + V')/I, with I and V from the closed form."""
    system = library_system("slider-crank")
    start = system.initial_state()
    q, w, g = start["crank"], start["crank_dot"], 9.81

    def rod_angle(s: float) -> float:
        return np.arctan2(np.sqrt(9 - np.cos(s) ** 2), -np.cos(s))

    def slope(f: Any, s: float, h: float = 1e-4) -> Any:
        """Central difference of order 4."""
        return (8 * (f(s + h) - f(s - h)) - (f(s + 2 * h) - f(s - 2 * h))) / (12 * h)

    def centre(s: float) -> Array:
        return _down(s) + 1.5 * _down(rod_angle(s))

    def inertia(s: float) -> float:
        slider = slope(lambda z: np.sin(z) + np.sqrt(9 - np.cos(z) ** 2), s)
        return 1 / 3 + 3 * np.sum(slope(centre, s) ** 2) + 3**3 / 12 * slope(rod_angle, s) ** 2 + slider**2

    def height(s: float) -> float:
        return -np.cos(s) / 2 + 3 * centre(s)[1]

    expected = -(slope(inertia, q) * w**2 / 2 + g * slope(height, q)) / inertia(q)
    assert system.accelerations(start.q, start.v)[0] == pytest.approx(expected, rel=1e-7)


# --- any number of bars -------------------------------------------------------------------------------


@pytest.mark.parametrize("bars", [4, 5, 8, 31])
def test_last_link_of_a_linkage_reaches_from_the_chain_to_the_pivot(bars: int) -> None:
    angles = np.linspace(0.3, 1.9, bars - 2)
    lengths = np.linspace(0.5, 1.2, bars - 2)
    pivot = np.array([0.4 * bars, 0.3])
    model = library.linkage(bars=bars, length=lengths.tolist(), start=angles.tolist(), pivot=pivot.tolist())
    gap = pivot - sum(l * _down(x) for l, x in zip(lengths, angles, strict=True))
    assert model.parameter_values["last"] == pytest.approx(np.hypot(*gap), rel=1e-13)
    start = pendula.compile_system(model).initial_state()
    np.testing.assert_allclose(_down(start[f"theta{bars - 1}"]), gap / np.hypot(*gap), atol=1e-12)
    # a list of masses is not given, so all links weigh the same
    assert model.bodies[-1].mass_properties().mass == model.bodies[0].mass_properties().mass


def test_last_link_after_a_list_of_masses_has_the_line_density_of_the_one_before() -> None:
    model = library.linkage(bars=4, mass=[1.0, 3.0], length=[1.0, 1.5], start=["30deg", "90deg"], pivot=[2.0, 1.0])
    system = pendula.compile_system(model)
    last = model.parameter_values["last"]
    M = system.mass_matrix(system.initial_state().q)
    assert M[2, 2] == pytest.approx(3.0 / 1.5 * last**3 / 3, rel=1e-12)


def test_thirty_one_bars_close_exactly_with_links_of_one_length_and_move() -> None:
    model = library.linkage(bars=31)
    assert len(model.bodies) == 30
    assert model.parameter_values["last"] == pytest.approx(1.0, abs=1e-12)
    # the links start along half a circle whose chords are 1 long
    span = np.hypot(model.parameter_values["x_arc"], model.parameter_values["y_arc"])
    assert span == pytest.approx(1 / np.sin(np.pi / 60), rel=1e-6)
    system = pendula.compile_system(model)
    start = system.initial_state()
    assert np.abs(system.gaps(start.q, start.v)[0]).max() < CLOSED
    run = pendula.simulate(system, 2.0, tol=1e-9)
    assert run.outcome.ok
    assert run.energy_drift < BALANCED
    assert run.constraint_violation < KEPT
    assert np.ptp(run.q, axis=0).min() > 0.1


@pytest.mark.parametrize("bars", slow_too([401], [1001]))
def test_very_long_linkage_closes(bars: int) -> None:
    values = library.linkage(bars=bars).parameter_values
    assert values["last"] == pytest.approx(1.0, abs=1e-9)


def test_both_branches_close_and_mirror_about_the_line_between_the_outer_joints() -> None:
    made = {b: library_system(f"linkage: given last{b}").initial_state() for b in ("", ", crossed")}
    one, two = made[""], made[", crossed"]
    assert one["theta1"] == two["theta1"]
    assert one["theta2"] == two["theta2"]
    p = library_system("linkage: given last").model.parameter_values
    tip = _down(one["theta1"]) + _down(one["theta2"])
    end = np.array([p["x_arc"], p["y_arc"]])
    along = (end - tip) / np.hypot(*(end - tip))
    elbows = [_down(s["theta3"]) for s in (one, two)]
    # same place along the line, opposite sides of it; left is open
    across = [along[0] * e[1] - along[1] * e[0] for e in elbows]
    assert elbows[0] @ along == pytest.approx(elbows[1] @ along, abs=1e-12)
    assert across[0] == pytest.approx(-across[1], abs=1e-12)
    assert across[0] > 0.1
    for state in (one, two):
        np.testing.assert_allclose(tip + _down(state["theta3"]) + 1.3 * _down(state["theta4"]), end, atol=1e-12)


def test_linkage_of_four_bars_is_the_four_bar() -> None:
    """Same lengths, masses and start, built by the other function: the cranks move alike."""
    bars = library.four_bar(crank_rate=0.0)
    chain = library.linkage(
        bars=4,
        mass=[1.0, 2.0],
        length=[1.0, 2.0],
        last_length=2.2,
        last_mass=2.2,
        pivot=[2.5, 0.0],
        start="60deg",
    )
    times = np.linspace(0, 3, 31)
    one, two = (pendula.simulate(pendula.compile_system(m), 3.0, tol=1e-10, samples=times) for m in (bars, chain))
    np.testing.assert_allclose(two["theta1"], one["crank"], atol=1e-7)
    np.testing.assert_allclose(two["theta2"], one["coupler"], atol=1e-7)


@pytest.mark.parametrize("name", ["driven-linkage", "driven-linkage: 5 bars"])
def test_end_of_a_driven_linkage_moves_as_equation_55_says(name: str) -> None:
    system = library_system(name)
    p = system.model.parameter_values
    run = pendula.simulate(system, 3.0, tol=1e-9, samples=31)
    links = len(system.model.bodies)
    lengths = [*[p["l"]] * (links - 1), p["last"]]
    end = sum(l * _down(run[f"theta{k + 1}"]) for k, l in enumerate(lengths))
    shift = 0.2 * np.cos(4.0 * run.t)
    phi = np.deg2rad(50) if links == 4 else 0.0
    np.testing.assert_allclose(end[0], p["X"] + shift * np.sin(phi), atol=1e-10)
    np.testing.assert_allclose(end[1], p["Y"] + shift * np.cos(phi), atol=1e-10)


@pytest.mark.parametrize(
    ("amplitude", "pivot"), [(19.8, (0.0, 0.0)), (4.0, (15.8, 0.0)), (0.5, (-3.0, 7.0)), (0.0, (0.0, 1e-3))]
)
def test_links_span_an_arc_up_to_a_given_end(amplitude: float, pivot: tuple[float, float]) -> None:
    """All 20 links have length 1, turn by equal angles, and are a chord of a circle: c = sin(20 a/2)/sin(a/2)."""
    model = library.driven_linkage(bars=21, pivot=pivot, amplitude=amplitude, direction="90deg")
    state = pendula.compile_system(model).in_joints.initial_state()
    angles = np.array([state[f"theta{k + 1}"] for k in range(20)])
    assert model.parameter_values["last"] == pytest.approx(1.0, abs=1e-7)
    turns = np.diff(angles)
    np.testing.assert_allclose(turns, turns[0], atol=1e-7)
    away = math.hypot(pivot[0] + amplitude, pivot[1])
    assert abs(math.sin(10 * turns[0]) / math.sin(turns[0] / 2)) == pytest.approx(away, abs=1e-6)
    end = np.sum(_down(angles), axis=1)
    np.testing.assert_allclose(end, [pivot[0] + amplitude, pivot[1]], atol=1e-6)


def test_the_stretched_linkage_of_its_help_is_stretched_to_its_limit() -> None:
    """Numbers as in the docstring: at the start the links reach 19.8 of their 20."""
    text = library.driven_linkage.__doc__ or ""
    assert "21 bars of length 1, a pivot of (15.8, 0), an amplitude of 4" in text
    run = pendula.simulate(library.driven_linkage(bars=21, pivot=(15.8, 0), amplitude=4.0, direction="90deg"), 1.0)
    assert run.ok
    assert run.position("link20", "tip")[0, 0] == pytest.approx(19.8, abs=1e-9)
    assert run.position("link20", "tip")[:, 0].min() == pytest.approx(11.8, abs=0.1)


def test_the_arc_takes_links_of_different_lengths_and_a_given_last_one() -> None:
    model = library.linkage(bars=6, length=[1.0, 2.0, 1.0, 0.5], pivot=(3.0, 1.0))
    assert model.parameter_values["last"] == pytest.approx(0.5, abs=1e-7)
    model = library.linkage(bars=6, pivot=(3.0, 1.0), last_length=2.0)
    state = pendula.compile_system(model).in_joints.initial_state()
    end = sum(l * _down(np.array([state[f"theta{k + 1}"]])) for k, l in enumerate([1.0] * 4 + [2.0]))
    np.testing.assert_allclose(end[:2, 0], [3.0, 1.0], atol=1e-9)


# --- arguments ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: library.four_bar(preset="parallel"), "preset is"),
        (lambda: library.four_bar(branch="up"), "branch is"),
        (lambda: library.four_bar(lengths=[1, 2, 3]), "4 values"),
        (lambda: library.four_bar(lengths=[1, 1, 1, 9]), "cannot close: the ground"),
        (lambda: library.four_bar(lengths=[1, 2, 2.2, 4], start="-90deg"), "cannot close at this start"),
        (lambda: library.four_bar(preset="pumpjack", lengths=[1, 2, 2.2, 4]), "both"),
        (lambda: library.slider_crank(offset=4), "cannot close at this start"),
        (lambda: library.slider_crank(slider_mass=-1), "negative"),
        (lambda: library.slider_crank(side="up"), "side is"),
        (lambda: library.linkage(bars=3), "from 4"),
        (lambda: library.linkage(bars=5.0), "whole number"),
        (lambda: library.linkage(bars=5, length=[1, 1]), "3 links"),
        (lambda: library.linkage(bars=5, start=[1, 1]), "3 links"),
        (lambda: library.linkage(bars=5, start=[1, 1, 1], last_length=1), "2 links"),
        (lambda: library.linkage(bars=5, last_length=9, pivot=[2, 1]), "cannot close at this start"),
        (lambda: library.linkage(bars=4, pivot=[1, 1], start=["90deg", "180deg"]), "no length is left"),
        (lambda: library.linkage(bars=4, pivot=[1]), "pivot"),
        (lambda: library.linkage(bars=4, branch="up"), "branch is"),
        (lambda: library.linkage(mass=None), "mass and length"),
        (lambda: library.driven_linkage(bars=True), "whole number"),
        (lambda: library.driven_linkage(pivot=(0, 0), amplitude=10.5), r"10\.5 from the first pivot, but the links"),
        (lambda: library.linkage(bars=5, pivot=[9, 1]), "are only 4 long together"),
        (lambda: library.driven_chain(mode=6), "from 1 to 5"),
        (lambda: library.driven_chain(links=0), "from 1"),
        (lambda: library.driven_chain(kind="wire"), "kind is"),
    ],
)
def test_bad_arguments_are_refused_in_words(make: Any, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        make()


# --- a loop in space that moves although it should not --------------------------------------------------


@pytest.mark.parametrize("engine", ["symbolic", "recursive"])
def test_bricards_trihedral_loop_moves_as_its_closure_says(engine: str) -> None:
    """Six equal links, axes of neighbours at right angles to each other in turn: no freedom by count, one in truth.

    Its angles alternate and obey c1 + c2 + c1 c2 = 0: R. Bricard 1927; Y. Chen, Z. You and T. Tarnai, Int. J. Solids
    Structures 42 (2005) 2287-2301.
    """
    first = 1.2
    second = math.acos(-math.cos(first) / (1 + math.cos(first)))
    twist = [90 if k % 2 == 0 else -90 for k in range(6)]

    def tip(k: int) -> dict[str, object]:
        return {
            "body": f"link {k}",
            "position": [1, 0, 0],
            "rotation": {"axis": [1, 0, 0], "angle": f"{twist[k - 1]}deg"},
        }

    inertia = {"mass": 1.0, "com": [0.5, 0, 0], "inertia": [0.02, 0.1, 0.1]}
    closing = {"body": "ground", "position": [-1, 0, 0], "rotation": {"axis": [1, 0, 0], "angle": f"{-twist[5]}deg"}}
    model = Model(
        name="Bricard's loop",
        gravity=[0, 0, -9.81],
        bodies=[{"name": f"link {k}", **inertia} for k in range(1, 6)],
        joints=[
            *(
                {"name": f"t{k}", "type": "revolute", "parent": tip(k - 1) if k > 1 else "ground", "child": f"link {k}"}
                for k in range(1, 6)
            ),
            {"name": "close", "type": "loop", "kind": "revolute", "parent": tip(5), "child": closing},
        ],
        initial={f"t{k}": first if k % 2 else second for k in range(1, 6)},
    )
    system = pendula.compile_system(model, engine=engine)
    found = pendula.mobility(system)
    assert (found.by_count, found.by_rank) == (0, 1)
    run = pendula.simulate(system, 5.0, tol=1e-9, samples=101)
    assert run.ok
    assert run.energy_drift < 1e-8
    c1, c2 = np.cos(run["t1"]), np.cos(run["t2"])
    np.testing.assert_allclose(c1 + c2 + c1 * c2, 0, atol=1e-12)
    np.testing.assert_allclose(run["t3"], run["t1"], atol=1e-9)
    np.testing.assert_allclose(run["t4"], run["t2"], atol=1e-9)
    assert np.ptp(run["t1"]) > 1.0
