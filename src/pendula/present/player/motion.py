"""Poses over time as smooth channels on an even grid of frames, which the player interpolates.

    planar body    x y angle                 planar link    x y of start, x y of end
    spatial body   x y z, quaternion, spin   spatial link   x y z of start, x y z of end

Angles are unwrapped at the samples of the run, so that a fast wheel keeps its turns when frames are dropped. For a
spatial body that spins quickly, the rotation is factored as R = S Rot(axis, spin), where S follows the body without the
rotation about its main spin axis (a rotation-minimizing frame), so S is slow. Bodies joined by hinges are resampled by
their rotations and reattached, so that no link comes apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pendula.present.player.hinges import Anchor
from pendula.present.player.scene import Scene
from pendula.present.player.shapes import Array, Vector

FRAMES_PER_TIME = 30.0  # frames per unit of time (per second) when there are many bodies
FRAMES_PER_TIME_FEW = 60.0
FEW_PLANAR, FEW_SPATIAL = 120, 40  # bodies up to which frames cost little
SHORT_RUN_FRAMES = 300  # short runs are often watched in slow motion: keep at least these
SPIN_TURN = 0.35  # [rad] rotation per frame above which the spin is separated
COARSE_TURN = 2.0  # [rad] rotation between two samples above which its sense is uncertain


@dataclass(frozen=True, eq=False)
class Attitude:
    """Rotation of one spatial body: quaternions (n, 4) scalar first, and the spin about ``axis`` if separated."""

    quaternion: Array
    axis: Vector | None = None
    spin: Array | None = None


@dataclass(frozen=True, eq=False)
class Motion:
    """All poses at the frame times ``t``; ``angle`` for planar scenes, ``attitude`` for spatial ones.

    Attributes:
        position: (n, bodies, 3) body origins [length].
        angle: (n, bodies) unwrapped angles about z [rad]; empty for spatial scenes.
        attitude: one entry per body; empty for planar scenes.
        links: (n, links, 6) start and end points [length].
        resampled: whether frames differ from the samples given.
        coarse: names of bodies that rotate too far between two samples to determine the sense.
    """

    t: Array
    position: Array
    angle: Array
    attitude: tuple[Attitude, ...]
    links: Array
    resampled: bool
    coarse: tuple[str, ...]

    def rotations(self, body: int, at: Array | None = None) -> Array:
        """R_WB of one body, (n, 3, 3): at every frame, or as the player shows it at fractional frame numbers ``at``."""

        def shown(values: Array) -> Array:
            return values if at is None else between(values, at)

        if not self.attitude:
            return turns_about_z(shown(self.angle[:, body]))
        attitude = self.attitude[body]
        q = attitude.quaternion if at is None else unit(shown(attitude.quaternion))
        if attitude.axis is not None and attitude.spin is not None:
            q = multiply(q, about(attitude.axis, shown(attitude.spin)))
        return to_matrix(q)


def turns_about_z(angle: Array) -> Array:
    """Rotation matrices (n, 3, 3) of planar angles."""
    c, s = np.cos(angle), np.sin(angle)
    z, one = np.zeros_like(c), np.ones_like(c)
    return np.stack([c, -s, z, s, c, z, z, z, one], axis=1).reshape(-1, 3, 3)


def frame_times(scene: Scene, max_frames: int) -> Array:
    """Even times of the frames: the samples themselves if they are even and few enough."""
    t = scene.t
    span = float(t[-1] - t[0])
    if t.size == 1:
        return t
    few = len(scene.bodies) <= (FEW_PLANAR if scene.planar else FEW_SPATIAL)
    rate = FRAMES_PER_TIME_FEW if few else FRAMES_PER_TIME
    wanted = min(max_frames, max(SHORT_RUN_FRAMES, int(np.ceil(rate * span)) + 1))
    even = float(np.ptp(np.diff(t))) <= 1e-6 * span / (t.size - 1)
    if even and t.size <= wanted:
        return t
    return np.linspace(t[0], t[-1], max(2, wanted if not even else min(wanted, t.size)))


def motion(scene: Scene, anchors: Sequence[Anchor | None], max_frames: int) -> Motion:
    """Poses of a scene on an even grid of at most ``max_frames`` frames."""
    t = frame_times(scene, max_frames)
    ends = [np.concatenate([link.start, link.end], axis=1) for link in scene.links]
    links = np.stack(ends, axis=1) if ends else np.zeros((scene.t.size, 0, 6))
    angle = np.zeros((t.size, 0))
    attitude: tuple[Attitude, ...] = ()
    coarse = []
    if scene.planar:
        raw = [np.unwrap(np.arctan2(b.rotation[:, 1, 0], b.rotation[:, 0, 0])) for b in scene.bodies]
        given = np.stack(raw, axis=1)
        turn = np.abs(np.diff(given, axis=0)).max(axis=0, initial=0.0)
        coarse = [body.name for body, a in zip(scene.bodies, turn, strict=True) if a > COARSE_TURN]
        angle = resample(scene.t, given, t)
    else:
        items = []
        for body in scene.bodies:
            item, turn_max = _attitude(scene.t, body.rotation, t)
            items.append(item)
            if turn_max > COARSE_TURN:
                coarse.append(body.name)
        attitude = tuple(items)
    shown = Motion(
        t=t,
        position=np.stack([resample(scene.t, body.position, t) for body in scene.bodies], axis=1),
        angle=angle,
        attitude=attitude,
        links=resample(scene.t, links, t),
        resampled=t is not scene.t,
        coarse=tuple(coarse),
    )
    return _together(scene, anchors, shown) if shown.resampled else shown


def _together(scene: Scene, anchors: Sequence[Anchor | None], shown: Motion) -> Motion:
    """The same motion with the position of every anchored body computed from its hinge and its rotation."""
    position = shown.position.copy()
    for i, (body, anchor) in enumerate(zip(scene.bodies, anchors, strict=True)):
        if anchor is None:
            continue
        parent, there, here = scene.bodies[anchor.parent], np.asarray(anchor.there), np.asarray(anchor.here)
        gap = body.position + body.rotation @ here - parent.position - parent.rotation @ there
        held = position[:, anchor.parent] + shown.rotations(anchor.parent) @ there
        position[:, i] = held - shown.rotations(i) @ here + resample(scene.t, gap, shown.t)
    return replace(shown, position=position)


def _attitude(t: Array, rotation: Array, frames: Array) -> tuple[Attitude, float]:
    q = to_quaternion(rotation)
    if len(q) == 1:
        return Attitude(q), 0.0
    # Rotation vectors from sample to sample, in body axes.
    step = multiply(q[:-1] * (1, -1, -1, -1), q[1:])
    sine = np.linalg.norm(step[:, 1:], axis=1)
    turn = 2 * np.arctan2(sine, step[:, 0])
    vectors = step[:, 1:] * np.where(sine > 0, turn / np.where(sine > 0, sine, 1.0), 0.0)[:, None]
    per_frame = turn.sum() / max(1, len(frames) - 1)
    turn_max = float(turn.max())
    if max(per_frame, turn_max) < SPIN_TURN:
        return Attitude(unit(resample(t, q, frames))), turn_max
    axis = np.linalg.eigh(vectors.T @ vectors)[1][:, -1]
    spin = np.concatenate([[0.0], np.cumsum(vectors @ axis)])
    along: Vector = (float(axis[0]), float(axis[1]), float(axis[2]))
    slow = _continuous(multiply(q, about(along, -spin)))
    return Attitude(unit(resample(t, slow, frames)), along, resample(t, spin, frames)), turn_max


def resample(t: Array, y: Array, frames: Array) -> Array:
    """Values at other times by cubic Hermite interpolation with slopes from neighbouring samples."""
    if frames is t or t.size == 1:
        return y
    slope = np.gradient(y, t, axis=0, edge_order=2 if t.size > 2 else 1)
    i = np.clip(np.searchsorted(t, frames, side="right") - 1, 0, t.size - 2)
    h = (t[i + 1] - t[i]).reshape(-1, *[1] * (y.ndim - 1))
    s = ((frames - t[i]) / (t[i + 1] - t[i])).reshape(h.shape)
    value: Array = (
        (1 + 2 * s) * (1 - s) ** 2 * y[i]
        + s**2 * (3 - 2 * s) * y[i + 1]
        + h * s * (1 - s) * ((1 - s) * slope[i] - s * slope[i + 1])
    )
    return value


def between(y: Array, s: Array) -> Array:
    """Values that the player shows at fractional frame numbers ``s``: a Catmull-Rom spline through the frames."""
    n = len(y)
    if n < 3:
        j = np.clip(np.floor(s).astype(int), 0, max(0, n - 2))
        f = (s - j).reshape(-1, *[1] * (y.ndim - 1))
        return np.asarray(y[j] + f * (y[np.minimum(j + 1, n - 1)] - y[j]))
    # One frame beyond each end, by quadratic extrapolation.
    first, last = 3 * y[:1] - 3 * y[1:2] + y[2:3], 3 * y[-1:] - 3 * y[-2:-1] + y[-3:-2]
    p = np.concatenate([first, y, last])
    j = np.clip(np.floor(s).astype(int), 0, n - 2)
    f = (s - j).reshape(-1, *[1] * (y.ndim - 1))
    return np.asarray(
        p[j] * (-0.5 * f + f**2 - 0.5 * f**3)
        + p[j + 1] * (1 - 2.5 * f**2 + 1.5 * f**3)
        + p[j + 2] * (0.5 * f + 2 * f**2 - 1.5 * f**3)
        + p[j + 3] * (-0.5 * f**2 + 0.5 * f**3)
    )


def key_points(scene: Scene, shown: Motion, reach: dict[int, Array]) -> Iterator[tuple[Array, Array]]:
    """Chosen body points in world axes: at the given samples, and as the player shows them at those times."""
    t = shown.t
    pick = np.unique(np.linspace(0, scene.t.size - 1, min(scene.t.size, 1500)).astype(int))
    span = float(t[-1] - t[0])
    s = (scene.t[pick] - t[0]) / span * (t.size - 1) if span > 0 else np.zeros(pick.size)
    position = between(shown.position, s)
    for index, point in reach.items():
        body = scene.bodies[index]
        drawn = position[:, index] + shown.rotations(index, s) @ point
        yield body.position[pick] + body.rotation[pick] @ point, drawn


# --- quaternions, scalar first ---------------------------------------------------------------------


def to_quaternion(rotation: Array) -> Array:
    """Unit quaternions of rotation matrices (k, 3, 3), with signs chosen to make them continuous."""
    r = rotation
    trace = r[:, 0, 0] + r[:, 1, 1] + r[:, 2, 2]
    size = np.stack([trace, r[:, 0, 0], r[:, 1, 1], r[:, 2, 2]], axis=1)
    a, b, c = r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]
    d, e, f = r[:, 1, 0] + r[:, 0, 1], r[:, 0, 2] + r[:, 2, 0], r[:, 2, 1] + r[:, 1, 2]
    w, x, y, z = (1 + trace, *(1 + 2 * size[:, i] - trace for i in (1, 2, 3)))
    # Four formulas for the same quaternion; the one with the largest divisor is accurate.
    ways = np.stack([[w, a, b, c], [a, x, d, e], [b, d, y, f], [c, e, f, z]]).transpose(2, 0, 1)
    return _continuous(unit(ways[np.arange(len(r)), np.argmax(size, axis=1)]))


def to_matrix(q: Array) -> Array:
    """Rotation matrices (k, 3, 3) of unit quaternions (k, 4)."""
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def multiply(p: Array, q: Array) -> Array:
    """Products of quaternions, row by row."""
    scalar = p[:, 0] * q[:, 0] - (p[:, 1:] * q[:, 1:]).sum(axis=1)
    vector = p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])
    return np.concatenate([scalar[:, None], vector], axis=1)


def about(axis: Vector, angle: Array) -> Array:
    """Quaternions of rotations by ``angle`` about a unit axis."""
    return np.concatenate([np.cos(angle / 2)[:, None], np.sin(angle / 2)[:, None] * np.asarray(axis)], axis=1)


def unit(q: Array) -> Array:
    """Quaternions scaled to length one."""
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))


def _continuous(q: Array) -> Array:
    flips = np.where((q[1:] * q[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    return np.asarray(q * np.concatenate([[1.0], np.cumprod(flips)])[:, None])
