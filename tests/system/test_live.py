"""The engine of live pages, run by node: equations, steps, energy account, loops, hands.

The tests need node (on Debian: ``apt install nodejs``) and are skipped where it is missing;
tests/present/test_live_page.py runs the same engine in Chromium.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import lru_cache

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.analysis.modes.motion import unit_direction
from pendula.errors import NotSupported
from pendula.present.live.content import live_content
from pendula.present.web import bundle
from pendula.system.live.program import write_live
from tests.helpers.choices import slow_too
from tests.helpers.leaning import leaning_four_bar
from tests.helpers.random_mechanisms import random_mechanism

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no node found")

ENGINE = "../../system/live/mechanism.js"
STEPPER = "../../system/live/stepper.js"
SOLVER = "../../system/live/solve.js"
QUICK = ("double-pendulum", "four-bar", "heavy-top", "driven-linkage", "foucault", "spring-mass-bar")
ROUNDING = 1e-12
AGREEMENT = 1e-8  # of the largest acceleration; two derivations, and loops close to 1e-10 only


def run_script(text, folder):
    """What a script prints, read as JSON."""
    path = folder / "engine.mjs"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([NODE, str(path)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@lru_cache(maxsize=16)
def content_of(model):
    """What the page of a mechanism holds, made once."""
    return live_content(model)


def run_engine(name, script, folder, *more):
    """The value of a script's `return`; it may use `mechanism`, `program` and `about` of a library mechanism."""
    content = content_of(name)
    head = f"const program = {content['program']};\nconst about = {json.dumps(content['record']['about'])};\n"
    body = (
        f"const mechanism = createMechanism(program, about);\nconsole.log(JSON.stringify((() => {{ {script} }})()));\n"
    )
    modules = bundle.modules_of(ENGINE) | {path: text for one in more for path, text in bundle.modules_of(one).items()}
    return run_script(bundle.join(modules) + head + body, folder)


@pytest.mark.parametrize("mechanism", slow_too(QUICK, sorted({*library.mechanisms()} - {*QUICK})))
def test_accelerations_are_those_of_lagrange(mechanism, tmp_path):
    """At states along a motion, which closed loops and quaternions satisfy; pages use Kane's equations."""
    run = pendula.simulate(mechanism, 1.0, tol=1e-10, samples=5)
    states = np.concatenate([run.q, run.v], axis=1).tolist()
    script = (
        f"return {json.dumps(states)}.map((values, k) => {{ mechanism.restore({json.dumps(run.t.tolist())}[k], values);"
        " return Array.from(mechanism.forces().accelerations); });"
    )
    found = np.array(run_engine(mechanism, script, tmp_path))
    other = pendula.compile_system(mechanism, "lagrange")
    expected = np.array([other.accelerations(q, v, t) for t, q, v in zip(run.t, run.q, run.v, strict=True)])
    assert np.max(np.abs(found - expected)) < AGREEMENT * np.max(np.abs(expected))


@pytest.mark.parametrize("seed", slow_too([2], range(3, 14)))
def test_random_mechanisms_move_as_the_library_simulates(seed, tmp_path):
    """Every joint and force of the model language, in trees and loops, in the plane and in space."""
    model = random_mechanism(seed)
    run = pendula.simulate(model, 0.3, tol=1e-11, samples=[0.0, 0.3])
    script = (
        "mechanism.advance(0.3, 1e-10); return [mechanism.time, Array.from(mechanism.values), mechanism.energyDrift];"
    )
    time, values, drift = run_engine(model, script, tmp_path)
    expected = np.concatenate([run.q[-1], run.v[-1]])
    assert time == 0.3
    assert values[:-1] == pytest.approx(expected, abs=1e-6 * max(1.0, np.abs(expected).max()))
    assert drift < 1e-8


def test_feedback_laws_of_a_model_act_in_its_page(tmp_path):
    model = library.cart_pole().with_changes(inputs={"F": "-3*x - 2*x_dot"}, initial={"x": 1.0, "theta": 0.3})
    run = pendula.simulate(library.cart_pole(), 0.5, tol=1e-11, inputs=dict(model.inputs), initial_state=model.initial)
    values, drift = run_engine(
        model, "mechanism.advance(0.5, 1e-10); return [Array.from(mechanism.values), mechanism.energyDrift];", tmp_path
    )
    assert values[:-1] == pytest.approx(np.concatenate([run.q[-1], run.v[-1]]), abs=1e-7)
    assert drift < 1e-8
    write_live(model)  # alone, too


def test_inputs_that_are_expressions_of_parameters_follow_these(tmp_path):
    model = library.cart_pole().with_changes(inputs={"F": "2*g"}, initial={"x": 0.0, "theta": 0.3})
    values = run_engine(
        model,
        'mechanism.set("g", 5.0); mechanism.advance(0.5, 1e-10); return Array.from(mechanism.values);',
        tmp_path,
    )
    run = pendula.simulate(model, 0.5, tol=1e-11, parameters={"g": 5.0})
    assert values[:-1] == pytest.approx(np.concatenate([run.q[-1], run.v[-1]]), abs=1e-7)


@pytest.mark.parametrize("massless", [False, True])
def test_what_rounding_leaves_of_redundant_rows_is_no_constraint(massless, tmp_path):
    """Five rows, two independent: a third that is theirs up to a gap of 1e-5, one of rounding, and one that is zero."""
    n, rng = 4, np.random.default_rng(3)
    root = rng.normal(size=(n, n))
    M, f, G, c = root @ root.T + np.eye(n), rng.normal(size=n), rng.normal(size=(2, n)), rng.normal(size=2)
    if massless:  # along the first speed, which only the rows hold
        M[0], M[:, 0] = 0.0, 0.0
    kkt = np.block([[M, -G.T], [G, np.zeros((2, 2))]])
    expected = np.linalg.solve(kkt, [*f, *c])[:n]
    off, gap = rng.normal(size=(2, n)), 1e-5
    rows = np.vstack([1e-16 * off[0], G[0], np.zeros(n), 2 * G[0] - G[1] + gap * off[1], G[1]])
    right = np.array([1e-15, c[0], 0.0, 2 * c[0] - c[1] + gap, c[1]])
    text = bundle.script(SOLVER) + (
        "const a = new Float64Array(4), lam = new Float64Array(5), at = x => Float64Array.from(x.flat());"
        f"const done = makeSolver(4, 5, 2, 1)(at({M.tolist()}), at({f.tolist()}), at({rows.tolist()}), at({right.tolist()}), a, lam);"
        "console.log(JSON.stringify([done, Array.from(a), Array.from(lam)]));\n"
    )
    done, a, lam = run_script(text, tmp_path)
    assert done
    assert a == pytest.approx(expected, abs=20 * gap)  # by least squares: off by the gap, not by what it leaves of c
    assert M @ a == pytest.approx(f + rows.T @ lam, abs=20 * gap)


def test_a_four_bar_with_a_hinge_for_its_last_pin_moves_in_a_page_wherever_it_lies(tmp_path):
    """As the four-bar in the plane does, which has two rows; three more are left to rounding."""
    run = pendula.simulate("four-bar", 1.0, tol=1e-11, samples=2)
    script = "mechanism.advance(1, 1e-10); return [mechanism.state, mechanism.energyDrift];"
    state, drift = run_engine(leaning_four_bar(), script, tmp_path)
    for name in ("crank", "rocker", "crank_dot", "rocker_dot"):
        assert state[name] == pytest.approx(run[name][-1], abs=1e-7)
    assert drift < 1e-8


def test_the_pair_of_dormand_and_prince_satisfies_its_order_conditions(tmp_path):
    """Quadrature conditions up to order 5 and those of trees of height 2; the error weights see order 4 only."""
    text = bundle.script(STEPPER) + "console.log(JSON.stringify([STAGES, TIMES, ERRORS]));\n"
    stages, times, errors = run_script(text, tmp_path)
    a, c = np.zeros((7, 7)), np.array([0.0, *times])
    for k, row in enumerate(stages):
        a[k + 1, : len(row)] = row
    b = a[6]  # the last stage is the step itself
    assert a.sum(axis=1) == pytest.approx(c, abs=ROUNDING)
    for k in range(5):
        assert b @ c**k == pytest.approx(1 / (k + 1), abs=ROUNDING)
        assert np.array(errors) @ c**k == pytest.approx(0, abs=ROUNDING) or k == 4
    assert b @ a @ c == pytest.approx(1 / 6, abs=ROUNDING)
    assert b @ a @ a @ c == pytest.approx(1 / 24, abs=ROUNDING)
    assert b @ (c * (a @ c)) == pytest.approx(1 / 8, abs=ROUNDING)
    assert b @ a @ c**2 == pytest.approx(1 / 12, abs=ROUNDING)
    assert b @ a @ a @ a @ c == pytest.approx(1 / 120, abs=ROUNDING)
    assert abs(np.array(errors) @ c**4) > 1e-4


def test_larger_tolerances_cost_fewer_evaluations_and_more_error(tmp_path):
    """The error is proportional to the tolerance, within a factor."""
    script = (
        "return [1e-6, 1e-8, 1e-10, 1e-12].map(tolerance => { mechanism.start(); const before = mechanism.evaluations;"
        " mechanism.advance(2, tolerance); return [mechanism.values[0], mechanism.evaluations - before]; });"
    )
    found = run_engine("double-physical-pendulum", script, tmp_path)
    values, counts = zip(*found, strict=True)
    errors = [abs(value - values[-1]) for value in values[:-1]]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert list(counts) == sorted(counts)


@pytest.mark.parametrize("mechanism", slow_too(["four-bar", "heavy-top"], ["driven-chain", "foucault"]))
def test_forces_on_points_do_the_work_of_their_power(mechanism, tmp_path):
    """w . (pose rates at v - those at rest) = (generalized forces of w) . v, for random weights, speeds and poses."""
    script = """
      let seed = 1; const random = () => { seed = (seed * 16807) % 2147483647; return seed / 1073741823.5 - 1; };
      const { coordinates: nq, speeds: nv, bodies } = about.sizes, x = new Float64Array(1 + nq + nv + 12 * bodies).map(random);
      const at = v => { const y = x.slice(0, 1 + nq + nv); y.set(v, 1 + nq); const out = new Float64Array(12 * bodies);
        program.pose_rates(y, mechanism.p, out); return out; };
      const v = x.slice(1 + nq, 1 + nq + nv), moved = at(v), still = at(v.map(() => 0)), forces = new Float64Array(nv);
      program.pushes(x, mechanism.p, forces);
      let power = 0, size = 0;
      for (let k = 0; k < 12 * bodies; k++) { const part = x[1 + nq + nv + k] * (moved[k] - still[k]); power += part; size += Math.abs(part); }
      return [power, forces.reduce((sum, f, j) => sum + f * v[j], 0), size];
    """
    power, found, size = run_engine(mechanism, script, tmp_path)
    assert found == pytest.approx(power, abs=ROUNDING * size)
    assert abs(power) > 1e-3


@pytest.mark.parametrize(
    ("mechanism", "body"),
    [
        ("double-pendulum", 1),
        ("four-bar", 1),
        ("heavy-top", 0),
        pytest.param("driven-chain", 9, marks=pytest.mark.slow),
    ],
)
def test_the_work_of_a_hand_is_part_of_the_energy_account(mechanism, body, tmp_path):
    script = f"""
      const at = [0.01, -0.05, 0.02], from = mechanism.point({body}, at), before = mechanism.energy().total;
      mechanism.pull({{ body: {body}, at, to: from.map((value, d) => value + [0.3, 0.2, 0][d] * about.length) }}, 8);
      for (let k = 1; k <= 20; k++) mechanism.advance(k / 20, 1e-9);
      return [mechanism.energyDrift, mechanism.energy().total - before, mechanism.energy().work, about.energy, mechanism.largestGap()];
    """
    drift, gained, work, energy, gap = run_engine(mechanism, script, tmp_path)
    assert drift < 1e-6
    assert gained == pytest.approx(work, abs=1e-5 * energy)
    assert abs(work) > 1e-4 * energy
    assert gap < 1e-9


def test_a_body_is_brought_to_a_place_that_it_can_reach(tmp_path):
    """The end of a chain of three to a point at two thirds of its length; then to one that is too far."""
    script = """
      const near = mechanism.bring(2, [0, -1, 0], [1.2, -1.6, 0]), there = mechanism.point(2, [0, -1, 0]);
      const far = mechanism.bring(2, [0, -1, 0], [4, -3, 0]);
      return [near, there, far, Array.from(mechanism.values.subarray(3, 6))];
    """
    model = library.chain(links=3, length=1.0)
    near, there, far, speeds = run_engine(model, script, tmp_path)
    assert near < 1e-6
    assert there == pytest.approx([1.2, -1.6, 0.0], abs=1e-6)
    assert far == pytest.approx(5 - 3, abs=0.02)  # stretched towards it
    assert speeds == [0, 0, 0]


def test_a_coupler_is_brought_along_its_curve_with_the_loop_closed(tmp_path):
    """To where the same point is in another pose of the linkage."""
    run = pendula.simulate("four-bar", 0.3, tol=1e-10, samples=[0.0, 0.3])
    later = np.concatenate([run.q[-1], run.v[-1]]).tolist()
    script = f"""
      mechanism.restore(0.3, {json.dumps(later)});
      const there = mechanism.point(1, [0, -1, 0]);
      mechanism.start();
      const left = mechanism.bring(1, [0, -1, 0], there);
      return [left, mechanism.largestGap(), Array.from(mechanism.values.subarray(0, 3))];
    """
    left, gap, pose = run_engine("four-bar", script, tmp_path)
    assert left < 1e-6
    assert gap < 1e-12
    assert pose == pytest.approx(run.q[-1], abs=1e-5)


def test_states_and_parameters_are_put_back_exactly(tmp_path):
    script = """
      mechanism.advance(0.4, 1e-8);
      const kept = Array.from(mechanism.values), time = mechanism.time;
      mechanism.set("b", 2.01);
      mechanism.advance(0.9, 1e-8);
      const done = mechanism.restore(time, kept, { b: 2 });
      const same = kept.slice(0, 6).every((value, k) => value === mechanism.values[k]);
      return [done, same, mechanism.time === time, mechanism.get("b"), mechanism.restore(0, kept.map(() => NaN)), mechanism.time === time];
    """
    assert run_engine("four-bar", script, tmp_path) == [True, True, True, 2, False, True]


def test_a_parameter_moves_the_pose_so_that_loops_close_or_is_refused(tmp_path):
    script = """
      const first = mechanism.set("b", 2.2), gap = mechanism.largestGap(), before = Array.from(mechanism.values);
      const second = mechanism.set("b", 40);
      return [first, gap, second, mechanism.get("b"), before.every((value, k) => value === mechanism.values[k])];
    """
    first, gap, second, value, same = run_engine("four-bar", script, tmp_path)
    assert (first, second, value, same) == (True, False, 2.2, True)
    assert gap < 1e-12


SECTION = """
const listeners = {}, values = new Float64Array(2), mechanism = { time: 0, values };
const toy = { mechanism, count: 2, on: (event, act) => { listeners[event] = act; }, record: { about: {
  names: { coordinates: ["angle"], speeds: ["rate"], kinds: ["angle"] }, sizes: { coordinates: 1 } } } };
const section = createSection(toy);
const turn = until => { for (; mechanism.time < until; ) { mechanism.time += 0.01; values[0] = 3 * mechanism.time; values[1] = Math.cos(mechanism.time);
  listeners.moved(); } };
listeners.jumped();
section.rule.by = 0; section.rule.level = 1;
turn(10);
const crossings = section.points.map(p => p[0]);
section.clear(); section.rule.by = "period"; section.rule.period = 0.7;
turn(20);
console.log(JSON.stringify([crossings, section.points.map(p => p[0])]));
"""


def test_a_section_keeps_the_states_at_its_instants(tmp_path):
    """An angle that grows steadily passes 1, modulo whole turns, every 2 pi; a strobe meets it every period."""
    crossings, strobe = run_script(bundle.script("live/history.js") + SECTION, tmp_path)
    assert crossings == pytest.approx(1 + 2 * np.pi * np.arange(len(crossings)), abs=1e-9)
    assert len(crossings) == int((30 - 1) / (2 * np.pi)) + 1
    assert strobe == pytest.approx(3 * 0.7 * np.arange(15, 15 + len(strobe)), abs=1e-9)
    assert len(strobe) == 14


LOOP = """
const listeners = {}, told = [];
const toy = { playing: true, speed: 2, on: (event, act) => { listeners[event] = act; }, tell: text => told.push(text),
  run: by => { asked.push(by); return by * share; } };
const asked = [];
let share = 1, now = 1000, next = null;
globalThis.requestAnimationFrame = act => { next = act; };
globalThis.performance = { now: () => now };
const loop = createLoop(toy, () => {});
const frames = (count, gap) => { for (let k = 0; k < count; k++) { now += gap; const act = next; next = null; act(now); } };
listeners.mode();
frames(100, 20);
const whole = loop.pace, quiet = told.filter(Boolean).length;
share = 0.5;
frames(300, 20);
const half = loop.pace, words = told.at(-1);
share = 1;
frames(400, 20);
const again = [loop.pace, told.at(-1)];
frames(1, 30000);
console.log(JSON.stringify({ whole, quiet, half, words, again, first: asked[5], away: asked.at(-1) }));
"""


def test_time_slows_and_the_page_says_so(tmp_path):
    """Frames of 20 ms at speed 2; a mechanism that manages half of it; then a page that was in the background."""
    found = run_script(bundle.script("live/loop.js") + LOOP, tmp_path)
    assert found["first"] == pytest.approx(0.04)
    assert (found["whole"], found["quiet"]) == (1, 0)
    assert found["half"] == pytest.approx(0.5, abs=0.01)
    assert "slowed to 50 %" in found["words"]
    assert found["again"][0] > 0.95
    assert found["again"][1] == ""
    assert found["away"] <= 0.2  # the time in the background is not made up for


MODES = {
    "chain": (lambda: library.chain(links=3), {"l": 0.7}),
    "double-pendulum": (library.double_pendulum, {"k1": 400.0, "c1": 12.0, "c2": 2.0}),
    "double-physical-pendulum": (library.double_physical_pendulum, {"l1": 1.1, "g": 4.0}),
    "four-bar": (library.four_bar, {"b": 2.1, "g": 5.0}),
    "slider-crank": (library.slider_crank, {"g": 20.0}),
    "linkage": (library.linkage, {"g": 3.0}),
    "spring-mass-bar": (library.spring_mass_bar, {"k": 100.0}),
    "cart-pole": (library.cart_pole, {"l": 2.0}),
    "gyro-pendulum": (library.gyro_pendulum, {"g": 7.0}),
    "damped chain": (lambda: library.chain(links=10, damping=0.3), {"l": 0.8, "c": 0.5}),
}
QUICK_MODES = ("double-pendulum", "four-bar", "gyro-pendulum")


@pytest.mark.parametrize("mechanism", slow_too(QUICK_MODES, sorted({*MODES} - {*QUICK_MODES})))
def test_modes_at_changed_parameters_are_those_of_the_library(mechanism, tmp_path):
    """Equilibrium, damped and undamped frequencies, damping ratios and starts: from differences of forces in the page,
    and from exact derivatives in the library."""
    make, changed = MODES[mechanism]
    model = make()
    near = content_of(model)["record"]["modes"]["q"]
    script = (
        f"for (const [name, value] of Object.entries({json.dumps(changed)})) mechanism.set(name, value);"
        f"return findModes(program, about, mechanism.p, {json.dumps(near)});"
    )
    found = run_engine(model, script, tmp_path, "../../system/live/modes.js")
    system = pendula.compile_system(model.with_parameters(changed))
    rest = pendula.equilibria.equilibrium_at(system, dict(zip(system.layout.coordinates, found["q"], strict=True)))
    library_modes = pendula.modes(system, rest, damped=True)
    modes = [mode for mode in library_modes if mode.frequency]
    listed = found["listed"]
    assert found["q"] == pytest.approx(rest.q, abs=1e-7)
    assert [mode["omega"] for mode in listed] == pytest.approx([m.frequency for m in modes], rel=1e-6)
    assert [mode["damped"] for mode in listed] == pytest.approx([m.damped_frequency for m in modes], rel=1e-6)
    assert [mode["ratio"] for mode in listed] == pytest.approx([m.damping_ratio for m in modes], abs=1e-6)
    linear = library_modes.linear
    for mode, exact in zip(listed, modes, strict=True):
        direction, _ = unit_direction(linear, exact.scaled)
        assert mode["q"] == pytest.approx(np.real(linear.N @ (linear.Z @ direction)), abs=1e-5)
        speeds = np.real(linear.Z @ (direction * exact.eigenvalue))
        assert mode["v"] == pytest.approx(speeds, abs=1e-5 * exact.frequency)


def test_equations_too_long_for_a_browser_are_refused_with_the_number_that_would_do():
    """The number is right: that many bodies are written, one fourth more are not."""
    with pytest.raises(NotSupported, match=r"about (\d+) bodies of this kind would be few enough") as refused:
        write_live(library.spatial_chain(links=12), wrenches=False)
    count = int(re.search(r"about (\d+) bodies", str(refused.value))[1])
    assert 6 < count < 12
    assert write_live(library.spatial_chain(links=count), wrenches=False).sizes["bodies"] == count
    with pytest.raises(NotSupported):
        write_live(library.spatial_chain(links=count + 2), wrenches=False)


EIGENVALUES = """
let seed = 7; const random = () => { seed = (seed * 16807) % 2147483647; return seed / 1073741823.5 - 1; };
console.log(JSON.stringify([1, 2, 5, 12, 30].map(n => {
  const A = Array.from({ length: n }, () => Array.from({ length: n }, random)), kept = A.map(row => row.slice());
  return [kept, eigenvaluesOf(A).map(({ re, im }) => [re, im])];
})));
"""


def test_eigenvalues_of_real_matrices_are_those_of_lapack(tmp_path):
    for matrix, found in run_script(bundle.script("../../system/live/eigen.js") + EIGENVALUES, tmp_path):
        expected = np.linalg.eigvals(np.array(matrix))
        left = [complex(*pair) for pair in found]
        assert len(left) == len(expected)
        for value in expected:
            nearest = min(left, key=lambda other: abs(other - value))
            assert abs(nearest - value) < 1e-10 * max(1.0, abs(value))
            left.remove(nearest)
