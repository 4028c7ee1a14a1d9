"""Mechanisms of paper 001 (Kamman, unit 8), exercises 8.1 to 8.5: their equations of motion as printed, at random states.

The equations are right as printed; its errata concern numbers and verdicts.
"""

from __future__ import annotations

import numpy as np
import pytest

import pendula
from pendula import Model, library
from pendula.system.parameters import parameter_vector

EXACT = 1e-11
"""Relative: the same equations written down by hand."""
G = 32.2


def _left(model: Model, equations, inputs=None, count=40, seed=4):
    """What our accelerations leave of equations written by hand, relative to the largest term, at random states."""
    system = pendula.compile_system(model)
    p = dict(zip(system.layout.parameters, system.parameters.tolist(), strict=True))
    rng = np.random.default_rng(seed)
    n = len(system.layout.speeds)
    q, v = rng.uniform(-3, 3, size=(count, n)), rng.normal(size=(count, n)) * 3
    a = system.accelerations(q, v, inputs=inputs)
    rows = equations(p, q.T, v.T, a.T)
    return max(float(np.abs(sum(terms)).max() / max(np.abs(t).max() for t in terms)) for terms in rows)


def _piston(F):
    def rows(p, q, v, a):
        (x,), (w,), (e,) = q, v, a
        m, mp, l, k, c = (p[n] for n in ("m", "m_p", "l", "k", "c"))
        s, co = np.sin(x), np.cos(x)
        return [
            [
                (m * l**2 / 3 + mp * l**2 * s**2) * e,
                mp * l**2 * s * co * w**2,
                c * l**2 * co**2 * w,
                k * l**2 * s * co,
                -(mp * G + m * G / 2 + F) * l * s,
            ]
        ]

    return rows


@pytest.mark.parametrize("F", [None, -7.0])
def test_8_1_bar_with_piston(F):
    assert _left(library.piston_bar(), _piston(40.0 if F is None else F), None if F is None else [F]) < EXACT


def test_8_1_is_a_loop_with_a_massless_slider():
    """The same mechanism with all its parts: piston and slider on rails, the bar pinned to both."""
    one = library.piston_bar()
    parts = Model(
        name="with all parts",
        units="ft-slug-s",
        gravity=[0, "-g", 0],
        parameters=one.parameters,
        inputs=one.inputs,
        bodies=[
            {"name": "piston", "mass": "m_p"},
            {"name": "bar", "rod": {"mass": "m", "length": "l"}},
            {"name": "slider", "mass": 0},
        ],
        joints=[
            {"name": "y", "type": "prismatic", "axis": [0, 1, 0], "parent": "ground", "child": "piston"},
            {"name": "theta", "type": "revolute", "parent": "piston", "child": "bar"},
            {"name": "x", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "slider"},
            {"name": "pin", "type": "coincident", "parent": "slider", "child": {"body": "bar", "at": "tip"}},
        ],
        forces=[
            {"type": "spring", "joint": "x", "stiffness": "k", "damping": "c"},
            {"type": "generalized", "coordinate": "y", "value": "-F"},
        ],
        initial={"theta": 0.4, "y": "l*cos(0.4)", "x": "l*sin(0.4)"},
    )
    loop, simple = pendula.compile_system(parts), pendula.compile_system(one)
    for angle, rate in ((0.3, 1.0), (1.2, -2.0), (-0.8, 0.5)):
        state = {"theta": angle, "y": 2 * np.cos(angle), "x": 2 * np.sin(angle), "theta_dot": rate}
        closed = pendula.assemble(loop, state, keep=("theta", "theta_dot")).state
        there = loop.accelerations(closed.q, closed.v)[loop.layout.speeds.index("theta_dot")]
        assert there == pytest.approx(float(simple.accelerations([angle], [rate])[0]), rel=1e-9)


def test_8_2_mass_on_a_spring_with_a_bar():
    def rows(p, q, v, a):
        (x, th), (xd, w), (xdd, e) = q, v, a
        m1, m2, l, k = (p[n] for n in ("m1", "m2", "l", "k"))
        s, c = np.sin(th), np.cos(th)
        return [
            [(m1 + m2) * xdd, m2 * l / 2 * c * e, -m2 * l / 2 * s * w**2, 0.7 * xd, k * x, -5.0 + 0 * x],
            [m2 * l**2 / 3 * e, m2 * l / 2 * c * xdd, m2 * G * l / 2 * s],
        ]

    model = library.spring_mass_bar()
    model = model.with_changes(parameters={**model.parameters, "c": 0.7})
    assert _left(model, rows, [5.0]) < EXACT


def test_8_2_is_driven_by_its_sine():
    model = library.spring_mass_bar()
    system = pendula.compile_system(model)
    driven = parameter_vector(system, {"F0": 3.0, "omega": 2.0})
    assert system.inputs.at(0.4, driven) == pytest.approx([3.0 * np.sin(0.8)])


def test_8_2_frequencies_and_shapes_as_printed():
    """4.89 and 29.44 rad/s; shapes 1 : 77.8 and 1 : -0.7715."""
    system = pendula.compile_system(library.spring_mass_bar())
    values, shapes = np.linalg.eig(-system.acceleration_jacobian("q", np.zeros(2), np.zeros(2)))
    order = np.argsort(values)
    assert np.sqrt(values[order]) == pytest.approx([4.89, 29.44], abs=0.005)
    assert (shapes[1] / shapes[0])[order] == pytest.approx([77.8, -0.7715], rel=1e-3)


def _turning(shaft):
    def rows(p, q, v, a):
        (_, th), (W, w), (Wd, e) = q, v, a
        s, c, m, l = np.sin(th), np.cos(th), p["m"], p["l"]
        if shaft:
            return [
                [(p["m_s"] * p["r"] ** 2 / 2 + m * l**2 / 12 * s**2) * Wd, m * l**2 / 6 * s * c * w * W, -2.0 + 0 * W],
                [m * l**2 / 12 * e, -m * l**2 / 12 * s * c * W**2, -0.3 + 0 * W],
            ]
        b = p["b"]
        inertia = p["m_d"] * p["R"] ** 2 / 2 + m * (b + l / 2 * s) ** 2 + m * l**2 / 12 * s**2
        return [
            [inertia * Wd, (m * b * l * c + 2 / 3 * m * l**2 * s * c) * w * W, -2.0 + 0 * W],
            [
                m * l**2 / 3 * e,
                -(m * b * l / 2 * c + m * l**2 / 3 * s * c) * W**2,
                p["c"] * w,
                p["k"] * th,
                m * G * l / 2 * s,
                -0.3 + 0 * W,
            ],
        ]

    return rows


def test_8_3_shaft_with_pinned_bar():
    assert _left(library.shaft_bar(turn="free"), _turning(True), [2.0, 0.3]) < EXACT


@pytest.mark.parametrize("b", [0.0, 0.6])
def test_8_4_disc_with_bar_and_spring(b):
    model = library.disc_bar(turn="free")
    model = model.with_changes(parameters={**model.parameters, "b": b})
    assert _left(model, _turning(False), [2.0, 0.3]) < EXACT


@pytest.mark.parametrize("make", [library.shaft_bar, library.disc_bar])
def test_steady_turning_is_free_turning_at_a_constant_rate(make):
    steady, free = (pendula.compile_system(make(turn=turn)) for turn in ("steady", "free"))
    for angle in (-2.0, 0.4, 1.3):
        held = steady.forces([angle], [0.7])
        assert held[0] == pytest.approx(free.forces([0.0, angle], [4 * np.pi, 0.7])[1], rel=1e-12)


def test_8_5_is_the_double_pendulum_with_gravity_turned_round():
    hanging, standing = (
        pendula.compile_system(m()) for m in (library.double_pendulum, library.inverted_double_pendulum)
    )
    turned = library.double_pendulum().with_changes(gravity=[0, "g", 0])
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-3, 3, size=(20, 2)), rng.normal(size=(20, 2))
    a = standing.accelerations(q, v)
    assert np.allclose(a, pendula.compile_system(turned).accelerations(q, v), rtol=1e-11, atol=1e-9)
    assert np.abs(a - hanging.accelerations(q, v)).max() > 1.0


@pytest.mark.parametrize(
    ("k1", "k2", "printed"),
    [
        (1000.0, 300.0, [-11.506 + 93.330j, -11.506 - 93.330j, -0.914116 + 20.855j, -0.914116 - 20.855j]),
        (100.0, 5.0, [-11.413 + 12.170j, -11.413 - 12.170j, -2.4939, 0.48008]),
    ],
)
def test_8_5_eigenvalues_as_printed(k1, k2, printed):
    system = pendula.compile_system(library.inverted_double_pendulum())
    rest, p = np.zeros(2), parameter_vector(system, {"k1": k1, "k2": k2})
    K, C = (system.acceleration_jacobian(x, rest, rest, parameters=p) for x in "qv")
    found = np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [K, C]]))
    for root in printed:
        assert np.abs(found - root).min() < 6e-4 * max(1.0, abs(root) / 100)
