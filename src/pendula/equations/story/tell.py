"""Tells the derivation of a model's equations of motion by one of the formulations."""

from __future__ import annotations

from dataclasses import replace

from pendula.equations.derive import DEFAULT
from pendula.equations.formulations.kane import KaneDerivation
from pendula.equations.formulations.lagrange import LagrangeDerivation
from pendula.equations.formulations.maximal import MaximalDerivation
from pendula.equations.formulations.newton_euler import NewtonEulerDerivation
from pendula.equations.formulations.projection import ProjectionDerivation
from pendula.equations.formulations.registry import formulation_named
from pendula.equations.mechanism import refuse_rotors
from pendula.equations.story import kane, lagrange, maximal, newton_euler, projection
from pendula.equations.story.ending import constraints_chapter, final_chapter
from pendula.equations.story.frames import mechanism_chapter, positions_chapter
from pendula.equations.story.story import Chapter, Comparison, Story
from pendula.equations.story.telling import Telling
from pendula.errors import NotSupported
from pendula.model.model import Model

TOLD = ("lagrange", "kane", "newton-euler", "maximal", "projection")
"""Formulations whose derivation can be told."""


def tell(model: Model, formulation: str = DEFAULT) -> Story:
    """The story of a derivation; its formulas are the expressions of the equations that it holds.

    Raises:
        UsageError: there is no such formulation.
        NotSupported: this formulation cannot derive the model, or its derivation cannot be explained.

    Example:
        >>> from pendula import library
        >>> story = tell(library.pendulum(), "lagrange")
        >>> [chapter.title for chapter in story.chapters][1:4]
        ['Positions', 'Velocities', 'Energies']
    """
    chosen = formulation_named(formulation)
    make = getattr(chosen, "derivation", None)
    if formulation not in TOLD or make is None:
        raise NotSupported(
            f'the derivation by "{formulation}" cannot be explained: it keeps no intermediate results.\n'
            f"  Try: {', '.join(TOLD)}."
        )
    refuse_rotors(model, "the story of a derivation")
    if coupled := [j.name for j in model.closures if not j.has_sides]:
        raise NotSupported(f'joint "{coupled[0]}": derivations with couplings of coordinates cannot be explained yet')
    derivation = make(model)
    equations = derivation.equations()
    telling = Telling(derivation.m, equations)
    lead, middle, loops, reactions = _middle(telling, derivation)
    chapters = [mechanism_chapter(telling), positions_chapter(telling), *middle]
    closed = constraints_chapter(telling, loops)
    chapters += [closed] if closed is not None else []
    chapters = [_filled(telling, chapter) for chapter in (*chapters, final_chapter(telling), *reactions)]
    return Story(equations, tuple(chapters), tuple(map(telling.fill, lead)))


def _filled(telling: Telling, chapter: Chapter) -> Chapter:
    """A chapter with the names of the blocks of the equations in place of their placeholders."""
    fill = telling.fill

    def compared(one: Comparison | None) -> Comparison | None:
        return None if one is None else replace(one, words=fill(one.words))

    steps = []
    for step in chapter.steps:
        formulas = [
            replace(f, name=fill(f.name), words=fill(f.words), compared=compared(f.compared)) for f in step.formulas
        ]
        steps.append(
            replace(
                step,
                words=tuple(map(fill, step.words)),
                law=tuple(map(fill, step.law)),
                formulas=tuple(formulas),
                compared=compared(step.compared),
            )
        )
    return replace(chapter, words=tuple(map(fill, chapter.words)), steps=tuple(steps))


def _middle(
    telling: Telling, derivation: object
) -> tuple[tuple[str, ...], list[Chapter], tuple[str, ...], list[Chapter]]:
    """Lead, chapters, words about closed loops, and chapters after the equations of motion, of one formulation."""
    match derivation:
        case LagrangeDerivation():
            return lagrange.LEAD, lagrange.lagrange_chapters(telling, derivation), lagrange.LOOPS, []
        case KaneDerivation():
            return kane.LEAD, kane.kane_chapters(telling, derivation), kane.LOOPS, []
        case NewtonEulerDerivation():
            balances = newton_euler.newton_euler_chapters(telling, derivation)
            return newton_euler.LEAD, balances, newton_euler.LOOPS, [newton_euler.newton_euler_reactions(telling)]
        case MaximalDerivation():
            bodies = maximal.maximal_chapters(telling, derivation)
            return maximal.LEAD, bodies, maximal.LOOPS, [maximal.maximal_reactions(telling)]
        case ProjectionDerivation():
            projected = projection.projection_chapters(telling, derivation)
            multipliers = projection.projection_reactions(telling, derivation)
            return projection.LEAD, projected, projection.LOOPS, [multipliers]
    raise TypeError(f"no story for {type(derivation).__name__}")
