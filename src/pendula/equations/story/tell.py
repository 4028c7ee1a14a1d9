"""The story of the derivation of a model's equations of motion, by one of the formulations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from pendula.equations import refusals
from pendula.equations.derive import DEFAULT
from pendula.equations.formulations.registry import formulation_named
from pendula.equations.mechanism.mechanism import refuse_rotors
from pendula.equations.story import kane, lagrange, maximal, newton_euler, projection
from pendula.equations.story.ending import constraints_chapter, final_chapter
from pendula.equations.story.frames import mechanism_chapter, positions_chapter
from pendula.equations.story.story import Chapter, Comparison, Story
from pendula.equations.story.telling import Telling
from pendula.errors import NotSupported
from pendula.model.model import Model


class Teller(Protocol):
    """The part of a story that belongs to one formulation: a module of this package."""

    @property
    def LEAD(self) -> tuple[str, ...]:
        """What the formulation does, in words."""

    @property
    def LOOPS(self) -> tuple[str, ...]:
        """How it treats closed loops, in words."""

    def chapters(self, telling: Telling, d: Any) -> list[Chapter]:
        """Chapters between the positions and the final equations."""

    def reactions(self, telling: Telling, d: Any) -> list[Chapter]:
        """Chapters after the final equations."""


TELLERS: dict[str, Teller] = {
    "lagrange": lagrange,
    "kane": kane,
    "newton-euler": newton_euler,
    "maximal": maximal,
    "projection": projection,
}
TOLD = tuple(TELLERS)
"""Formulations whose derivation has a story."""


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
    teller = TELLERS.get(formulation)
    if teller is None or make is None:
        raise NotSupported(refusals.NO_STORY, formulation=formulation, told=", ".join(TOLD))
    refuse_rotors(model, refusals.STORY_OF_ROTORS)
    if coupled := [j.name for j in model.closures if not j.has_sides]:
        raise NotSupported(refusals.STORY_OF_COUPLINGS, joint=coupled[0])
    derivation = make(model)
    equations = derivation.equations()
    telling = Telling(derivation.m, equations)
    chapters = [mechanism_chapter(telling), positions_chapter(telling), *teller.chapters(telling, derivation)]
    closed = constraints_chapter(telling, teller.LOOPS)
    chapters += [closed] if closed is not None else []
    chapters += [final_chapter(telling), *teller.reactions(telling, derivation)]
    return Story(equations, tuple(_filled(telling, x) for x in chapters), tuple(map(telling.fill, teller.LEAD)))


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
