"""The inputs of a run in other coordinates of its mechanism."""

from __future__ import annotations

from pendula.errors import NotSupported
from pendula.model.expressions.expression import parse
from pendula.simulation import refusals
from pendula.simulation.inputs.feed import RunInputs
from pendula.simulation.inputs.given import with_inputs
from pendula.simulation.trajectory import Trajectory
from pendula.system.layout import Layout
from pendula.system.orientation.twins import refuse_use
from pendula.system.system import System


def with_inputs_of(run: Trajectory, system: System) -> System:
    """A system of the same mechanism in other coordinates, with the inputs of a run.

    Raises:
        NotSupported: an input is a Python function, which reads the state in the coordinates of the run, or a law that
            uses replaced coordinates or speeds.
    """
    here = run.system.inputs
    there, own = run.system.model.as_written.inputs, system.model.as_written.inputs
    gone = _replaced(run.joint_layout, system.in_joints.layout)
    other = {
        name: value
        for name, value in there.items()
        if name in own and (value != own[name] or name in getattr(system.inputs, "names", ()))
    }
    for name, value in other.items():
        refuse_use(f'the input "{name}"', parse(value).names, gone)
    if other and system is not run.system:
        system = with_inputs(system, other)[0]
    if not isinstance(here, RunInputs):
        return system
    for law in here.laws:
        if law.function is not None and gone:
            raise NotSupported(refusals.CONVERTED_FUNCTION, name=law.names[0])
        for name, text in zip(law.names, law.texts, strict=False):
            refuse_use(f'the input "{name}"', parse(text).names, gone)
    return here.handed_on(system)


def _replaced(before: Layout, after: Layout) -> set[str]:
    """Coordinates and speeds that the other layout does not have, or has in another meaning."""
    found: set[str] = set()
    there = {x.joint: x for x in after.orientations}
    for x in before.orientations:
        other = there.get(x.joint, x)
        if other.chart != x.chart:
            found |= {*before.coordinates[x.q]}
        if other.axes != x.axes or (x.axes == "rates" and other.chart != x.chart):
            found |= {*before.speeds[x.v]}
    return found
