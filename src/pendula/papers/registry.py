"""The five papers, with their citations as far as they are known."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from pendula.arguments import available
from pendula.errors import UsageError
from pendula.papers.types import Paper, Part

PAPERS = (
    Paper(
        "000",
        "IFToMM 3D pendulum",
        '"Linearization of the dynamics of a simple 3D pendulum", a problem of the IFToMM library of multibody '
        "benchmarks (author and date are not printed).",
        "A point mass on a massless rod in space: what linearization gives in different coordinates.",
        "pendula.papers.iftomm",
    ),
    Paper(
        "001",
        "Kamman, unit 8",
        "James W. Kamman, An Introduction to Three-Dimensional, Rigid Body Dynamics, volume II: Kinetics, unit 8: "
        "Basic Concepts of Linearization, Stability, Mode Shapes, and Natural Frequencies.",
        "Seven examples and five exercises on equilibria, linear models, stability and modes.",
        "pendula.papers.kamman",
    ),
    Paper(
        "002",
        "Gupta and Saha",
        'Vinay Gupta and S. K. Saha, "Symbolic Computation and Simulation of a Spatial Pendulum", IEC Group of '
        "Institutions and Indian Institute of Technology Delhi (proceedings and year are not printed).",
        "A rod on a ball joint in ZYZ angles, derived by symbolic computation.",
        "pendula.papers.gupta_saha",
    ),
    Paper(
        "003",
        "Turner",
        "Jeremy Turner, \"I've got n problems but dynamics ain't one\", 14 December 2018.",
        "Chains and linkages of any number of links, by three methods.",
        "pendula.papers.turner",
    ),
    Paper(
        "004",
        "Tataru",
        'Vladimir Dragos Tataru, "Dynamics Survey of Physical Pendulum with Two Degrees of Freedom", University '
        '"Valahia" of Targoviste (journal and year are not printed).',
        "Two hinged bodies by projection onto the motions that the constraints allow.",
        "pendula.papers.tataru",
    ),
)
"""In the order of the report."""


def papers(wanted: Iterable[str] = ()) -> tuple[Paper, ...]:
    """The papers with these names or numbers, in the order of the report; all if none are given.

    Raises:
        UsageError: there is no such paper.

    Example:
        >>> [paper.short for paper in papers(["gupta-saha", "001"])]
        ['Kamman, unit 8', 'Gupta and Saha']
    """
    asked = {name.lower().replace("_", "-") for name in wanted}
    unknown = sorted(asked - {name for paper in PAPERS for name in (paper.name, paper.number)})
    if unknown:
        known = available(f"{paper.name} ({paper.number})" for paper in PAPERS)
        raise UsageError(f'there is no paper "{unknown[0]}"; {known}')
    return tuple(paper for paper in PAPERS if not asked or asked & {paper.name, paper.number})


def parts_of(paper: Paper) -> tuple[Part, ...]:
    """The parts of a paper; imports what computes them."""
    parts: tuple[Part, ...] = importlib.import_module(paper.module).PARTS
    return parts
