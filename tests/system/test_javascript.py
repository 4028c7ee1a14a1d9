"""Equations written as JavaScript, run by node: the same numbers as machine code, for every formulation.

Node is not needed to use Pendula; without it these tests are skipped.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess

import numpy as np
import pytest

import pendula
from pendula import library
from pendula.derivation import formulations
from pendula.model.expressions.functions import PRIMITIVES
from pendula.system.code.javascript import Script, number
from pendula.system.code.program import Program
from pendula.system.loops.assembly import assemble
from tests.helpers.choices import in_turn
from tests.helpers.leaning import leaning_four_bar

NODE = shutil.which("node")
node = pytest.mark.skipif(NODE is None, reason="node is not installed")
ROUNDING = 1e-12  # relative: the same operations, with another sine and another order of elimination


def run_node(script: str, tmp_path) -> object:
    """What a module prints as JSON."""
    file = tmp_path / "try.mjs"
    file.write_text(script, encoding="utf-8")
    done = subprocess.run([str(NODE), str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


MECHANISMS = {
    "two bars with springs": lambda: library.double_pendulum(),
    "loop": lambda: library.four_bar(),
    "hinges": leaning_four_bar,
    "quaternion": lambda: library.heavy_top(),
    "input": lambda: library.cart_pole(),
    "prescribed motion": lambda: library.driven_chain(links=3),
    "angles in space": lambda: library.spatial_rod(),
}


@node
@pytest.mark.parametrize(("name", "formulation"), in_turn(MECHANISMS, sorted(formulations()), whole=["loop", "hinges"]))
def test_right_hand_side_equals_that_of_machine_code(name, formulation, tmp_path):
    model = MECHANISMS[name]()
    system = pendula.compile_system(model, formulation)
    start = assemble(system).state
    rng = np.random.default_rng(3)
    v = start.v + (0.0 if system.loop_rows else 0.3) * rng.standard_normal(start.v.size)
    text = pendula.print_equations(pendula.derive(model, formulation), "javascript")
    y = np.concatenate([start.q, v]).tolist()
    got = run_node(f"{text}\nconsole.log(JSON.stringify(Array.from(rhs(0.3, {y}))));", tmp_path)
    want = np.concatenate([system.rates(start.q, v, 0.3), system.solve(start.q, v, 0.3).accelerations])
    assert np.abs(np.array(got) - want).max() <= ROUNDING * max(1.0, np.abs(want).max())


@node
def test_parameters_are_given_by_name_and_derived_ones_follow(tmp_path):
    """Kamman's bars have the mass 5/g: a change of g changes the mass as well."""
    model = library.double_pendulum()
    text = pendula.print_equations(pendula.derive(model), "javascript")
    script = f"""{text}
const y = [0.3, -0.2, 0.1, 0.4];
let wrong = "";
try {{ rhs(0, y, {{ gravity: 3 }}); }} catch (error) {{ wrong = error.message; }}
const changed = Array.from(rhs(0, y, {{ g: 20, l: 3 }})), back = Array.from(rhs(0, y));
console.log(JSON.stringify({{ changed, back, wrong }}));"""
    found = run_node(script, tmp_path)
    system = pendula.compile_system(model.with_parameters({"g": 20.0, "l": 3.0}))
    expected = system.solve([0.3, -0.2], [0.1, 0.4]).accelerations
    np.testing.assert_allclose(found["changed"][2:], expected, rtol=ROUNDING)
    expected = pendula.compile_system(model).solve([0.3, -0.2], [0.1, 0.4]).accelerations
    np.testing.assert_allclose(found["back"][2:], expected, rtol=ROUNDING)
    assert found["wrong"] == "unknown parameter: gravity"


@node
def test_a_program_in_many_pieces_gives_the_same_bits(tmp_path):
    """The division into functions changes nothing, whatever values cross the borders."""
    program = Program(3, 1)
    x, (scale,) = program.inputs, program.parameters
    values = list(x)
    rng = np.random.default_rng(5)
    for k in range(300):
        a, b, c = (values[int(i)] for i in rng.integers(0, len(values), 3))
        above = program.condition("lt", a, b)
        if k % 4 == 0:
            values.append(program.add(program.multiply(a, scale), b))
        elif k % 4 == 1:
            values.append(program.call("sin", program.subtract(a, c)))
        elif k % 4 == 2:
            values.append(program.select(above, a, program.negate(c)))
        else:
            values.append(program.divide(a, program.add(program.constant(2.5), program.multiply(b, b))))
    texts = []
    for most in (10_000, 7, 1):
        script = Script(program, most)
        script.add("f", values[-40:])
        texts.append(f"(() => {{ {script.text()}; return {{ prepare, f, PARAMETERS, PREPARED }}; }})()")
    calls = ", ".join(texts)
    found = run_node(
        f"""const out = [{calls}].map(program => {{
  const p = new Float64Array(program.PARAMETERS + program.PREPARED); p[0] = 0.37; program.prepare(p);
  const got = new Float64Array(40); program.f(Float64Array.of(0.4, -1.3, 0.77), p, got); return Array.from(got);
}});
console.log(JSON.stringify(out));""",
        tmp_path,
    )
    assert found[0] == found[1] == found[2]
    assert np.isfinite(found[0]).all()
    assert np.ptp(found[0]) > 0


@node
def test_every_function_has_its_value(tmp_path):
    """Each function of the table against Python's, one inside and several outside of its usual range."""
    points = {"acosh": (1.2, 7.0), "log": (0.3, 40.0), "sqrt": (0.2, 9.5), "atanh": (-0.4, 0.9)}
    program = Program(2, 0)
    a, b = program.inputs
    names = sorted(PRIMITIVES)
    script = Script(program)
    script.add("f", [program.call(n, a, b) if PRIMITIVES[n].least == 2 else program.call(n, a) for n in names])
    pairs = [[points.get(n, (0.37, -0.93 if n != "pow" else 2.1))[i] for n in names] for i in (0, 1)]
    calls = [f"at({x}, {y})" for row in pairs for x, y in zip(row, [1.3] * len(row), strict=True)]
    found = run_node(
        f"""{script.text()}
const at = (x, y) => {{ const out = new Float64Array({len(names)}); f(Float64Array.of(x, y), new Float64Array(0), out); return Array.from(out); }};
console.log(JSON.stringify([{", ".join(calls)}].map((row, k) => row[k % {len(names)}])));""",
        tmp_path,
    )
    expected = [
        PRIMITIVES[n].value(x, 1.3) if PRIMITIVES[n].least == 2 else PRIMITIVES[n].value(x)
        for row in pairs
        for n, x in zip(names, row, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@node
@pytest.mark.parametrize("x", [-7.0, -3.1, -2.5, -1e-9, 0.0, 0.4, 1.9, 2.49, 2.51, 5.9, 6.5])
def test_error_function_is_right_to_rounding(x, tmp_path):
    program = Program(1, 0)
    script = Script(program)
    script.add("f", [program.call("erf", program.inputs[0])])
    call = f"const out = [0]; f([{x}], [], out); console.log(JSON.stringify(out[0]));"
    assert run_node(f"{script.text()}\n{call}", tmp_path) == pytest.approx(math.erf(x), rel=4e-15, abs=0)


@pytest.mark.parametrize("value", [0.1, -0.1, 1e300, 5e-324, 2.0**53, -3.0])
def test_numbers_are_written_exactly(value):
    assert float(number(value).strip("()")) == value


def test_numbers_that_are_not_finite_are_written_by_name():
    assert [number(x) for x in (math.inf, -math.inf, math.nan)] == ["Infinity", "(-Infinity)", "NaN"]
