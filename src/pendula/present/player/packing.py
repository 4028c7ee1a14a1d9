"""Packs poses into a short string: integers on a grid finer than a pixel, differences, deflate, base64.

The picture sets the grid. With L the longest side of the bounding box of everything drawn, every drawn point of every
frame is accurate to L / 8000: a quarter of a pixel in a view 2000 pixels wide. Body origins are rounded to L / 16384
along each axis; the steps of angles and quaternions depend on the reach of their body, so that short links take fewer
digits.

The position of a body attached to a hinge follows from its hinge and its rotation: only the difference from the grid
point so predicted is stored, which is mostly zero. Writer and reader both predict from rounded numbers, so errors do
not accumulate along a chain.

Stream, for each channel: one byte for the order of differences (0, 1, 2), then one number per frame, each in zigzag
encoding with seven bits per byte, low bits first. Channels: for each body angle x y, or i j k w, the spin if it is
separated, and x y z; then for each link the coordinates of both ends. For w, the scalar part of the quaternion, the
difference from the value that follows from the other three and its previous sign is stored.
"""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pendula.present.player.hinges import Anchor, Hinge, find_anchors, find_hinges
from pendula.present.player.motion import Motion, about, key_points, motion, multiply, to_matrix, turns_about_z, unit
from pendula.present.player.scene import Scene
from pendula.present.player.shapes import Array, Rod, SceneError, Shape, Vector, extent, tips

MAX_FRAMES = 600
MOST_POINTS = 40  # whose path can be chosen from a list; any other can be clicked
MAX_VALUES = 50_000_000
GRID = 1 / 16384  # step of positions, as a fraction of L; rounding moves a point by at most sqrt(3) / 2 of it
TURN_SHARE = 4e-5  # error allowed for the quaternion or angle, as a fraction of L
SPIN_SHARE = 2e-5  # error allowed for the spin
AXIS_DIGITS = 8  # of the axis of a spin; it need not be a unit vector to more than the picture shows
SMOOTH_TURN = 0.016  # [rad] coarsest step of angles, however short the body
# Grid points are floor(x + HALF); not 0.5, where exact data often lie and machines may differ.
HALF = 0.4937
STRAIGHT = 1e-3  # width of a path, relative to its length, below which it is a straight line
LEAST_MOTION = 1e-200  # size of a path [length unit] below which it is a point
FAST_MOTION = 0.01  # deviation of the shown motion from the samples, as a fraction of L, above which a note is added


@dataclass(frozen=True)
class TurnSteps:
    """Steps of one body: ``turn`` of its angle [rad] or quaternion; ``spin`` [rad] about ``axis`` if any."""

    turn: float
    axis: Vector | None = None
    spin: float | None = None


@dataclass(frozen=True, eq=False)
class Packed:
    """A packed motion for the page.

    Attributes:
        text: base64 of the deflated stream.
        size: L, longest side of the box [length].
        low, high: corners of the box around everything drawn [length].
        radius, half_height: of the upright cylinder about the middle of the box, for spatial views [length].
        trace: index of a body and the point in its axes whose path is shown, if any.
        points: points whose path can be chosen: their name, index of the body, and the point in its axes.
        notes: cautions about the frames.
    """

    text: str
    frames: int
    t0: float
    dt: float
    origin: Vector
    step: float
    turns: tuple[TurnSteps, ...]
    hinges: tuple[Hinge, ...]
    anchors: tuple[Anchor | None, ...]
    size: float
    low: Vector
    high: Vector
    radius: float
    half_height: float
    trace: tuple[int, Vector] | None
    points: tuple[tuple[str, int, Vector], ...]
    notes: tuple[str, ...]


def pack(scene: Scene, *, max_frames: int = MAX_FRAMES) -> Packed:
    """Quantizes and compresses the motion of a scene.

    Args:
        scene: the scene.
        max_frames: upper bound on stored frames; runs are also thinned to about 30 frames per unit of time
            (60 for up to 40 bodies), and the page interpolates smoothly between them.

    Raises:
        SceneError: the scene is too large for a page.
    """
    if max_frames < 2:
        raise SceneError(f"max_frames must be at least 2, got {max_frames}")
    values = len(scene.bodies) * min(max_frames, scene.t.size) * 8
    if values > MAX_VALUES:
        raise SceneError(f"the scene holds about {values} numbers, more than {MAX_VALUES}: use fewer frames")
    hinges = find_hinges(scene)
    anchors = find_anchors(scene, hinges)
    shown = motion(scene, anchors, max_frames)
    low, high, radius, half_height = box_of(scene, shown)
    size = float(np.max(high - low)) or 1.0
    step = size * GRID
    dims = 2 if scene.planar else 3

    channels: list[npt.NDArray[np.int64]] = []
    turns = []
    kept: list[tuple[Array, Array]] = []  # positions and rotations as the page will decode them
    for i, body in enumerate(scene.bodies):
        steps, rows, rotation = _pack_turn(shown, i, _reach(body.shapes), size)
        turns.append(steps)
        channels += rows
        grid = [_round((shown.position[:, i, d] - low[d]) / step) for d in range(dims)]
        guess = np.zeros((shown.t.size, 3))
        anchor = anchors[i]
        if anchor is not None:
            place, turned = kept[anchor.parent]
            place = place + turned @ np.asarray(anchor.there) - rotation @ np.asarray(anchor.here)
            guess = np.floor((place - low) / step + HALF)
        channels += [grid[d] - guess[:, d].astype(np.int64) for d in range(dims)]
        position = np.zeros_like(guess)
        position[:, :dims] = np.stack(grid, axis=1) * step + low[:dims]
        kept.append((position, rotation))
    for j in range(len(scene.links)):
        for end in (0, 3):
            channels += [_round((shown.links[:, j, end + d] - low[d]) / step) for d in range(dims)]

    n = shown.t.size
    trace = traced_point(scene, shown, hinges) if scene.traced else None
    return Packed(
        text=encode(channels),
        frames=n,
        t0=float(shown.t[0]),
        dt=float(shown.t[-1] - shown.t[0]) / (n - 1) if n > 1 else 0.0,
        origin=_vector(low),
        step=step,
        turns=tuple(turns),
        hinges=hinges,
        anchors=anchors,
        size=size,
        low=_vector(low),
        high=_vector(high),
        radius=radius,
        half_height=half_height,
        trace=trace,
        points=_points(scene, trace),
        notes=_notes(scene, shown, size),
    )


def _pack_turn(
    shown: Motion, i: int, reach: float, size: float
) -> tuple[TurnSteps, list[npt.NDArray[np.int64]], Array]:
    """Steps and channels of the rotation of one body, and the rotations as decoded."""
    room = size / reach if reach > 0 else np.inf
    if not shown.attitude:
        turn = _short(min(SMOOTH_TURN, 2 * TURN_SHARE * room))
        angle = _round(shown.angle[:, i] / turn)
        return TurnSteps(turn), [angle], turns_about_z(_values(angle, turn))
    # Errors of half a step in four components rotate the body by at most twice the step.
    turn = _short(min(SMOOTH_TURN / 4, TURN_SHARE * room / 2))
    attitude = shown.attitude[i]
    rows = [_round(attitude.quaternion[:, d] / turn) for d in range(4)]
    q = unit(_values(np.stack(rows, axis=1), turn))
    rows = [*rows[1:], rows[0] - _scalar_guess(rows, turn)]
    if attitude.axis is None or attitude.spin is None:
        return TurnSteps(turn), rows, to_matrix(q)
    step = _short(min(SMOOTH_TURN, 2 * SPIN_SHARE * room))
    spin = _round(attitude.spin / step)
    x, y, z = (round(component, AXIS_DIGITS) for component in attitude.axis)
    q = multiply(q, about((x, y, z), _values(spin, step)))
    return TurnSteps(turn, (x, y, z), step), [*rows, spin], to_matrix(q)


def _scalar_guess(rows: Sequence[npt.NDArray[np.int64]], turn: float) -> npt.NDArray[np.int64]:
    """The scalar part of unit length, with its sign in the previous frame (first: plus)."""
    w, i, j, k = rows
    size = np.floor(np.sqrt(np.maximum(0.0, 1 / turn**2 - (i * i + j * j + k * k))) + HALF).astype(np.int64)
    before = np.concatenate([[0], w[:-1]])
    return np.where(before < 0, -size, size)


def encode(channels: Sequence[npt.NDArray[np.int64]]) -> str:
    """Channels of integers as base64 text of a deflated byte stream."""
    pieces = []
    for values in channels:
        # Second differences are small for smooth motion, lower orders for rest or noise: take the cheapest.
        rows = [values]
        for order in (1, 2):
            row = rows[-1].copy()
            row[order:] = np.diff(rows[-1][order - 1 :])
            rows.append(row)
        cost = [float(np.log2(1.0 + np.abs(row)).sum()) for row in rows]
        order = int(np.argmin(cost))
        pieces += [bytes([order]), _bytes(rows[order])]
    return base64.b64encode(zlib.compress(b"".join(pieces), 9)).decode("ascii")


def _bytes(values: npt.NDArray[np.int64]) -> bytes:
    zigzag = np.where(values < 0, -2 * values - 1, 2 * values)
    groups = np.stack([(zigzag >> (7 * g)) & 127 for g in range(9)], axis=1)
    count = np.ones(len(values), dtype=int)
    for g in range(1, 9):
        count[zigzag >> (7 * g) > 0] = g + 1
    column = np.arange(9)
    more = column < count[:, None] - 1
    return bytes((groups | np.where(more, 128, 0))[column < count[:, None]].astype(np.uint8))


def _round(values: Array) -> npt.NDArray[np.int64]:
    # The page sums differences in doubles, exact up to 2^53; leave room for second differences.
    if np.abs(values).max(initial=0.0) > 2.0**50:
        raise SceneError("a pose lies too far from the picture to be drawn (more than 2^50 grid steps)")
    return np.rint(values).astype(np.int64)


def _short(step: float) -> float:
    """A step of few digits, which the page stores for every body."""
    return float(f"{step:.4g}")


def _values(grid: npt.NDArray[np.int64], step: float) -> Array:
    return np.asarray(grid * step, dtype=float)


def _reach(shapes: Sequence[Shape]) -> float:
    """Largest distance of a drawn point from the body origin."""
    distances = [0.0]
    for shape in shapes:
        points, pad = extent(shape)
        distances.append(float(np.linalg.norm(points, axis=1).max()) + pad)
    return max(distances)


def box_of(scene: Scene, shown: Motion) -> tuple[Array, Array, float, float]:
    """Bounding box of everything drawn in all frames, and the upright cylinder about its centre."""
    clouds: list[tuple[Array, float]] = [(shown.links.reshape(-1, 3), 0.0)] if scene.links else []
    for i, body in enumerate(scene.bodies):
        rotation = shown.rotations(i) if body.shapes else np.zeros((0, 3, 3))
        for shape in body.shapes:
            points, pad = extent(shape)
            world = shown.position[:, i, None, :] + np.einsum("nij,pj->npi", rotation, points)
            clouds.append((world.reshape(-1, 3), pad))
    if not clouds:
        clouds = [(shown.position.reshape(-1, 3), 0.0)]
    low = np.array([points.min(axis=0) - pad for points, pad in clouds]).min(axis=0)
    high = np.array([points.max(axis=0) + pad for points, pad in clouds]).max(axis=0)
    if scene.planar:
        low[2] = high[2] = 0.0
    up = np.asarray(scene.up) / np.linalg.norm(scene.up)
    middle = (low + high) / 2
    radius = half = 0.0
    for points, pad in clouds:
        height = (points - middle) @ up
        aside = points - middle - height[:, None] * up
        half = max(half, float(np.abs(height).max()) + pad)
        radius = max(radius, float(np.linalg.norm(aside, axis=1).max()) + pad)
    return low, high, radius, half


def traced_point(scene: Scene, shown: Motion, hinges: Sequence[Hinge]) -> tuple[int, Vector] | None:
    """The traced point: the requested one, else a free end, else the middle of a coupler.

    Free ends are tips of shapes outside of all hinges; of several, one whose path is not a straight line, of the last
    body, with the widest path. Without any, every tip is a hinge (a linkage): the middle of a rod between two moving
    bodies has the most instructive path.
    """
    if scene.trace is not None:
        return [body.name for body in scene.bodies].index(scene.trace[0]), scene.trace[1]
    ends = [(i, at) for i, body in enumerate(scene.bodies) if not body.is_ground for at in _tips(body.shapes)]
    joined = {part for hinge in hinges for part in hinge.parts}
    held = {part for hinge in hinges for part in hinge.parts if scene.bodies[hinge.parts[0][0]].is_ground}
    middles = [
        (i, _vector((np.asarray(shape.start) + np.asarray(shape.end)) / 2))
        for i, body in enumerate(scene.bodies)
        for shape in body.shapes
        if isinstance(shape, Rod) and {(i, shape.start), (i, shape.end)} <= joined - held
    ]
    free = [end for end in ends if end not in joined]
    candidates = (middles or free or ends) if _straight(shown, free) else free
    if not candidates:
        return None
    return max(candidates, key=lambda one: (not _straight(shown, [one]), one[0], *_rounded_width(shown, one)))


def _straight(shown: Motion, points: Sequence[tuple[int, Vector]]) -> bool:
    """Whether all these points move along straight lines, or not at all."""
    for point in points:
        path = _path(shown, point)
        path = path - path.mean(axis=0)
        size = np.abs(path).max(initial=0.0)
        spread = np.linalg.svd(path / size if size > LEAST_MOTION else 0.0 * path, compute_uv=False)
        if spread.size > 1 and spread[1] > STRAIGHT * spread[0]:
            return False
    return True


def _rounded_width(shown: Motion, point: tuple[int, Vector]) -> tuple[float, Vector]:
    """The width of a path to nine digits, and a choice between equal ones: tips of a rod that hangs from its middle."""
    return float(f"{np.linalg.norm(np.ptp(_path(shown, point), axis=0)):.9g}"), point[1]


def _path(shown: Motion, point: tuple[int, Vector]) -> Array:
    """The path of a point of a body through all frames."""
    i, at = point
    return np.asarray(shown.position[:, i] + shown.rotations(i) @ np.asarray(at))


def _tips(shapes: Sequence[Shape]) -> list[Vector]:
    return [point for shape in shapes for point in tips(shape)]


def _points(scene: Scene, trace: tuple[int, Vector] | None) -> tuple[tuple[str, int, Vector], ...]:
    """Points whose path can be chosen, the traced one first: those of the scene, or tips of the shapes."""
    index = {body.name: i for i, body in enumerate(scene.bodies)}
    named = {(index[body], at): label for label, body, at in scene.points}
    found = {trace: None} if trace is not None else {}
    found |= dict.fromkeys(named)
    if not named:
        found |= dict.fromkeys((i, at) for i, b in enumerate(scene.bodies) if not b.is_ground for at in _tips(b.shapes))
    listed = list(found)[:MOST_POINTS]
    counts = Counter(i for i, _ in listed)
    names, so_far = [], Counter[int]()
    for point in listed:
        i = point[0]
        so_far[i] += 1
        plain = scene.bodies[i].name
        if counts[i] > 1:
            plain += " end" if named else f", point {so_far[i]}"
        names.append(named.get(point, plain))
    return tuple((name, i, at) for name, (i, at) in zip(names, listed, strict=True))


def _notes(scene: Scene, shown: Motion, size: float) -> tuple[str, ...]:
    notes = []
    if shown.coarse:
        names = ", ".join(f'"{name}"' for name in shown.coarse[:3])
        names += f" and {len(shown.coarse) - 3} more" if shown.coarse[3:] else ""
        notes.append(f"Too few samples to determine the sense of rotation, which may be shown wrongly: {names}.")
    if shown.resampled:
        far = {}
        for i, body in enumerate(scene.bodies):
            points = [point for shape in body.shapes for point in extent(shape)[0]]
            if points and not body.is_ground:
                far[i] = np.asarray(max(points, key=lambda point: float(np.linalg.norm(point))))
        miss = max((float(np.abs(a - b).max()) for a, b in key_points(scene, shown, far)), default=0.0)
        if miss > FAST_MOTION * size:
            notes.append(
                f"The motion is faster than the {shown.t.size} frames kept of {scene.t.size} samples: "
                f"drawn points miss it by up to {100 * miss / size:.1f} % of the picture."
            )
    return tuple(notes)


def _vector(array: Array) -> Vector:
    return (float(array[0]), float(array[1]), float(array[2]))
