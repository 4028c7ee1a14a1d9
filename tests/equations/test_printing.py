"""Printed equations are the equations: every format is read back and compared with the compiled system."""

from __future__ import annotations

import ctypes
import json
import math
import re
import shutil
import subprocess
import time

import numpy as np
import pytest
import sympy
from sympy.printing.latex import LatexPrinter

import pendula
from pendula.equations.formulations.registry import formulations
from pendula.equations.printing.counts import count
from pendula.equations.printing.form import Form, count_printed
from pendula.equations.printing.formats import code, print_equations
from pendula.equations.printing.latex import LATEX, latex_name
from pendula.equations.printing.names import block_names
from pendula.equations.printing.walk import Writer
from pendula.library import mechanisms
from pendula.system.loops.sampling import random_states
from tests.helpers.choices import in_turn, slow_too

ROUNDING = 1e-11  # same arithmetic in another order, at states that are not near a singular chart
NAMES = sorted(mechanisms())
FORMULATIONS = tuple(formulations())

PIECEWISE = pendula.Model(
    name="pulled and stopped",
    gravity=[0, "-g", 0],
    parameters={"g": 9.81, "k": 3, "w": 2},
    inputs={"F": 0.5},
    bodies=[{"name": "cart", "box": {"mass": 2, "size": [1, 1, 1]}}, {"name": "pole", "rod": {"mass": 1, "length": 1}}],
    joints=[
        {
            "name": "x",
            "type": "prismatic",
            "parent": {"body": "ground", "position": ["0.1*cos(w*t) if t < pi/w else -0.1", 0]},
            "child": "cart",
        },
        {"name": "theta", "type": "revolute", "parent": "cart", "child": "pole"},
    ],
    forces=[
        {
            "type": "generalized",
            "coordinate": "x",
            "value": "F - k*abs(x)*x + min(x, 0.3, theta) - atan2(x, 2) if x < 1 and t > 0.2 or not x > 0 else exp(-x)",
        },
        {
            "type": "generalized",
            "coordinate": "theta",
            "value": "sign(theta)*sqrt(1 + theta**2) + floor(theta) + theta_dot**3/7 - 2**theta",
        },
        {
            "type": "spring",
            "from": {"body": "ground", "position": [0, 2]},
            "to": {"body": "pole", "at": "tip"},
            "stiffness": "k",
            "length": 1,
        },
    ],
)


CLASHING = pendula.Model(
    name="symbols of all blocks",
    gravity=[0, "-gamma", 0],
    parameters={"gamma": 9.81, "M": 3, "Mass": 2, "f": 1, "lam": 1, "h": 0.5, "q": 1, "p": 1, "y": 1, "u": 1, "c": 0.1},
    inputs={"tau": "f*sin(q*t)"},
    bodies=[
        {"name": "cart", "box": {"mass": "M", "size": [1, 1, 1]}},
        {"name": "pole", "rod": {"mass": "Mass", "length": "lam"}},
    ],
    joints=[
        {"name": "v", "type": "prismatic", "parent": "ground", "child": "cart"},
        {"name": "t1", "type": "revolute", "parent": "cart", "child": "pole"},
    ],
    forces=[
        {"type": "generalized", "coordinate": "v", "value": "tau - p*y*u*v - h*v_dot"},
        {"type": "generalized", "coordinate": "t1", "value": "-c*t1_dot"},
    ],
)

THOROUGH = ("four-bar",)
"""printed by every formulation in every run of the tests, the others by one"""
PAIRS = in_turn((*NAMES, "piecewise"), FORMULATIONS, whole=THOROUGH)
EVERY_DAY = {*NAMES[::4], *THOROUGH, "hoop-bead", "free-body", "piecewise"}
"""programs of these are generated and run in every run of the tests, of the others by all tests"""
CASES = [
    pytest.param(p.values, marks=p.marks if p.values[0] in EVERY_DAY else pytest.mark.slow, id=p.id) for p in PAIRS
]


@pytest.fixture(scope="module", params=CASES)
def case(request):
    name, formulation = request.param
    model = PIECEWISE if name == "piecewise" else mechanisms()[name].make()
    system = pendula.compile_system(model, formulation)
    t, q, v = random_states(system.in_joints.system, 4, seed=3)
    q, v = system.in_joints.place(q, v, t)
    u = np.array([0.3] * len(system.layout.inputs))
    return system, t, q, v, u


def _expected(system, t, q, v, u):
    M = system.mass_matrix(q, t)
    f = system.forces(q, v, t, inputs=u)
    return M, f, system.rates(q, v, t), system.constraint_jacobian(q, t)


def _close(found, expected):
    expected = np.asarray(expected)
    scale = np.abs(expected).max(initial=0.0) + 1e-12
    assert np.abs(np.asarray(found).reshape(expected.shape) - expected).max(initial=0.0) <= ROUNDING * scale


def test_python_source_gives_the_same_terms(case):
    system, t, q, v, u = case
    namespace: dict = {}
    exec(print_equations(system.equations, "python"), namespace)
    for k in range(len(t)):
        M, f, qdot, G, c = namespace["dynamics"](t[k], q[k], v[k], u, system.parameters)
        expected = _expected(system, t[k], q[k], v[k], u)
        for found, value in zip((M, f, qdot, G), expected, strict=True):
            _close(found, value)
        _close(_accelerations(M, f, G, c), system.accelerations(q[k], v[k], t[k], inputs=u))


RHS = 1e-10  # another solver of the same linear system, whose condition costs some digits


def _close_rhs(found, system, t, q, v, **given):
    expected = np.concatenate([system.rates(q, v, t), system.accelerations(q, v, t, **given)])
    assert np.abs(np.asarray(found) - expected).max() <= RHS * np.abs(expected).max()


def test_python_right_hand_side_gives_our_accelerations(case):
    system, t, q, v, u = case
    namespace: dict = {}
    exec(print_equations(system.equations, "python"), namespace)
    for k in range(len(t)):
        y = np.concatenate([q[k], v[k]])
        _close_rhs(namespace["rhs"](t[k], y), system, t[k], q[k], v[k])
        _close_rhs(namespace["rhs"](t[k], y, u=u), system, t[k], q[k], v[k], inputs=u)


def test_python_right_hand_side_takes_parameters_by_name_and_computes_those_that_depend_on_them():
    """The bars of paper 001 are given by their weight: m = 5/g."""
    model = mechanisms()["double-pendulum"].make()
    namespace: dict = {}
    exec(print_equations(pendula.derive(model), "python"), namespace)
    y = np.array([0.3, -0.2, 0.1, 0.4])
    changed = {"g": 30.0, "l": 1.5}
    assert "m" not in namespace["PARAMETERS"]
    found = namespace["rhs"](0.0, y, changed)
    system = pendula.compile_system(model.with_changes(parameters={**model.parameters, **changed}))
    expected = system.accelerations(y[:2], y[2:], 0.0)
    assert np.abs(found[2:] - expected).max() <= RHS * np.abs(expected).max()
    with pytest.raises(ValueError, match="mass"):
        namespace["rhs"](0.0, y, {"mass": 1.0})


def _accelerations(M, f, G, c):
    """v' from M v' = f + G^T lam and G v' = c, by plain elimination."""
    n, m = len(f), len(c)
    M, G = np.reshape(M, (n, n)), np.reshape(G, (m, n))
    matrix = np.block([[M, -G.T], [G, np.zeros((m, m))]])
    return np.linalg.solve(matrix, np.concatenate([f, c]))[:n]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_c_source_compiles_without_warnings_and_gives_the_same_terms(case, tmp_path):
    system, t, q, v, u = case
    source, library = tmp_path / "dynamics.c", tmp_path / "dynamics.so"
    source.write_text(print_equations(system.equations, "c"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), "-lm"], check=True, capture_output=True)
    program = ctypes.CDLL(str(library))
    call = program.dynamics
    pointer = np.ctypeslib.ndpointer(dtype=float, flags="C")
    program.rhs.argtypes, program.rhs.restype = (
        [ctypes.c_double, pointer, ctypes.c_void_p, ctypes.c_void_p, pointer],
        None,
    )
    call.argtypes = [ctypes.c_double] + [pointer] * 9
    call.restype = None
    n, m = len(system.layout.speeds), system.equations.loop_rows
    for k in range(len(t)):
        out = [np.zeros(max(size, 1)) for size in (n * n, n, q.shape[1], m * n, m)]
        inputs = u if len(u) else np.zeros(1)
        call(t[k], np.ascontiguousarray(q[k]), np.ascontiguousarray(v[k]), inputs, system.parameters, *out)
        for found, value in zip(out, _expected(system, t[k], q[k], v[k], u), strict=False):
            _close(found[: value.size], value)
        ydot = np.zeros(q.shape[1] + n)
        program.rhs(t[k], np.concatenate([q[k], v[k]]), None, None, ydot)
        _close_rhs(ydot, system, t[k], q[k], v[k])
        program.rhs(t[k], np.concatenate([q[k], v[k]]), None, inputs.ctypes.data, ydot)
        _close_rhs(ydot, system, t[k], q[k], v[k], inputs=u)


def test_json_expressions_evaluate_to_the_same_terms(case):
    system, t, q, v, u = case
    data = json.loads(print_equations(system.equations, "json"))
    assert data["coordinates"] == list(system.layout.coordinates)
    functions = {name: getattr(math, name) for name in dir(math) if not name.startswith("_")}
    for k in range(len(t)):
        values = functions | {"t": t[k]} | dict(data["parameters"])
        for names, numbers in ((data["coordinates"], q[k]), (data["speeds"], v[k]), (data["inputs"], u)):
            values |= dict(zip(names, numbers, strict=True))
        for name, text in data["definitions"]:
            values[name] = eval(text, {"__builtins__": {}}, values)
        M = [[eval(x, {"__builtins__": {}}, values) for x in row] for row in data["M"]]
        f = [eval(x, {"__builtins__": {}}, values) for x in data["f"]]
        expected = _expected(system, t[k], q[k], v[k], u)
        _close(M, expected[0])
        _close(f, expected[1])
        parts = np.sum(
            [[eval(x, {"__builtins__": {}}, values) for x in rows] for rows in data["parts"].values()], axis=0
        )
        _close(parts, expected[1])


def test_text_of_the_double_pendulum_is_that_of_the_paper():
    """Paper 001, eqs. 8 and 9, term by term."""
    text = print_equations(pendula.derive(pendula.library.double_pendulum(), "lagrange"))
    for line in (
        "M[theta1_dot, theta1_dot] = 4*l**2*m/3",
        "M[theta2_dot, theta1_dot] = l**2*m*cos(theta1 - theta2)/2",
        "M[theta2_dot, theta2_dot] = l**2*m/3",
        "f[theta1_dot] = -3*g*l*m*sin(theta1)/2",
        "f[theta2_dot] = -g*l*m*sin(theta2)/2",
    ):
        assert line in text


@pytest.mark.parametrize(
    ("name", "formulation"), in_turn([n for n in NAMES if n != "spatial-rod"], FORMULATIONS, whole=THOROUGH)
)
def test_text_fits_80_columns_where_it_can(name, formulation):
    for line in print_equations(pendula.derive(mechanisms()[name].make(), formulation)).splitlines():
        assert len(line) <= 80 or " " not in line.strip()


def test_latex_is_balanced_and_uses_greek_letters():
    text = print_equations(pendula.derive(pendula.library.double_pendulum(), "lagrange"), "latex")
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert r"\dot{\theta}_{2}" in text
    assert r"\cos{\left(\theta_{1} - \theta_{2} \right)}" in text


def test_text_of_maximal_coordinates_names_every_constraint():
    """A pendulum of a rod: its centre is (l/2 sin, -l/2 cos) from the pivot; rows of G by hand."""
    text = print_equations(pendula.derive(pendula.library.pendulum(), "maximal"))
    assert "coordinates: link_x [m], link_y [m], link_theta [rad]" in text
    assert "speeds: link_x_dot [m/s], link_y_dot [m/s], link_theta_dot [rad/s]" in text
    block = text.split("  1. theta: gap along x\n")[1].split("  2. theta: gap along y\n")
    assert [line.strip() for line in block[0].splitlines()] == [
        "gap[1] = -l*sin(link_theta)/2 + link_x",
        "G[1, link_x_dot] = 1",
        "G[1, link_theta_dot] = -l*cos(link_theta)/2",
        "c[1] = -l*link_theta_dot**2*sin(link_theta)/2",
    ]
    assert "\n  theta = link_theta\n  theta_dot = link_theta_dot\n" in block[1]


def test_names_of_matrices_are_not_those_of_parameters_coordinates_or_inputs():
    """Cart-pole has a mass M and a force F, the four-bar g, b and c, and every model below a symbol of each block."""
    for model in (pendula.library.cart_pole(), pendula.library.four_bar(), CLASHING):
        eq = pendula.derive(model, "lagrange")
        blocks = block_names(eq)
        symbols = {str(s) for s in (*eq.q, *eq.v, *eq.u, *eq.p)}
        assert not symbols & set(blocks.values())
        assert len(set(blocks.values())) == len(blocks)
        latex = print_equations(eq, "latex")
        assert not {latex_name(s) for s in symbols} & {row.partition(" &=")[0].strip() for row in latex.split("\n")}
        for line in print_equations(eq).splitlines():
            name, bracket, _ = line.strip().partition("[")
            assert not bracket or name.strip() not in symbols


class PositiveFirst(LatexPrinter):
    """SymPy's printer, with b - a for -a + b as we print it."""

    def _as_ordered_terms(self, expr, order=None):
        terms = super()._as_ordered_terms(expr, order)
        signs = [sympy.core.function._coeff_isneg(x) for x in terms]
        return terms[::-1] if signs == [True, False] else terms


def test_a_word_has_a_space_beside_it_in_latex():
    a, crank = sympy.symbols("a crank_dot")
    assert Writer(LATEX).write(2 * a * crank) == r"2 a\, \dot{\mathrm{crank}}"


def test_a_difference_begins_with_its_positive_term_in_latex():
    a, b = sympy.symbols("a b")
    assert Writer(LATEX).write(b - a) == "b - a"
    assert Writer(LATEX).write(a - b) == "a - b"


def test_latex_is_that_of_sympy():
    """Expressions are written by the walk that MathML shares; SymPy's own printer is independent of it."""
    for name in ("double-pendulum", "spatial-rod", "four-bar", "hoop-bead", "piston-bar"):
        eq = pendula.derive(mechanisms()[name].make(), "lagrange")
        form = Form(eq)
        for e in (*(x for row in eq.M for x in row), *eq.f, *eq.c):
            shown = form(e)
            names = {s: latex_name(str(s)) for s in shown.free_symbols}
            written = Writer(LATEX).write(shown).replace(r"\, ", " ")  # spaces beside words are ours
            assert written == PositiveFirst({"symbol_names": names}).doprint(shown)


def test_text_says_what_names_begin_with():
    text = print_equations(pendula.derive(pendula.library.heavy_top(), "maximal"))
    assert "(R__ a rotation matrix, w__ an angular velocity, of the following)" in text
    assert "4. top: unit quaternion (no multiplier: q' preserves it)" in text


def test_a_partial_derivative_by_a_rate_is_no_rate():
    partial = r"\frac{\partial \mathrm{uc}_{c,x}}{\partial \dot{t}_{1}}"
    assert latex_name("uc__c_x_per_t1_dot") == rf"\left({partial}\right)"
    assert latex_name("uc__c_x_per_t1_dot_dt") == rf"\left(\frac{{\mathrm{{d}}}}{{\mathrm{{d}} t}} {partial}\right)"


def test_latex_of_bodies_has_the_body_as_index():
    text = print_equations(pendula.derive(pendula.library.double_pendulum(), "maximal"), "latex")
    assert r"\dot{\theta}_{\mathrm{upper}}" in text
    assert r"x_{\mathrm{lower}} - x_{\mathrm{upper}}" in text
    assert "% row 3: theta2: gap along x" in text
    assert r"G v = 0, \quad G \dot{v} = \mathrm{bias}" in text


IN_LATEX = ("four-bar", "heavy-top", "hoop-bead", "driven-linkage", "chain")


@pytest.mark.parametrize(("name", "formulation"), in_turn(IN_LATEX, FORMULATIONS, whole=THOROUGH))
def test_latex_is_balanced_for_every_formulation(name, formulation):
    text = print_equations(pendula.derive(mechanisms()[name].make(), formulation), "latex")
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert "{," not in text
    widest = max((row.count("&") for row in text.split(r"\\")), default=0)
    assert widest <= 1 + 10  # one sign of alignment, and columns that fit a page


@pytest.mark.parametrize("links", slow_too([30], [60]))
def test_latex_that_nobody_could_read_is_refused_with_a_way_out(links):
    with pytest.raises(pendula.errors.NotSupported, match=r"text, python, c or json; .* maximal"):
        print_equations(pendula.derive(pendula.library.chain(links=links, coordinates="relative"), "kane"), "latex")


def test_c_of_many_bodies_writes_no_zeros():
    """100 links in coordinates of bodies: 300 x 300 entries, of which 300 are not zero."""
    text = print_equations(pendula.derive(pendula.library.chain(links=100), "maximal"), "c")
    assert text.count("\n    M[") == 300
    assert "= 0.0;\n    M[" in text


def test_equations_with_many_names_are_written_in_bounded_time():
    """30 links with relative angles: 40,000 operations; combining squares must not search all pairs of angles."""
    equations = pendula.derive(pendula.library.chain(links=30, coordinates="relative"), "kane")
    before = time.process_time()
    assert "void rhs(" in print_equations(equations, "c")
    assert time.process_time() - before < 10.0  # one second on an idle machine


@pytest.mark.parametrize("label", ["body 1", "1-2.a", "a", "x_"])
def test_labels_of_bodies_become_names_that_code_can_use(label):
    """Labels may hold spaces, dots and hyphens, and two of them may read the same as names."""
    model = pendula.library.double_pendulum()
    rods = [{"name": name, "rod": {"mass": "m", "length": "l"}} for name in (label, f"{label}.b", f"{label}-b")]
    places = ["ground", {"body": label, "at": "tip"}, {"body": label, "at": "tip"}]
    joints = [
        {"name": f"q{k}", "type": "revolute", "parent": place, "child": rod["name"]}
        for k, (rod, place) in enumerate(zip(rods, places, strict=True))
    ]
    equations = pendula.derive(model.with_changes(bodies=rods, joints=joints, forces=[], initial={}), "maximal")
    names = [str(s) for s in (*equations.q, *equations.v)]
    assert len(set(names)) == 18
    assert all(name.isidentifier() and "__" not in name for name in names)
    compile(print_equations(equations, "python"), "dynamics.py", "exec")


def test_unknown_format_is_refused():
    with pytest.raises(pendula.errors.UsageError, match="pdf"):
        print_equations(pendula.derive(pendula.library.pendulum()), "pdf")


def test_counts_are_exact_for_a_case_counted_by_hand():
    """M = l^2 m c^2 + l^2 m s^2 and f = -g l m s, with c = cos(theta), s = sin(theta).

    Written out: each term of M has 2 squares and 2 products, one sum, a cosine and a sine: 11; f has 4 products and a
    sine: 5. The square of l and the sine are shared: 2 less.
    """
    equations = pendula.derive(pendula.library.pendulum(kind="point"), "kane")
    assert str(equations.M[0][0]) == "l**2*m*c__link**2 + l**2*m*s__link**2"
    assert str(equations.f[0]) == "-g*l*m*s__link"
    sizes = count(equations)
    assert (sizes.operations_written_out, sizes.operations_shared, sizes.names) == (16, 14, 2)


def test_counts_of_what_is_printed_are_those_of_the_text():
    """One more than there are signs between terms in every printed line, outside arguments of functions."""
    for name in ("spatial-rod", "double-pendulum", "hoop-bead"):
        equations = pendula.derive(mechanisms()[name].make(), "lagrange")
        text = " ".join(print_equations(equations).split())
        body = text.partition("parts below")[2].rpartition(" size:")[0]
        right = re.findall(r"\] = (.*?)(?= \w+\[| \w+, [a-z]| prescribed|$)", body)
        summands = sum(1 + len(re.findall(r" [+-] ", re.sub(r"(sin|cos)\([^()]*\)", "", x))) for x in right)
        assert count_printed(equations).terms == summands


def test_counts_of_a_long_chain_do_not_overflow():
    """SymEngine's own counter wraps at 2^32; ours are whole numbers of any size."""
    sizes = count(pendula.derive(pendula.library.chain(links=30, coordinates="relative"), "kane"))
    assert sizes.operations_written_out > 20 * sizes.operations_shared > 0


def test_code_writer_keeps_precedence():
    import symengine as se

    x, y = se.symbols("x y")
    rng = np.random.default_rng(0)
    for e in (
        -(x + y),
        x - (y - 1),
        -x / (y + 2) ** 2,
        (x + y) ** 3 / 7,
        2 ** (-x),
        se.sqrt(x * x + 1) ** -3,
        -(x**2),
        x ** (y + 2),
        se.exp(-x),
    ):
        for _ in range(3):
            a, b = rng.uniform(0.5, 2, size=2)
            value = eval(code.write(e, code.PYTHON), {"math": math, "x": a, "y": b})
            assert value == pytest.approx(float(e.subs({x: a, y: b})), rel=1e-13)


def test_numbers_are_not_padded_with_zeros():
    """A body whose inertia is a number: M = 0.2815 + 0.35*0.1^2 = 0.285, and small motion with it."""
    body = {"name": "plate", "mass": 0.35, "com": [0, -0.1, 0], "inertia": [0.2, 0.2, 0.2815]}
    joint = {"name": "q", "type": "revolute", "parent": "ground", "child": "plate"}
    model = pendula.Model(name="plate", gravity=[0, -9.5, 0], bodies=[body], joints=[joint])
    text = print_equations(pendula.derive(model, "lagrange"))
    assert "M[q_dot, q_dot] = 0.285\n" in text
    found = pendula.linear.linearize_symbolic(model, {"q": 0})
    from pendula.present.words.symbols import symbolic_text

    text = symbolic_text(found, {"q": 0.123456789})
    assert "at q = 0.123457\n" in text
