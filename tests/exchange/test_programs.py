"""Programs in other languages, run by their compilers and interpreters: the accelerations of our own engine.

Compilers and interpreters are not needed to use Pendula; tests of those that are missing are skipped by name.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula.exchange.exporting import export
from tests.exchange.cases import MECHANISMS, Case, case, close, pairs

TOLERANCE = 1e-12
QUICK = [
    ("plane", "lagrange"),
    ("quaternion", "kane"),
    ("loop", "newton-euler"),
    ("loop", "maximal"),
    ("input", "projection"),
    ("prescribed", "kane"),
    ("angles", "lagrange"),
    ("piecewise", "kane"),
    ("redundant", "lagrange"),
    ("hinges", "kane"),
]
"""one formulation of each mechanism; the slow tests try all of them"""
SETS = [pytest.param(QUICK, id="some"), pytest.param(None, id="all", marks=pytest.mark.slow)]


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(tool) is None, reason=f"{tool} is not installed")


def written(chosen: list[tuple[str, str]] | None, ending: str, folder: Path) -> list[Case]:
    """The cases, each exported to a file named after it."""
    cases = [case(*pair) for pair in (chosen or pairs())]
    for found in cases:
        name = found.title
        model, formulation = found.equations.model, found.equations.formulation
        export(model, folder / f"{name}{ending}", formulation=formulation)
    return cases


def compare(cases: list[Case], output: str) -> None:
    """Compares the lines that a program printed, one for each state: y', then g and G v - b."""
    lines = iter(output.strip().splitlines())
    for found in cases:
        n = len(found.equations.q)
        for t, y, wanted in found.states:
            numbers = np.array(next(lines).split(), dtype=float)
            close(numbers[: len(wanted)], wanted, TOLERANCE)
            rest = numbers[len(wanted) :]
            if found.equations.g:
                gaps = np.concatenate(found.system.gaps(y[:n], y[n:], t))
                close(rest[: len(gaps)], gaps, TOLERANCE)
    assert next(lines, None) is None


def listed(y: np.ndarray) -> str:
    return ", ".join(map(repr, y.tolist()))


@needs("cc")
@pytest.mark.parametrize("chosen", SETS)
def test_c_functions_give_our_accelerations_and_residuals(chosen, tmp_path: Path) -> None:
    for found in written(chosen, ".c", tmp_path):
        library = tmp_path / f"{found.title}.so"
        source = str(tmp_path / f"{found.title}.c")
        subprocess.run(["cc", "-std=c99", "-O1", "-shared", "-fPIC", source, "-o", str(library), "-lm"], check=True)
        program, n = ctypes.CDLL(str(library)), len(found.equations.q)
        for t, y, wanted in found.states:
            given, ydot = np.ascontiguousarray(y), np.full(len(y), np.nan)
            program.rhs(ctypes.c_double(t), _pointer(given), None, None, _pointer(ydot))
            close(ydot, wanted, TOLERANCE)
            if found.equations.g:
                gaps = np.concatenate(found.system.gaps(y[:n], y[n:], t))
                out = np.full(len(gaps), np.nan)
                program.residuals(ctypes.c_double(t), _pointer(given), None, _pointer(out))
                close(out, gaps, TOLERANCE)


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@needs("g++")
@pytest.mark.parametrize("chosen", SETS)
def test_cpp_header_gives_our_accelerations_and_residuals(chosen, tmp_path: Path) -> None:
    cases = written(chosen, ".hpp", tmp_path)
    lines = ["#include <cstdio>", *(f'#include "{c.title}.hpp"' for c in cases)]
    lines += [
        'template <class A> void show(const A &a) { for (double x : a) std::printf("%.17g ", x); }',
        "int main() {",
    ]
    for c in cases:
        for t, y, _ in c.states:
            given = f"<double>({t!r}, {{{listed(y)}}})"
            lines.append(f"show({c.title}::rhs{given});")
            lines += [f"show({c.title}::residuals{given});"] if c.equations.g else []
            lines.append('std::printf("\\n");')
    (tmp_path / "main.cpp").write_text("\n".join([*lines, "}"]))
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O0"]
    subprocess.run(["g++", *flags, "main.cpp", "-o", "main"], cwd=tmp_path, check=True)
    compare(cases, subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout)


@needs("g++")
def test_cpp_header_takes_parameters_by_name_and_another_type_of_numbers(tmp_path: Path) -> None:
    """m = 5/g of the double pendulum follows g; long double proves that no double is built in."""
    export("double-pendulum", tmp_path / "two.hpp")
    (tmp_path / "main.cpp").write_text(
        """#include <cstdio>
#include "two.hpp"
int main() {
    two::Parameters p; p.g = 20.0; p.l = 3.0;
    for (long double x : two::rhs<long double>(0, {0.3L, -0.2L, 0.1L, 0.4L}, p)) std::printf("%.17Lg ", x);
}"""
    )
    subprocess.run(["g++", "-std=c++17", "-Wall", "-Werror", "main.cpp", "-o", "main"], cwd=tmp_path, check=True)
    output = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    system = pendula.compile_system(pendula.library.double_pendulum().with_parameters({"g": 20.0, "l": 3.0}))
    close(output.split()[2:], system.accelerations([0.3, -0.2], [0.1, 0.4]), TOLERANCE)


@needs("octave-cli")
@pytest.mark.parametrize("chosen", SETS)
def test_octave_gives_our_accelerations_and_residuals(chosen, tmp_path: Path) -> None:
    cases = written(chosen, ".m", tmp_path)
    lines = []
    for c in cases:
        lines.append(f"P = {c.title}();")
        for t, y, _ in c.states:
            given = f"({t!r}, [{listed(y)}]')"
            lines.append(f"printf('%.17g ', P.rhs{given});")
            lines += [f"[g, s] = P.residuals{given}; printf('%.17g ', [g; s]);"] if c.equations.g else []
            lines.append('printf("\\n");')
    (tmp_path / "main.m").write_text("\n".join(lines))
    done = subprocess.run(
        ["octave-cli", "-q", "--no-init-file", "main.m"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    compare(cases, done.stdout)


@pytest.mark.parametrize("pair", QUICK, ids="-".join)
def test_python_gives_multipliers_and_residuals(pair) -> None:
    found = case(*pair)
    program: dict = {}
    exec(pendula.print_equations(found.equations, "python"), program)
    k = len(found.equations.q)
    for t, y, wanted in found.states:
        qdot, vdot, lam = program["solve"](t, y)
        close(np.concatenate([qdot, vdot]), wanted, TOLERANCE)
        if found.equations.loop_rows and pair[0] not in ("redundant", "hinges"):  # whose multipliers are indeterminate
            close(lam, found.system.multipliers(y[:k], y[k:], t), 100 * TOLERANCE)
        if found.equations.g:
            close(
                np.concatenate(program["residuals"](t, y)),
                np.concatenate(found.system.gaps(y[:k], y[k:], t)),
                TOLERANCE,
            )


@pytest.mark.parametrize("name", MECHANISMS)
def test_julia_modules_are_balanced_and_define_what_they_use(name: str) -> None:
    """No Julia can be had here; the peer tests parse these modules by a grammar of the language."""
    text = pendula.print_equations(pendula.derive(MECHANISMS[name]()), "julia")
    code = "\n".join(line.split("#")[0] for line in text.splitlines())
    opened = sum(code.count(f"\n{word}") for word in ("module ", "function ")) + code.startswith("module ")
    assert code.count("\nend") == opened
    assert all(code.count(a) == code.count(b) for a, b in ("()", "[]", "{}"))
    assert ("erf(" in code) == ("function erf(x)" in code)
