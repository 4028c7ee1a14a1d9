"""Scenes and shapes refuse what cannot be drawn, and say why."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pendula.errors import PendulaError
from pendula.present import Box, Disc, Pivot, Point, Polyline, Ring, Rod, Scene, SceneBody, SceneError, Sphere
from pendula.present.player.scene import SceneLink
from pendula.present.player.shapes import extent
from tests.present.scenes import bob

K = 5
T = np.linspace(0, 1, K)
STILL = np.tile(np.eye(3), (K, 1, 1))
ORIGIN = np.zeros((K, 3))
DOT = (Point(),)


def body(name="a", *, position=ORIGIN, rotation=STILL, shapes=DOT):
    return SceneBody(name, shapes, position, rotation)


def scene(*bodies, **more):
    return Scene("t", "m-kg-s", **({"planar": True, "t": T, "bodies": bodies or (body(),)} | more))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rod((0, 0), (1, 0, 0)), "Rod.start must be three numbers"),
        (lambda: Rod((0, 0, 0), (1, 0, "x")), "Rod.end must be three numbers"),
        (lambda: Point((0, 0, np.nan)), "Point.at must be finite"),
        (lambda: Point((0, 0, 0), -1), "Point.radius must be finite and not negative"),
        (lambda: Sphere((0, 0, 0), np.inf), "Sphere.radius must be finite"),
        (lambda: Disc((0, 0, 0), (0, 0, 0), 1), "Disc.normal must not be the zero vector"),
        (lambda: Ring((0, 0, 0), (0, 0, 1), None), "Ring.radius must be a number"),
        (lambda: Box((0, 0, 0), (1, -1, 1)), "Box.size must not be negative"),
        (lambda: Polyline(((0, 0, 0),)), "at least two points"),
        (lambda: Pivot((1, 2, 3, 4)), "Pivot.at must be three numbers"),
    ],
)
def test_bad_shapes_are_refused(make, message):
    with pytest.raises(SceneError, match=message):
        make()


def nan_at(array, index):
    bad = np.array(array)
    bad[index] = np.nan
    return bad


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: body(position=nan_at(ORIGIN, (3, 1))), r'"a": position is not finite.*first in sample 3'),
        (lambda: body(rotation=nan_at(STILL, (2, 0, 0))), r'"a": rotation is not finite.*first in sample 2'),
        (lambda: body(position=np.zeros((K, 2))), r"position must have shape \(k, 3\), got \(5, 2\)"),
        (lambda: body(rotation=STILL[:3]), r"rotation must have shape \(5, 3, 3\)"),
        (lambda: body(rotation=1.01 * STILL), "rotation in sample 0 is not a rotation matrix"),
        (lambda: body(rotation=-STILL), "is not a rotation matrix"),
        (lambda: body(shapes=("rod",)), "is not a shape"),
        (lambda: scene(body(), t=T[:4]), 'body "a" has 5 poses, but t has 4 samples'),
        (lambda: scene(body(), t=T * 0), "t must increase"),
        (lambda: scene(body(), t=[]), "t is empty"),
        (lambda: scene(body(), t=nan_at(T, 1)), "t is not finite"),
        (lambda: scene(body(), body()), 'two bodies are named "a"'),
        (lambda: scene(bodies=()), "at least one body"),
        (lambda: scene(body("ground", position=ORIGIN + 1)), "identity pose"),
        (lambda: scene(body(), up=(0, 0, 0)), "up must not be the zero vector"),
        (lambda: scene(body(), series={"e": T[:2]}), r'series "e" must have shape \(5,\)'),
        (lambda: scene(body(), trace=("b", (0, 0, 0))), 'trace names a body "b"'),
        (lambda: SceneLink("rope", ORIGIN, ORIGIN), "choose one of spring, damper, string"),
        (lambda: SceneLink("spring", ORIGIN, ORIGIN[:2]), "spring: end must have shape"),
        (lambda: scene(body(), links=(SceneLink("spring", ORIGIN[:2], ORIGIN[:2]),)), "link 0"),
    ],
)
def test_bad_scenes_are_refused(make, message):
    with pytest.raises(SceneError, match=message):
        make()


def test_a_planar_scene_refuses_bodies_that_leave_the_plane():
    tilted = np.tile([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]], (K, 1, 1))
    with pytest.raises(SceneError, match="rotates out of the x-y plane"):
        scene(body(rotation=tilted))
    scene(body(rotation=tilted), planar=False)


def test_errors_are_pendula_errors():
    assert issubclass(SceneError, PendulaError)


def test_scenes_cannot_be_changed_from_outside():
    position = np.array(ORIGIN)
    made = body(position=position)
    position[0] = 7
    assert made.position[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        made.position[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"


def test_units_name_length_and_time():
    assert (bob().length_unit, bob().time_unit) == ("m", "s")
    assert (bob(units="ft-slug-s").length_unit, bob(units="SI").length_unit) == ("ft", "")


def test_normals_are_made_unit():
    assert Disc((0, 0, 0), (0, 0, 5), 1).normal == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        (Rod((0, 0, 0), (0, -1, 0), 0.1), (-0.1, -1.1, -0.1), (0.1, 0.1, 0.1)),
        (Ring((0, 0, 1), (0, 0, 1), 2), (-2, -2, 1), (2, 2, 1)),
        (Box((1, 0, 0), (2, 4, 6)), (0, -2, -3), (2, 2, 3)),
        (Polyline(((0, 0, 0), (1, 2, 3))), (0, 0, 0), (1, 2, 3)),
    ],
)
def test_extent_contains_the_shape(shape, low, high):
    points, pad = extent(shape)
    assert np.allclose(points.min(axis=0) - pad, low, atol=0.05)
    assert np.allclose(points.max(axis=0) + pad, high, atol=0.05)
