"""Mechanisms in motion for the tests of present: shaped like real runs, made without a simulation."""

from __future__ import annotations

import numpy as np

from pendula.present.player.motion import about, to_matrix, turns_about_z
from pendula.present.player.scene import Scene, SceneBody, SceneLink
from pendula.present.player.shapes import Disc, Pivot, Rod, Sphere

UPRIGHT = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # x-y plane of a chain to x-z plane of the world


def waves(links: int, t: np.ndarray, *, seed: int = 1, modes: int = 12, top: float = 6.0) -> np.ndarray:
    """Angles (k, links) of a chain that swings and whips: travelling waves up to ``top`` hertz."""
    rng = np.random.default_rng(seed)
    angle = np.zeros((t.size, links))
    along = np.linspace(0, 1, links)
    for hertz in np.linspace(0.4, top, modes):
        phase, number = rng.uniform(0, 2 * np.pi), rng.uniform(-4, 4)
        angle += (1.2 / hertz**0.7) * np.sin(2 * np.pi * (hertz * t[:, None] + number * along) + phase)
    return angle


def chain(links: int, *, samples: int = 500, duration: float = 10.0, spatial: bool = False, **more) -> Scene:
    t = np.linspace(0.0, duration, samples)
    angle = waves(links, t)
    length = 1.0 / links
    position = np.zeros((samples, 3))
    bodies = [SceneBody.fixed([Pivot()], samples)]
    for i in range(links):
        rotation = turns_about_z(angle[:, i])
        if spatial:
            rotation = turns_about_z(0.5 * t + 0.3 * np.sin(angle[:, i])) @ UPRIGHT @ rotation
        bodies.append(SceneBody(f"link {i + 1}", (Rod((0, 0, 0), (0, -length, 0)),), position, rotation))
        position = position + rotation @ np.array([0.0, -length, 0.0])
    title = more.pop("title", f"{links} links")
    return Scene(title, "m-kg-s", not spatial, t, tuple(bodies), **more)


def top(*, samples: int = 2000, spin: float = 60.0) -> Scene:
    t = np.linspace(0.0, 5.0, samples)
    tilt = to_matrix(about((1.0, 0.0, 0.0), 0.4 + 0.05 * np.cos(5 * t)))
    rotation = turns_about_z(0.9 * t) @ tilt @ turns_about_z(spin * t)
    shapes = (Rod((0, 0, 0), (0, 0, 0.16), 0.006), Disc((0, 0, 0.09), (0, 0, 1), 0.07))
    bodies = (SceneBody.fixed([Pivot()], samples), SceneBody("top", shapes, np.zeros((samples, 3)), rotation))
    return Scene("top", "m-kg-s", False, t, bodies, trace=("top", (0.07, 0.0, 0.09)))


def bob(**more) -> Scene:
    """One sphere on a spring: the smallest spatial scene with a link."""
    t = np.linspace(0.0, 2.0, 61)
    position = np.stack([0.1 * np.cos(3 * t), 0.1 * np.sin(3 * t), -1 + 0.2 * np.sin(5 * t)], axis=1)
    ball = SceneBody("ball", (Sphere((0, 0, 0), 0.05),), position, np.tile(np.eye(3), (t.size, 1, 1)))
    spring = SceneLink("spring", np.zeros((t.size, 3)), position)
    given = {"title": "bob", "units": "m-kg-s", "planar": False, "t": t, "links": (spring,)} | more
    return Scene(bodies=(SceneBody.fixed([Pivot()], t.size), ball), **given)
