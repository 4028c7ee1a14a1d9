"""Modelica models, compiled and simulated by an independent compiler (Rumoca): the same motion as ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula.exchange.exporting import export
from tests.exchange.cases import MECHANISMS, close, pairs

SAME = 1e-5
"""the compiler's solver at its default tolerance"""
DURATION = 0.5


@pytest.mark.peer
@pytest.mark.parametrize(("name", "formulation"), [pair for pair in pairs() if pair[0] != "space_loop"])
def test_a_modelica_compiler_moves_it_as_we_do(name: str, formulation: str, tmp_path: Path) -> None:
    rumoca = pytest.importorskip("rumoca")
    model = MECHANISMS[name]()
    path = export(model, tmp_path / "Toy.mo", formulation=formulation).path
    found = rumoca.Session().load(str(path), model="Toy").simulate(t=(0, DURATION), dt=DURATION / 10)
    run = pendula.simulate(pendula.compile_system(model, formulation), DURATION, tol=1e-11, samples=11)
    states = np.hstack([run.q, run.v])
    names = [*run.system.layout.coordinates, *run.system.layout.speeds]
    spelled = {"der": "der_"}  # a coordinate with the name of an operator
    for k, state in enumerate(names):
        close(np.array(found[spelled.get(state, state)])[:11], states[:, k], SAME)


@pytest.mark.parametrize("name", ["plane", "quaternion", "loop", "prescribed", "piecewise"])
def test_there_are_as_many_equations_as_unknowns(name: str) -> None:
    text = pendula.print_equations(pendula.derive(MECHANISMS[name]()), "modelica")
    inside = text[text.index("\nmodel ") :]
    declared, _, equations = inside.partition("\nequation\n")
    free = [
        line for line in declared.splitlines() if line.startswith("  Real ") and " = " not in line.replace("start=", "")
    ]
    assert len(free) == equations.count(";\n")
    assert inside.rstrip().endswith(";")


@pytest.mark.peer
@pytest.mark.parametrize(("name", "formulation"), [*pairs()])
def test_a_grammar_of_julia_reads_the_modules(name: str, formulation: str) -> None:
    tree_sitter = pytest.importorskip("tree_sitter")
    grammar = pytest.importorskip("tree_sitter_julia")
    parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
    text = pendula.print_equations(pendula.derive(MECHANISMS[name](), formulation), "julia")
    assert not parser.parse(text.encode()).root_node.has_error
