"""Films of a scene for slides: animated GIF or MP4, drawn frame by frame with Pillow.

Needs the extra ``video``: Pillow, and imageio-ffmpeg for MP4. The picture is that of the player, in plain colours: a
planar scene as it is, a spatial one from the player's first direction.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pendula.errors import NotSupported, UsageError
from pendula.present import refusals
from pendula.present.player import shapes as sh
from pendula.present.player.hinges import find_anchors, find_hinges
from pendula.present.player.motion import between, motion
from pendula.present.player.packing import MAX_FRAMES, box_of, traced_point
from pendula.present.player.scene import Scene, SceneBody
from pendula.present.player.shapes import Array
from pendula.present.player.springs import spiral, zigzag
from pendula.storage.files import check_writable, write_bytes

SUFFIXES = (".gif", ".mp4")
SIZE = {".gif": (640, 400), ".mp4": (1280, 800)}
RATE = {".gif": 25, ".mp4": 30}
"""frames per second"""
MOST_FRAMES = 3000
FINE = 2
"""pixels drawn for each pixel of the film, along both axes"""
AZIMUTH, ELEVATION = -0.62, 0.33  # [rad] as in web/camera.js
RAMP = np.array([[47, 79, 196], [116, 70, 194], [184, 63, 150], [226, 88, 95], [240, 138, 60], [243, 185, 58]])
INK, METAL, GRID, MUTED = (29, 36, 48), (122, 132, 148), (226, 230, 236), (95, 107, 125)


def write_film(scene: Scene, path: str | os.PathLike[str]) -> Path:
    """Writes a scene as a film, .gif or .mp4, and returns its path; ``scene.speed`` sets the pace.

    Raises:
        NotSupported: Pillow or imageio-ffmpeg is not installed, or the film would have too many frames.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f'a film is a file that ends in .gif or .mp4, found "{target.name}"')
    needed("PIL")
    check_writable(target)
    span = float(scene.t[-1] - scene.t[0]) / scene.speed
    count = max(2, round(span * RATE[suffix]) + 1)
    if count > MOST_FRAMES:
        raise NotSupported(refusals.FILM_FRAMES, span=span, frames=count, most=MOST_FRAMES)
    drawing = _Film(scene, count, SIZE[suffix])
    write = _gif if suffix == ".gif" else _mp4
    write(drawing.frames(), target, SIZE[suffix])
    return target


def needed(name: str) -> Any:
    """A package of the extra ``video``.

    Raises:
        NotSupported: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        package = {"PIL": "pillow", "imageio_ffmpeg": "imageio-ffmpeg"}[name.partition(".")[0]]
        raise NotSupported(refusals.FILM_PACKAGE, package=package) from None


def _gif(frames: Iterator[Any], target: Path, size: tuple[int, int]) -> None:
    first, *others = (frame.quantize(96, dither=0) for frame in frames)
    held = io.BytesIO()
    pause = round(1000 / RATE[".gif"])
    first.save(held, "GIF", save_all=True, append_images=others, duration=pause, loop=0, optimize=False)
    write_bytes(target, held.getvalue())


def _mp4(frames: Iterator[Any], target: Path, size: tuple[int, int]) -> None:
    ffmpeg = needed("imageio_ffmpeg")
    with tempfile.TemporaryDirectory() as folder:
        unfinished = Path(folder, "film.mp4")
        writer = ffmpeg.write_frames(str(unfinished), size, fps=RATE[".mp4"], quality=7, macro_block_size=8)
        writer.send(None)
        for frame in frames:
            writer.send(frame.tobytes())
        writer.close()
        write_bytes(target, unfinished.read_bytes())


class _Film:
    """All frames of a scene, drawn one after the other."""

    def __init__(self, scene: Scene, count: int, size: tuple[int, int]) -> None:
        self.scene, self.count = scene, count
        self.width, self.height = (FINE * n for n in size)
        hinges = find_hinges(scene)
        shown = motion(scene, find_anchors(scene, hinges), MAX_FRAMES)
        low, high, radius, half = box_of(scene, shown)
        self.extent = float(np.max(high - low)) or 1.0
        self.middle = (low + high) / 2
        self._aim(low, high, radius, half)
        at = np.linspace(0.0, max(0.0, shown.t.size - 1.0), count)
        self.t = np.interp(at, np.arange(shown.t.size), shown.t)
        self.position = between(shown.position, at)
        self.links = between(shown.links, at)
        self.rotation = [shown.rotations(i, at) for i in range(len(scene.bodies))]
        self.trace = traced_point(scene, shown, hinges) if scene.traced else None
        self.hinges = [hinge.parts[0] for hinge in hinges]
        moving = [i for i, body in enumerate(scene.bodies) if not body.is_ground]
        along = 0.9 * np.linspace(0.0, 1.0, len(moving)) if len(moving) > 1 else [0.08]
        self.colors = {i: _ramp(float(f)) for i, f in zip(moving, along, strict=True)}

    def _aim(self, low: Array, high: Array, radius: float, half: float) -> None:
        """The directions of the picture and its scale, so that everything fits."""
        self.right, self.over, self.toward = np.eye(3)
        wide, tall = (high[0] - low[0]) / 2, (high[1] - low[1]) / 2
        if not self.scene.planar:
            up = np.asarray(self.scene.up) / np.linalg.norm(self.scene.up)
            aside = np.eye(3)[0] - up[0] * up
            first = aside if np.abs(aside).max() > 0.3 else np.eye(3)[1] - up[1] * up
            first = first / np.linalg.norm(first)
            second = np.cross(up, first)
            deep = np.sin(AZIMUTH) * first + np.cos(AZIMUTH) * second
            self.right = np.cos(AZIMUTH) * first - np.sin(AZIMUTH) * second
            self.over = np.cos(ELEVATION) * up + np.sin(ELEVATION) * deep
            self.toward = np.sin(ELEVATION) * up - np.cos(ELEVATION) * deep
            wide, tall = radius, half * np.cos(ELEVATION) + radius * np.sin(ELEVATION)
        pad, least = 0.1 * self.height, 0.02 * self.extent
        self.scale = min(
            (self.width - 2 * pad) / (2 * max(wide, least)), (self.height - 2 * pad) / (2 * max(tall, least))
        )

    def show(self, points: Array) -> Array:
        """World points as x, y in pixels and depth towards the eye."""
        away = np.asarray(points) - self.middle
        x = self.width / 2 + self.scale * (away @ self.right)
        y = self.height / 2 - self.scale * (away @ self.over)
        return np.stack([x, y, away @ self.toward], axis=-1)

    def frames(self) -> Iterator[Any]:
        """Every frame as a picture of Pillow."""
        image, draw = needed("PIL.Image"), needed("PIL.ImageDraw")
        for k in range(self.count):
            picture = image.new("RGB", (self.width, self.height), "white")
            pen = draw.Draw(picture)
            self._background(pen)
            self._trail(pen, k)
            pieces: list[tuple[float, Any]] = []
            for j, link in enumerate(self.scene.links):
                ends = self.show(self.links[k, j].reshape(2, 3))
                pieces.append((float(ends[:, 2].mean()), _Link(ends[:, :2], link.kind, self.line(0.014))))
            for i, body in enumerate(self.scene.bodies):
                pieces += self._body(i, body, k)
            for one in self.scene.spirals:
                outer, inner = ((self.position[k, i], self.rotation[i][k]) for i in (one.outer, one.inner))
                px = self.show(spiral(one, (outer, inner), 0.03 * self.extent))
                pieces.append((self.extent + float(px[:, 2].mean()), _Stroke(px[:, :2], METAL, 2 * FINE)))
            for _, piece in sorted(pieces, key=lambda one: one[0]):
                piece(pen)
            self._words(pen, k)
            yield picture.reduce(FINE)

    def line(self, share: float) -> float:
        """A width in pixels from a share of the extent of the scene."""
        return max(2.0 * FINE, share * self.extent * self.scale)

    def place(self, i: int, k: int, points: Array) -> Array:
        """Points of a body in pixels."""
        return self.show(self.position[k, i] + np.asarray(points) @ self.rotation[i][k].T)

    def _body(self, i: int, body: SceneBody, k: int) -> list[tuple[float, Any]]:
        found: list[tuple[float, Any]] = []
        color = METAL if body.is_ground else self.colors[i]
        for shape in body.shapes:
            px = self.place(i, k, sh.extent(shape)[0])
            depth = 0.0 if self.scene.planar else float(px[:, 2].mean())
            match shape:
                case sh.Rod():
                    found.append((depth, _Stroke(px[:, :2], color, 2 * max(1.5 * FINE, self._radius(shape)))))
                case sh.Point() | sh.Sphere():
                    size = shape.radius or 0.022 * self.extent
                    found.append((depth + 1e-3, _Dot(px[0, :2], max(3.0 * FINE, size * self.scale), color)))
                case sh.Pivot() if body.is_ground:
                    found.append((depth - 3 * self.extent if self.scene.planar else depth, self._support(px[0], shape)))
                case sh.Pivot():
                    found.append((depth + self.extent, _Dot(px[0, :2], self.line(0.009), (255, 255, 255))))
                case sh.Ring():
                    found.append((depth, _Stroke(np.vstack([px, px[:1]])[:, :2], color, self.line(0.012))))
                case sh.Polyline():
                    found.append((depth - self.extent, _Stroke(px[:, :2], color, self.line(0.004))))
                case sh.Disc() | sh.Box():
                    found.append((depth, _Patch(_hull(px[:, :2]), color)))
                case _:
                    raise NotSupported(refusals.FILM_SHAPE, kind=shape.kind)
        for index, at in self.hinges:
            if index == i and self.scene.planar and not body.is_ground:
                px = self.place(i, k, np.array([at]))
                found.append((self.extent, _Dot(px[0, :2], self.line(0.006), (255, 255, 255))))
        return found

    def _radius(self, shape: sh.Rod) -> float:
        length = float(np.linalg.norm(np.subtract(shape.end, shape.start)))
        return (shape.radius or min(0.0105 * self.extent, 0.13 * length or self.extent)) * self.scale

    def _support(self, at: Array, shape: sh.Pivot) -> Any:
        sign = 1 if shape.side == "below" else -1
        u = 0.02 * self.height
        base = at[1] + sign * 1.35 * u
        corners = [(at[0], at[1]), (at[0] - 0.85 * u, base), (at[0] + 0.85 * u, base)]

        def draw(pen: Any) -> None:
            pen.polygon(corners, fill=(226, 229, 234), outline=METAL)
            pen.line([(at[0] - 1.5 * u, base), (at[0] + 1.5 * u, base)], fill=METAL, width=2 * FINE)
            _Dot(at[:2], 0.35 * u, (255, 255, 255))(pen)

        return draw

    def _background(self, pen: Any) -> None:
        if not self.scene.planar:
            return
        step = 10.0 ** np.floor(np.log10(200 * FINE / self.scale))
        low = self.middle[:2] - np.array([self.width, self.height]) / (2 * self.scale)
        high = 2 * self.middle[:2] - low
        for axis in (0, 1):
            for value in step * np.arange(np.ceil(low[axis] / step), np.floor(high[axis] / step) + 1):
                ends = np.array([[*low, 0.0], [*high, 0.0]])
                ends[:, axis] = value
                pen.line([(float(x), float(y)) for x, y, _ in self.show(ends)], fill=GRID, width=FINE)

    def _trail(self, pen: Any, k: int) -> None:
        if self.trace is None or k < 1:
            return
        i, at = self.trace
        path = self.position[: k + 1, i] + self.rotation[i][: k + 1] @ np.asarray(at)
        dark = tuple(int(0.75 * c) for c in self.colors[i])
        _Stroke(self.show(path)[:, :2], dark, 1.6 * FINE)(pen)

    def _words(self, pen: Any, k: int) -> None:
        text = f"{self.scene.title}   t = {self.t[k]:.2f} {self.scene.time_unit}".rstrip()
        pen.text(
            (12 * FINE, 8 * FINE), text.encode("latin-1", "replace").decode("latin-1"), fill=MUTED, font_size=13 * FINE
        )


class _Stroke:
    """A line with round ends and joins."""

    def __init__(self, points: Array, color: tuple[int, ...], width: float) -> None:
        self.points, self.color, self.width = points, color, width

    def __call__(self, pen: Any) -> None:
        places = [(float(x), float(y)) for x, y in self.points]
        pen.line(places, fill=self.color, width=max(1, round(self.width)), joint="curve")
        for x, y in (places[0], places[-1]):
            r = self.width / 2
            pen.ellipse((x - r, y - r, x + r, y + r), fill=self.color)


class _Dot:
    def __init__(self, at: Array, radius: float, color: tuple[int, ...]) -> None:
        self.at, self.radius, self.color = at, radius, color

    def __call__(self, pen: Any) -> None:
        x, y, r = float(self.at[0]), float(self.at[1]), self.radius
        pen.ellipse((x - r, y - r, x + r, y + r), fill=self.color, outline=INK, width=FINE)


class _Patch:
    def __init__(self, corners: Array, color: tuple[int, ...]) -> None:
        self.corners, self.color = corners, color

    def __call__(self, pen: Any) -> None:
        pen.polygon([(float(x), float(y)) for x, y in self.corners], fill=self.color, outline=INK, width=FINE)


class _Link:
    """A spring as a zigzag; a damper or string as a line."""

    def __init__(self, ends: Array, kind: str, width: float) -> None:
        self.ends, self.kind, self.width = ends, kind, width

    def __call__(self, pen: Any) -> None:
        a, b = self.ends
        points = zigzag(a, b, self.width) if self.kind == "spring" else [a, b]
        pen.line([(float(x), float(y)) for x, y in points], fill=METAL, width=2 * FINE, joint="curve")


def _hull(points: Array) -> Array:
    """The convex hull of points in the plane (Andrew's monotone chain)."""
    ordered = sorted({(float(x), float(y)) for x, y in points})

    def half(source: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for p in source:
            while len(kept) > 1:
                (ax, ay), (bx, by) = kept[-2:]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0:
                    break
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array([*half(ordered), *half(ordered[::-1])] or ordered)


def _ramp(f: float) -> tuple[int, ...]:
    """The colour of a body along a chain, as in web/colours.js, without its correction for the eye."""
    at = np.clip(f, 0.0, 1.0) * (len(RAMP) - 1)
    return tuple(round(float(np.interp(at, np.arange(len(RAMP)), RAMP[:, c]))) for c in range(3))
