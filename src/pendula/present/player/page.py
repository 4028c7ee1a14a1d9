"""Writes animations as one self-contained HTML page with the player and the motion.

The page is ``player.html`` of this folder with its placeholders filled in: the title, escaped as HTML, the player's
script (:mod:`pendula.present.web.bundle`), and the scene as JSON in a script element, escaped so that no name can end
that element. It opens from a file; its Content-Security-Policy permits no request and no script but its own.
"""

from __future__ import annotations

import dataclasses
import html
import json
import os
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from pendula.present.player.packing import MAX_FRAMES, Packed, encode, pack
from pendula.present.player.scene import Scene
from pendula.present.player.shapes import Array, Shape
from pendula.present.thinning import thinned
from pendula.present.web import bundle
from pendula.storage.files import write_text

SERIES_POINTS = 600
SIGNAL_LEVELS = 8192  # steps between the least and the largest value of a smooth signal
POINT_DIGITS = 12  # of shapes: far below a pixel, but short


def write_animation(scene: Scene, path: str | os.PathLike[str], *, max_frames: int = MAX_FRAMES) -> Path:
    """Writes the animation of a scene as one self-contained HTML page and returns its path.

    Args:
        scene: the scene.
        path: file to write; it is replaced if it exists.
        max_frames: upper bound on stored frames, see :func:`pendula.present.player.packing.pack`.
    """
    target = Path(path)
    write_text(target, animation_html(scene, max_frames=max_frames))
    return target


def animation_html(scene: Scene, *, max_frames: int = MAX_FRAMES) -> str:
    """The animation of a scene as the text of one self-contained HTML page.

    Every drawn point of a stored frame is accurate to 1/8000 of the longest side of the picture, a quarter of a pixel
    in a view 2000 pixels wide; between frames the page interpolates. Add ``#t=2.5`` to the address of the page to open
    it paused at that time.
    """
    return _player(title=html.escape(printable(scene.title)), scene=in_script(_record(scene, max_frames)))


def player_page() -> str:
    """The player's page with the placeholder ``{{scene}}``, for pages with several players."""
    return _player(title="Animation")


MOST_MARKS = 500
"""times of one event that a page marks"""
PLAYER = "player.js"
"""the entry module of the player's script"""


def _player(**parts: str) -> str:
    script = bundle.script(PLAYER)
    fixed = {"script": script, "policy": bundle.policy(script), "style": bundle.style("base.css", "player.css")}
    return bundle.page(read_template("player/player.html"), {**fixed, **parts})


def scene_json(scene: Scene, *, compact: str, max_frames: int = MAX_FRAMES) -> str:
    """A scene as JSON for ``player_page``; ``compact``: ``run``, ``mode`` or ``pose``, with decreasing controls."""
    return in_script({**_record(scene, max_frames), "compact": compact})


def read_template(name: str) -> str:
    """A template of this package (``player/player.html``) with its placeholders."""
    return resources.files("pendula.present").joinpath(*name.split("/")).read_text(encoding="utf-8")


def _record(scene: Scene, max_frames: int) -> dict[str, Any]:
    packed: Packed = pack(scene, max_frames=max_frames)
    bodies = []
    for body, turn, anchor in zip(scene.bodies, packed.turns, packed.anchors, strict=True):
        bodies.append(
            {
                "name": body.name,
                "ground": body.is_ground,
                "turn": turn.turn,
                "axis": turn.axis,
                "spin": turn.spin,
                "anchor": None if anchor is None else anchor.hinge,
                "shapes": [_shape(shape) for shape in body.shapes],
            }
        )
    return {
        "title": scene.title,
        "units": scene.units,
        "length": scene.length_unit,
        "time": scene.time_unit,
        "planar": scene.planar,
        "up": scene.up,
        "notes": [*scene.notes, *packed.notes],
        "samples": int(scene.t.size),
        "frames": packed.frames,
        "t0": packed.t0,
        "dt": packed.dt,
        "origin": packed.origin,
        "step": packed.step,
        "low": packed.low,
        "high": packed.high,
        "radius": packed.radius,
        "halfHeight": packed.half_height,
        "trace": None if packed.trace is None else {"body": packed.trace[0], "at": packed.trace[1]},
        "points": [{"name": name, "body": body, "at": _rounded(at, POINT_DIGITS)} for name, body, at in packed.points],
        "bodies": bodies,
        "hinges": [[[body, _rounded(at, POINT_DIGITS)] for body, at in h.parts] for h in packed.hinges],
        "links": [link.kind for link in scene.links],
        "spirals": [_fields(spiral) for spiral in scene.spirals],
        "signals": _signals(scene),
        "events": [{"name": event.name, "t": _rounded(event.t[:MOST_MARKS].tolist(), 9)} for event in scene.events],
        "rest": None if scene.rest is None else _pose(scene.rest),
        "speed": scene.speed,
        "series": [_series(name, scene.t, y) for name, y in scene.series.items()],
        "motion": packed.text,
    }


def _shape(shape: Shape) -> dict[str, Any]:
    return {"kind": shape.kind, **_fields(shape)}


def _fields(part: Any) -> dict[str, Any]:
    """The fields of a part of a scene, rounded."""
    values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return {name: v if isinstance(v, str) else _rounded(v, POINT_DIGITS) for name, v in values.items()}


def _pose(rest: Scene) -> dict[str, Any]:
    """The first sample of a scene, as the page gets poses."""
    poses = [
        {"p": _rounded(b.position[0].tolist(), 7), "R": _rounded(b.rotation[0].ravel().tolist(), 7)}
        for b in rest.bodies
    ]
    return {"poses": poses, "links": [_rounded([k.start[0].tolist(), k.end[0].tolist()], 7) for k in rest.links]}


def _signals(scene: Scene) -> dict[str, Any] | None:
    """All smooth signals as one packed text: whole numbers on equally spaced times."""
    if not scene.signals:
        return None
    times = np.linspace(scene.t[0], scene.t[-1], min(scene.t.size, SERIES_POINTS))
    groups, channels = [], []
    for group in scene.signals:
        lines = []
        for name, values in group.lines.items():
            y = np.interp(times, scene.t, values)
            low = float(f"{y.min():.8g}")
            step = float(f"{float(np.ptp(y)) / SIGNAL_LEVELS:.6g}") or 1.0
            channels.append(np.rint((y - low) / step).astype(np.int64))
            lines.append({"name": name, "low": low, "step": step})
        groups.append({"name": group.name, "up": group.label, "lines": lines})
    return {"count": times.size, "text": encode(channels), "groups": groups}


def _series(name: str, t: Array, y: Array) -> dict[str, Any]:
    t, y = thinned(t, y, SERIES_POINTS)
    even = t.size > 1 and float(np.ptp(np.diff(t))) <= 1e-6 * float(t[-1] - t[0])
    times = [float(t[0]), float(t[-1])] if even else t.tolist()  # of even times, the first and the last
    return {"name": name, "t": _rounded(times, 7), "y": _rounded(y.tolist(), 5)}


def _rounded(value: Any, digits: int) -> Any:
    if isinstance(value, (tuple, list)):
        return [_rounded(item, digits) for item in value]
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def in_script(record: Any) -> str:
    """JSON that is safe inside a script element: only ASCII, and none of < > &."""
    text = json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def printable(text: str) -> str:
    """Text that can be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
