"""Singularities of the coordinates of an orientation: found from the rank of the velocity map, described in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pendula.model.joints.orientation import QUATERNION, ROTATION_VECTOR, Chart, chart_named
from pendula.system.layout import Array, Layout, Oriented
from pendula.system.orientation import maps as ori
from pendula.system.orientation.conversion import body_rate

GRID = 24
"""angles in one turn at which the rank of the velocity map is examined"""
LOOKS = 9
"""points of a step at which the distance is computed"""
CLOSER = 12
"""how often the nearest part of a run is refined"""
FLAT = 1e-9
"""a determinant of the velocity map below this is zero"""


@dataclass(frozen=True)
class Singularity:
    """Where the coordinates of an orientation are singular.

    Attributes:
        joint: name of the joint.
        coordinate: the coordinate that makes them singular; empty for the length of a rotation vector.
        values: its values there, within one turn [rad].
        words: "theta = 0 or 180 deg".
        lost: the coordinates whose rates are not determined there.

    Example:
        >>> import pendula
        >>> pendula.simulate("spatial-rod", 0.1).nearest_singularity.singularity.lost
        ('phi', 'psi')
    """

    joint: str
    coordinate: str
    values: tuple[float, ...]
    words: str
    lost: tuple[str, ...]

    @property
    def text(self) -> str:
        """A sentence without a full stop."""
        return f'the coordinates of joint "{self.joint}" are singular at {self.words}'


def singular_values_of(chart: Chart) -> tuple[int, tuple[float, ...]]:
    """The coordinate that makes a chart singular and its values in one turn, from the rank of the velocity map L.

    For three angles det L depends on one of them alone. For a rotation vector (-1) the values are lengths.

    Example:
        >>> from pendula.model.joints.orientation import chart_named
        >>> index, values = singular_values_of(chart_named("zyx"))
        >>> index, [round(float(np.rad2deg(x))) for x in values]
        (1, [90, 270])
    """
    rng = np.random.default_rng(5)
    base = rng.uniform(0.3, 1.2, size=3)
    if chart.name == ROTATION_VECTOR:
        lengths = np.linspace(0.0, 4.0 * np.pi, 2 * GRID + 1)[1:]
        direction = base / np.linalg.norm(base)
        sizes = np.abs(np.linalg.det(ori.velocity_matrix(chart, lengths[:, None] * direction)))
        return -1, tuple(float(x) for x in lengths[sizes < FLAT])
    grid = np.arange(GRID) * 2.0 * np.pi / GRID
    for k in range(3):
        q = np.repeat(base[None], GRID, axis=0)
        q[:, k] = grid
        sizes = np.abs(np.linalg.det(ori.velocity_matrix(chart, q)))
        if np.any(sizes < FLAT):
            return k, tuple(float(x) for x in grid[sizes < FLAT])
    return -1, ()


def singularity(layout: Layout, at: Oriented) -> Singularity:
    """Where the coordinates of one orientation are singular."""
    index, values = singular_values_of(at.chart)
    names = layout.coordinates[at.q]
    if index < 0:
        words = f"|({', '.join(names)})| = 360 deg"
        return Singularity(at.joint, "", values, words, names)
    degrees = [f"{np.rad2deg(x if x < 1.5 * np.pi - FLAT else x - 2.0 * np.pi):.0f}" for x in values]
    lost = tuple(name for k, name in enumerate(names) if k != index)
    return Singularity(at.joint, names[index], values, f"{names[index]} = {' or '.join(degrees)} deg", lost)


def singularities(layout: Layout) -> tuple[Singularity, ...]:
    """Where the coordinates of all orientations are singular.

    Example:
        >>> import pendula
        >>> print(singularities(pendula.compile_system("spatial-rod").layout)[0].text)
        the coordinates of joint "ball" are singular at theta = 0 or 180 deg
    """
    return tuple(singularity(layout, x) for x in layout.orientations if x.chart.count == 3)


@dataclass(frozen=True)
class Nearest:
    """The smallest distance of a state or run from a singularity of its coordinates.

    Attributes:
        singularity: the singularity.
        distance: in the coordinate of the singularity, or in the length of a rotation vector [rad].
        t: the time of the smallest distance.

    Example:
        >>> import pendula
        >>> run = pendula.simulate("spatial-rod", 0.1)
        >>> run.nearest_singularity.singularity.words, round(float(np.rad2deg(run.nearest_singularity.distance)))
        ('theta = 0 or 180 deg', 45)
    """

    singularity: Singularity
    distance: float
    t: float

    def __str__(self) -> str:
        return f"{self.singularity.text}; the distance is {np.rad2deg(self.distance):.4g} deg"


def nearest_singularity(layout: Layout, t: Array, q: Array, v: Array | None = None) -> Nearest | None:
    """The smallest distance to a singularity over states of the joints' coordinates; None if no chart has any.

    With speeds, states are those of a run, and the motion between them counts, too.
    """
    best: tuple[float, float, Oriented] | None = None
    t, q = np.atleast_1d(t), np.atleast_2d(q)
    for x in layout.orientations:
        if x.chart.count == 3:
            times, away = t, ori.distance(x.chart, q[:, x.q])
            if v is not None and x.chart.is_sequence and len(t) > 1:
                between, inside = _between(x, t, q, v)
                times, away = np.append(times, between), np.append(away, inside)
            k = int(np.nanargmin(away))
            if best is None or away[k] < best[0]:
                best = (float(away[k]), float(times[k]), x)
    return None if best is None else Nearest(singularity(layout, best[2]), best[0], best[1])


def _between(x: Oriented, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
    """Times between the states of a run, and distances there, by the cubic through quaternions and their rates.

    The distance is the angle between two axes, so it has a kink where it passes zero: the search is refined near its
    minimum.
    """
    turn = ori.to_quaternion(x.chart, q[:, x.q])
    turn[1:] *= np.cumprod(np.where(np.sum(turn[1:] * turn[:-1], axis=1) < 0.0, -1.0, 1.0))[:, None]
    rate = np.einsum("kij,kj->ki", ori.inverse_matrix(chart_named(QUATERNION), turn), body_rate(x, q, v))

    def looked(k: Array, s: Array) -> tuple[Array, Array]:
        """Times and distances at the parts s of the steps k."""
        h, s = (t[k + 1] - t[k])[:, None], s[:, None]
        place = (1 + 2 * s) * (1 - s) ** 2 * turn[k] + s**2 * (3 - 2 * s) * turn[k + 1]
        place = place + h * (s * (1 - s) ** 2 * rate[k] - s**2 * (1 - s) * rate[k + 1])
        place = place / np.linalg.norm(place, axis=1, keepdims=True)
        return t[k] + (h * s)[:, 0], ori.distance_of(x.chart, place)

    parts = np.linspace(0.0, 1.0, LOOKS)[1:-1]
    steps = np.repeat(np.arange(len(t) - 1), len(parts))
    times, away = looked(steps, np.tile(parts, len(t) - 1))
    if np.all(np.isnan(away)):
        return times, away
    k, width, middle = int(np.nanargmin(away)), 1.0 / (LOOKS - 1), parts[int(np.nanargmin(away)) % len(parts)]
    for _ in range(CLOSER):
        near = np.clip(middle + width * np.linspace(-1.0, 1.0, LOOKS), 0.0, 1.0)
        more_t, more = looked(np.full(LOOKS, steps[k]), near)
        middle, width = near[int(np.argmin(more))], width / (LOOKS // 2)
        times, away = np.append(times, more_t), np.append(away, more)
    return times, away
