"""The mechanism at several times in one picture, like a stroboscopic photograph."""

from __future__ import annotations

from typing import Any

import numpy as np

from pendula.errors import NotSupported
from pendula.present import refusals
from pendula.present.pictures.blank import blank_figure
from pendula.present.player import shapes as sh
from pendula.present.player.scene import Scene, SceneBody
from pendula.present.player.springs import spiral, zigzag

Array = Any


def plot_frames(scene: Scene, *, count: int = 12, dpi: float = 120) -> Any:
    """A figure of the mechanism at equally spaced times, older ones paler.

    Spatial mechanisms are shown along y, with ``up`` of the scene upwards.
    """
    figure = blank_figure(8.0, 4.6, dpi=dpi)
    from matplotlib import colormaps

    axes = figure.add_subplot(aspect="equal", adjustable="datalim")
    colors = colormaps["plasma"]
    chosen = np.unique(np.linspace(0, len(scene.t) - 1, count).astype(int))
    moving = [b for b in scene.bodies if not b.is_ground]
    for rank, k in enumerate(chosen):
        strength = 0.12 + 0.88 * (rank + 1) / len(chosen)
        for i, body in enumerate(moving):
            color = colors(0.08 + 0.8 * i / max(1, len(moving) - 1))
            draw_body(axes, scene, body, int(k), color, strength)
        draw_springs(axes, scene, int(k), strength)
    for body in scene.bodies:
        if body.is_ground:
            draw_body(axes, scene, body, 0, "#333333", 1.0)
    length, time = scene.units.split("-")[0], scene.units.split("-")[-1]
    axes.set_title(f"{scene.title}: t = {scene.t[0]:g} to {scene.t[-1]:g} {time}", loc="left", fontsize=11)
    axes.set_xlabel(f"[{length}]")
    axes.grid(color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


def _flat(scene: Scene, points: Array) -> Array:
    """Points in the plane of the picture."""
    if scene.planar:
        return points[..., :2]
    up = np.array(scene.up) / np.linalg.norm(scene.up)
    side = np.cross([0.0, 1.0, 0.0], up)
    side = side / np.linalg.norm(side) if np.linalg.norm(side) > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.stack([points @ side, points @ up], axis=-1)


def draw_body(axes: Any, scene: Scene, body: SceneBody, k: int, color: Any, strength: float) -> None:
    """Draws one body of a scene at sample k; ``strength`` from 0 (invisible) to 1."""
    for shape in body.shapes:
        world = np.array([body.position[k] + body.rotation[k] @ np.array(p) for p in outline(shape)])
        flat = _flat(scene, world)
        if len(flat) == 1:
            mark = "^" if isinstance(shape, sh.Pivot) else "o"
            axes.plot(*flat[0], mark, color=color, alpha=strength, markersize=7)
        else:
            width = 3.0 if isinstance(shape, sh.Rod) else 1.4
            line = {"color": color, "alpha": strength, "linewidth": width, "solid_capstyle": "round"}
            axes.plot(flat[:, 0], flat[:, 1], "-", **line)


def draw_springs(axes: Any, scene: Scene, k: int, strength: float) -> None:
    """Draws springs, dampers and strings of a scene at sample k."""
    moving = [body.position for body in scene.bodies] + [end for link in scene.links for end in (link.start, link.end)]
    size = float(np.max(np.ptp(np.concatenate(moving), axis=0))) or 1.0
    lines = []
    for link in scene.links:
        ends = _flat(scene, np.array([link.start[k], link.end[k]]))
        lines.append(zigzag(ends[0], ends[1], 0.02 * size) if link.kind == "spring" else ends)
    lines += [_flat(scene, spiral(one, one.ends(scene.bodies, k), 0.05 * size)) for one in scene.spirals]
    for line in lines:
        axes.plot(line[:, 0], line[:, 1], "-", color="#5b6472", alpha=strength, linewidth=1.1, zorder=2.5)


def outline(shape: sh.Shape) -> Array:
    """Points of the outline of a shape, in body axes."""
    match shape:
        case sh.Rod(start=start, end=end):
            return np.array([start, end])
        case sh.Polyline(points=points):
            return np.array(points)
        case sh.Disc() | sh.Ring():
            circle = sh.extent(shape)[0]
            return np.vstack([circle, circle[:1]])
        case sh.Box(center=center, size=size):
            x, y = size[0] / 2, size[1] / 2
            corners = np.array([[-x, -y, 0], [x, -y, 0], [x, y, 0], [-x, y, 0], [-x, -y, 0]])
            return corners + np.array(center)
        case sh.Point(at=place) | sh.Pivot(at=place) | sh.Sphere(center=place):
            return np.array([place])
    raise NotSupported(refusals.OUTLINE, kind=shape.kind)
