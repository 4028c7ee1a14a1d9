"""Derivations told step by step: the formulas are those that are compiled, and every comparison can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pendula import compile_system, library
from pendula.analysis.explain import explanation
from pendula.analysis.explain.explanation import explained
from pendula.analysis.explain.walk import walk
from pendula.equations.story import display as showing
from pendula.equations.story.display import evaluate
from pendula.equations.story.tell import TOLD, tell
from pendula.errors import NotSupported
from pendula.library import mechanisms
from pendula.system.loops.sampling import random_states

ROUNDING = 1e-10
"""Accelerations from formulas evaluated in another order than the compiled ones: some ten rounding errors of 1e-16,
amplified by mass matrices with a condition of up to 1e5 (limit of the random states; also that of the thin rod)."""

EVERY_DAY = [
    *(("double-pendulum", formulation) for formulation in TOLD),
    ("spatial-rod", "lagrange"),
    ("four-bar", "lagrange"),
    ("hoop-bead", "kane"),
]
"""Planar and spatial, a loop, a prescribed motion, springs and dampers."""

OTHERS = [
    (name, formulation)
    for name in mechanisms()
    for formulation in TOLD
    if (name, formulation) not in EVERY_DAY and name not in ("chain", "driven-chain", "driven-linkage")
]


def line_by_line(told, system, t, q, v):
    """Accelerations by the formulas as they are written, evaluated in order with nothing but NumPy."""
    eq = told.story.equations
    a, lam = system.solve(q, v, t)
    u = np.broadcast_to(system.inputs.rows(t, None, system.parameters), (len(t), len(eq.u)))
    symbols = [*eq.q, *eq.v, *eq.u, *eq.acceleration_symbols, *eq.multiplier_symbols]
    known = dict(zip(map(str, symbols), np.concatenate([q, v, u, a, lam], axis=1).T, strict=True))
    known |= {str(s): x for s, x in zip(eq.p, system.parameters, strict=True)} | {"t": t}
    values = evaluate([told.shown[id(f)] for f in told.story.formulas], known)
    blocks = {f.key: entries for f, (entries, _) in zip(told.story.formulas, values, strict=True) if f.key}
    n, m, count = len(eq.v), eq.loop_rows, len(t)
    G, c = blocks.get("G", np.zeros((count, 0, n))), blocks.get("c", np.zeros((count, 0, 1)))
    found = []
    for k in range(count):
        kkt = np.block([[blocks["M"][k], -G[k].T], [G[k], np.zeros((m, m))]])
        right = np.concatenate([blocks["f"][k], c[k]])[:, 0]
        size = np.sqrt(np.abs(kkt).max(axis=1))  # thin bodies have entries of very different size
        scaled = np.linalg.lstsq(kkt / np.outer(size, size), right / size, rcond=None)[0]
        found.append((scaled / size)[:n])
    return np.array(found), a


def check(name, formulation):
    told = explained(mechanisms()[name].make(), formulation)
    assert told.passed, [(c.words, c.difference) for c in told.checks.values() if not c.passed]
    assert told.whole is not None
    # The final formulas are the compiled blocks themselves, and intermediates are those of the equations.
    eq = told.story.equations
    last = {f.key: f.entries for f in told.story.formulas if f.key}
    assert last["M"] == tuple(tuple(row) for row in eq.M)
    assert last["f"] == tuple((x,) for x in eq.f)
    names = {s for s, _ in eq.definitions}
    assert all(s in names for f in told.story.formulas for s, _ in told.shown[id(f)].definitions)
    # A system that is derived and compiled anew, at other states than those of the comparisons.
    system = compile_system(eq.model, formulation)
    t, q, v = random_states(system, 3, seed=5)
    a, compiled = line_by_line(told, system, t, q, v)
    assert np.abs(a - compiled).max() <= ROUNDING * np.abs(compiled).max()


@pytest.mark.parametrize(("name", "formulation"), EVERY_DAY)
def test_formulas_line_by_line_give_the_compiled_accelerations(name, formulation):
    check(name, formulation)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "formulation"), OTHERS)
def test_every_library_mechanism_can_be_told_by_every_formulation(name, formulation):
    check(name, formulation)


def changed(story, name, factor):
    """The story with one formula multiplied by a factor."""
    chapters = []
    for chapter in story.chapters:
        steps = []
        for step in chapter.steps:
            formulas = [
                replace(f, entries=tuple(tuple(factor * x for x in row) for row in f.entries)) if f.name == name else f
                for f in step.formulas
            ]
            steps.append(replace(step, formulas=tuple(formulas)))
        chapters.append(replace(chapter, steps=tuple(steps)))
    return replace(story, chapters=tuple(chapters))


@pytest.mark.parametrize("formulation", TOLD)
def test_derivations_with_feedback_laws_are_told(formulation):
    """A law in the model is one of the forces."""
    model = library.cart_pole().with_changes(inputs={"F": "-3*x - 2*x_dot"})
    told = explained(model, formulation)
    assert told.passed, str(told)
    assert told.model.inputs == {}


def test_an_error_in_any_compared_formula_is_found(monkeypatch):
    """Each formula in turn is made wrong by one part in a million."""
    model = library.pendulum()
    story = tell(model, "newton-euler")
    compared = [f.name for f in story.formulas if f.compared is not None and f.compared.key[0] != "reaction force"]
    assert len(compared) > 8
    for name in compared[::3]:
        with monkeypatch.context() as patch:
            patch.setattr(explanation, "tell", lambda *_, name=name: changed(story, name, 1 + 1e-6))
            told = explained(model, "newton-euler")
        wrong = [f.name for f in told.story.formulas if id(f) in told.checks and not told.checks[id(f)].passed]
        assert wrong == [name]
        assert not told.passed


@pytest.mark.parametrize("wrong", ["T", "M", "cos"])
def test_an_error_in_what_is_written_is_found(monkeypatch, wrong):
    """One simplified formula is wrong by one part in a million: an energy, the mass matrix, or a term of a sum."""
    model = library.double_pendulum()
    tidy, story = showing.tidy, tell(model, "lagrange")
    targets = {f.name: f.entries[0][0] for f in story.formulas}
    target = {
        "T": targets[r"T_{\mathrm{lower}}"],
        "M": story.equations.M[0][0],
        "cos": next(f for f in story.formulas if f.name == "M_{11}").terms[1].value,
    }[wrong]
    plain = story.equations.inline(target)

    def spoiled(e, rates):
        return (1 + 1e-6) * tidy(e, rates) if e == plain else tidy(e, rates)

    monkeypatch.setattr(showing, "tidy", spoiled)
    told = explained(model, "lagrange")
    assert not told.written.passed
    assert not told.passed


def test_terms_of_the_mass_matrix_come_from_their_bodies():
    """Two equal bars on pins: the upper one has m l^2/3 about its pin, the lower one adds m l^2 (paper 001, eq. 8)."""
    for formulation in ("lagrange", "kane", "projection"):
        story = tell(library.double_pendulum(), formulation)
        first = next(f for f in story.formulas if f.name == "M_{11}")
        shares = {term.source.name: story.equations.inline(term.value) for term in first.terms}
        values = {"m": 3.0, "l": 2.0, "theta1": 0.4, "theta2": 0.9}
        numbers = {name: float(share.subs(values)) for name, share in shares.items()}
        assert numbers == pytest.approx({"upper": 3.0 * 4.0 / 3, "lower": 3.0 * 4.0})


def test_springs_are_traced_to_their_forces():
    rows = [f for f in tell(library.double_pendulum(), "lagrange").formulas if "spring" in f.name and f.terms]
    assert [[term.source for term in f.terms] for f in rows] == [[("force", "0"), ("force", "1")], [("force", "1")]]


def test_the_projection_method_shows_the_matrices_of_the_paper():
    """Double physical pendulum: A and the rows of L_lambda of Tataru, up to the sign and the axes of the rows."""
    told = explained(library.double_physical_pendulum(), "projection")
    found = {f.name: f for f in told.story.formulas}
    assert found["A"].entries == ((0, 0), (0, 0), (1, 0), (0, 0), (0, 0), (-1, 1))
    assert found[r"L_\lambda"].shape == (4, 6)
    reactions = [told.checks[id(f)].words for f in told.story.formulas if "force in joint" in f.words]
    assert reactions == ["the reaction by the method of Newton and Euler"] * 2  # Kane's method has none
    multipliers = [c for c in told.checks.values() if "by this formula" in c.words]
    assert len(multipliers) == 1
    assert multipliers[0].passed


@pytest.mark.parametrize("name", ["spatial-rod", "shaft-bar", "piston-bar", "heavy-top", "slider-crank"])
def test_the_walk_finds_the_poses_of_the_compiled_equations(name):
    system = compile_system(mechanisms()[name].make(), "kane")
    t, q, _ = random_states(system, 3, seed=2)
    R, r = system.poses(q, t)
    for k in range(3):
        frames = walk(system.model, dict(zip(system.layout.coordinates, q[k], strict=True)), float(t[k])).frames
        for b, body in enumerate(system.layout.bodies):
            np.testing.assert_allclose(frames[body].R, R[k, b], atol=1e-13)
            np.testing.assert_allclose(frames[body].r, r[k, b], atol=1e-13 * max(1.0, np.abs(r).max()))


@pytest.mark.slow
def test_many_bodies_are_folded_and_bounded():
    told = explained(library.chain(links=14), "kane")
    steps = [step for chapter in told.story.chapters for step in chapter.steps if step.title.startswith("Body")]
    assert sum(step.folded for step in steps) > sum(not step.folded for step in steps)
    assert len(told.story.chapters[1].steps) == 10  # bodies told one by one; the sentence counts the others
    assert any("4 further bodies" in text for text in told.story.chapters[1].words)
    assert told.passed


def test_a_mechanism_that_moves_upwards_without_turning_is_not_planar():
    """Bobs on strings in space: no body turns, but heights change, so no component along z may be left out."""
    story = tell(mechanisms()["double-spherical-pendulum"].make(), "projection")
    assert {f.shape for f in story.formulas if f.name.startswith("M_{")} >= {(6, 6)}
    story = tell(mechanisms()["double-spherical-pendulum"].make(), "kane")
    assert {f.shape[0] for f in story.formulas if "partial velocities" in f.words} == {3}


def test_only_formulations_with_intermediate_results_can_be_told(monkeypatch):
    from pendula.equations.formulations.kane import Kane
    from pendula.equations.formulations.registry import FORMULATIONS

    class Other:
        name, support = "other", Kane.support
        derive = Kane.derive

    FORMULATIONS.register("other", Other())
    try:
        with pytest.raises(NotSupported, match="cannot be explained"):
            tell(library.pendulum(), "other")
    finally:
        FORMULATIONS.remove("other")
