"""The same orientations in several charts side by side: for reports and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pendula.model.joints.orientation import Axes
from pendula.simulation.charts.convert import convert
from pendula.system.layout import State

COMMON = ("quaternion", "zyz", "yaw-pitch-roll", "rotation vector")
"""charts in which orientations are shown beside the model's own"""


@dataclass(frozen=True)
class Attitude:
    """The orientation of one joint in one chart.

    Attributes:
        joint: its name.
        chart: the chart; of the model's own as the model calls it.
        own: whether it is that of the model.
        coordinates, speeds: values by name; a speed that the chart leaves undetermined is nan.
        units: units of both by name, empty for pure numbers.

    Example:
        >>> import pendula
        >>> start = pendula.compile_system("spatial-rod").initial_state()
        >>> [x.chart for x in attitudes(start)]
        ['zyz', 'quaternion', 'yaw-pitch-roll', 'rotation vector']
    """

    joint: str
    chart: str
    own: bool
    coordinates: Mapping[str, float]
    speeds: Mapping[str, float]
    units: Mapping[str, str]

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Speeds that the chart leaves undetermined, because it is singular there."""
        return tuple(name for name, value in self.speeds.items() if value != value)


def attitudes(state: State, charts: Sequence[str] = COMMON, speeds: Axes | None = None) -> tuple[Attitude, ...]:
    """The orientations of a state in its own coordinates and in others; empty if it has none.

    Args:
        state: in the coordinates of the joints.
        charts: names of other charts; those that are the own one of all joints are left out.
        speeds: generalized speeds in the other charts, as in :func:`pendula.convert`.

    Raises:
        UsageError: there is no such chart.
    """
    if not state.layout.orientations:
        return ()
    found = list(_of(state, None))
    for chart in charts:
        other = convert(state, chart, speeds=speeds, undefined="nan")
        found += [] if _rotations(other) == _rotations(state) and not speeds else _of(other, chart)
    order = [x.joint for x in state.layout.orientations]
    return tuple(sorted(found, key=lambda x: order.index(x.joint)))


def _rotations(state: State) -> list[tuple[str, bool, int]]:
    """The charts of a state, the same for all names of one sequence."""
    return [(x.chart.letters or x.chart.name, x.chart.space, x.chart.count) for x in state.layout.orientations]


def _of(state: State, chart: str | None) -> list[Attitude]:
    layout = state.layout
    return [
        Attitude(
            x.joint,
            chart or x.chart.name,
            chart is None,
            dict(zip(layout.coordinates[x.q], map(float, state.q[x.q]), strict=True)),
            dict(zip(layout.speeds[x.v], map(float, state.v[x.v]), strict=True)),
            {name: layout.units[name] for name in (*layout.coordinates[x.q], *layout.speeds[x.v])},
        )
        for x in layout.orientations
    ]
