"""What pictures, films and pages refuse."""

from __future__ import annotations

from pendula.refusals import Refusal, Why

OUTLINE = Refusal(
    "picture/outline",
    "picture",
    ("kind of shape",),
    "the outline of a shape of kind {kind} is not known",
    Why.NOT_DONE,
)
LIVE_BODIES = Refusal(
    "live-page/bodies",
    "live page",
    ("large mechanism",),
    "a live page moves up to {most} bodies fluently, and {model} has {bodies}.\n"
    "  Try: simulate it and write an animation, which plays any number of bodies.",
    Why.SIZE,
)
FILM_FRAMES = Refusal(
    "film/frames",
    "film",
    ("long run",),
    "a film of {span:.4g} time units has {frames} frames, more than {most}.\n  Try: a shorter run, or a higher speed.",
    Why.SIZE,
)
FILM_PACKAGE = Refusal(
    "film/package",
    "film",
    ("package that is not installed",),
    "films need {package}, which is not installed.\n  Try: pip install pendula[video]",
    Why.OUTSIDE,
)
FILM_SHAPE = Refusal(
    "film/shape",
    "film",
    ("kind of shape",),
    "films cannot draw a shape of kind {kind}",
    Why.NOT_DONE,
)
EXTENT = Refusal(
    "picture/extent",
    "picture",
    ("kind of shape",),
    "the extent of a shape of kind {kind} is not known",
    Why.NOT_DONE,
)
TRACES = Refusal(
    "picture/traces",
    "picture",
    ("kind of shape",),
    "no points to trace are known of a shape of kind {kind}",
    Why.NOT_DONE,
)
HINGES = Refusal(
    "picture/hinges",
    "picture",
    ("kind of shape",),
    "the hinges of a shape of kind {kind} are not known",
    Why.NOT_DONE,
)
