"""The factors of the crossings, their levels, and which levels cannot stand together by definition.

A row of the net has one level of every factor. A *cell* is a pair of levels of two factors; the net is complete when
every cell is answered by a row that passed, forbidden here, or refused in a registered way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product

FACTORS: dict[str, tuple[str, ...]] = {
    "orientation": (
        "plane", "plane, from ground", "along z, from ground", "zyz", "xyz", "space zyx", "universal", "rotation vector", "quaternion",
    ),
    "speeds": ("rates", "body", "parent"),
    "closure": ("tree", "loop", "redundant loop", "coupling", "loop in space", "coupling in a loop", "change point"),
    "drive": (
        "none", "one", "several", "several in one loop", "angle", "moving ground", "turning", "held",
        "moving closure",
    ),
    "start": ("given", "rounded", "partial", "contradictory", "whole turn"),
    "load": (
        "gravity", "spring", "torsion spring", "damper", "friction", "armature", "force in text", "force of time",
        "force of a coordinate", "kink", "dry friction", "joint limit", "force at a body",
    ),
    "input": (
        "none", "number", "text of time", "feedback", "held series", "linear series", "cubic series", "function",
        "sampled", "sampled with memory",
    ),
    "constants": ("parameters", "none", "derived"),
    "beside": ("nothing", "model", "number", "text of time", "series"),
    "engine": (
        "lagrange", "kane", "newton-euler", "projection", "maximal", "maximal as one system", "recursive",
        "recursive with equations",
    ),
    "stepper": ("dop853", "rk45", "radau", "rk4", "taylor"),
    "constraints": ("projection", "baumgarte", "none"),
    "carry": (
        "fresh", "pickled system", "pickled run", "npz", "csv", "json", "nc", "continued", "backwards",
        "again", "ensemble", "bounds", "converted", "study", "process",
    ),
    "question": (
        "accelerations", "energy", "momentum", "integrals", "reactions", "motor forces", "trim", "equilibria", "linear model",
        "slopes", "sensitivities", "events", "modes", "responses", "multipliers", "python", "sympy", "c", "fmu", "live page",
    ),
}  # fmt: skip
"""Every factor with its levels; the first one is the plainest, which shrinking a row goes back to."""

AT_REST = ("trim", "equilibria", "linear model", "modes", "responses")
"""Questions about states of rest: laws in text do not name the time there, unless it is their level."""

TRIPLES = (("orientation", "closure", "question"),)
"""factors of which the long arrays have three levels together as well"""

Row = Mapping[str, str]
"""one level of every factor"""

Level = tuple[str, str]
"""a factor and one of its levels"""

Cell = tuple[Level, Level]
"""two levels of different factors, in the order of the factors"""

FLAT = ("plane", "plane, from ground")
ANGLES = ("zyz", "xyz", "space zyx")

FORBIDDEN: tuple[tuple[dict[str, tuple[str, ...]], str], ...] = (
    (
        {"orientation": (*FLAT, "along z, from ground", "universal"), "speeds": ("body", "parent")},
        "hinges and universal joints have rates; only balls have a choice of speeds",
    ),
    ({"orientation": ("quaternion",), "speeds": ("rates",)}, "four rates of a quaternion are not independent speeds"),
    ({"orientation": FLAT, "closure": ("loop in space",)}, "a mechanism in the plane has no loop in space"),
    (
        {"orientation": ("rotation vector", "quaternion"), "drive": ("angle",)},
        "these orientations have no angle whose motion could be prescribed alone",
    ),
    (
        {"speeds": ("body", "parent"), "drive": ("angle",)},
        "where an angle is prescribed, the other angles have rates, not an angular velocity",
    ),
    (
        {"closure": ("tree", "coupling", "loop in space", "coupling in a loop"), "drive": ("several in one loop",)},
        "without a planar loop there are no two cranks of one",
    ),
    (
        {"closure": ("tree", "coupling", "coupling in a loop", "change point"), "drive": ("moving closure",)},
        "without a loop nothing closes at ground; the pivots of parallel cranks that are coupled, or lie flat, stay",
    ),
    (
        {"orientation": FLAT, "closure": ("redundant loop",), "drive": ("moving closure",)},
        "in the plane, redundant loops have parallel cranks, whose pivots stay",
    ),
    (
        {"closure": ("change point",), "constraints": ("baumgarte", "none")},
        "runs that keep their loops so stop before a singular pose",
    ),
    (
        {"constants": ("none",), "carry": ("study",)},
        "a study goes through values of parameters",
    ),
    (
        {"constants": ("none",), "question": ("sensitivities",)},
        "there is no parameter whose influence could be asked for",
    ),
    (
        {"load": ("dry friction",), "question": ("linear model", "modes", "responses", "multipliers")},
        "at rest, and where a periodic motion turns back, dry friction jumps: there are no small motions",
    ),
    (
        {"orientation": (*FLAT, "along z, from ground", "universal"), "carry": ("converted",)},
        "hinges have no other coordinates to which a run could be converted",
    ),
    (
        {"speeds": ("body", "parent"), "closure": ("tree", "coupling"), "drive": ("several",), "question": ("trim",)},
        "hinge and slide are prescribed, a tail follows: no coordinate is left that could be held",
    ),
)
"""Combinations that do not exist, with the reason. Not refusals: nobody could answer them."""

WISHED: tuple[dict[str, str], ...] = (
    {"question": "integrals", "orientation": "plane", "closure": "tree", "drive": "one", "load": "gravity"},
    {"question": "trim", "drive": "held", "load": "force of time", "closure": "tree", "input": "none"},
    {
        "question": "slopes", "engine": "recursive with equations", "input": "linear series", "beside": "model",
        "constants": "derived",
    },
)  # fmt: skip
"""Levels that every array has together: what they cross has failed before, and pairs seldom meet it."""


def levels() -> Iterator[Level]:
    """All levels of all factors."""
    for factor, names in FACTORS.items():
        for name in names:
            yield factor, name


def cells() -> list[Cell]:
    """All pairs of levels of two factors, forbidden ones as well."""
    return [(a, b) for a, b in combinations(levels(), 2) if a[0] != b[0]]


def cells_of(row: Row) -> list[Cell]:
    """The pairs that a row has."""
    return list(combinations(((factor, row[factor]) for factor in FACTORS), 2))


def triples() -> list[tuple[Level, ...]]:
    """All levels of three factors that stand in :data:`TRIPLES`, forbidden ones as well."""
    return [
        tuple(zip(factors, chosen, strict=True))
        for factors in TRIPLES
        for chosen in product(*(FACTORS[f] for f in factors))
    ]


def triples_of(row: Row) -> list[tuple[Level, ...]]:
    """The triples that a row has."""
    return [tuple((factor, row[factor]) for factor in factors) for factors in TRIPLES]


def matches(part: Mapping[str, str], row: Row) -> bool:
    """Whether a row has all levels of a part."""
    return all(row[factor] == level for factor, level in part.items())


def forbidden_parts() -> list[dict[str, str]]:
    """The forbidden combinations, one level for each of their factors."""
    return [dict(zip(rule, chosen, strict=True)) for rule, _ in FORBIDDEN for chosen in product(*rule.values())]


FORBIDDEN_PARTS = forbidden_parts()
PLAIN: dict[str, str] = {factor: names[0] for factor, names in FACTORS.items()}
"""the plainest level of every factor"""
