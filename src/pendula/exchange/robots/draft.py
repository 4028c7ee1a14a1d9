"""A model in the making, while a file of another tool is read: its parts, its names, and what was left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pendula.arguments import available
from pendula.errors import ModelError, NotSupported, UsageError
from pendula.exchange.robots import refusals
from pendula.model.joints import JOINTS, TreeJoint
from pendula.model.model import Model
from pendula.model.names import cleaned_label, cleaned_name
from pendula.words import counted, readable


@readable
@dataclass(frozen=True)
class Imported:
    """A model that was read from a file of another tool.

    Attributes:
        model: the model.
        source: the file.
        notes: what the model does not hold, and what was changed, one line each.
        renamed: names in the file whose names in the model differ.
        coordinates: the coordinates in the order of the other tool's position vector.
        speeds: the speeds in the order of its velocity vector.

    Example:
        >>> import tempfile, pathlib, pendula
        >>> text = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="2"/></inertial></link>'
        >>> text += '<joint name="j.1" type="prismatic"><parent link="a"/><child link="b"/></joint></robot>'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "r.urdf"
        ...     _ = file.write_text(text)
        ...     found = pendula.exchange.load_urdf(file)
        >>> found.renamed, found.coordinates
        ({'j.1': 'j_1'}, ('j_1',))
    """

    model: Model
    source: str
    notes: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    coordinates: tuple[str, ...] = ()
    speeds: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.source}: {self.model}", *(f"  {note}" for note in self.notes)]
        if self.renamed:
            pairs = [f"{old} -> {new}" for old, new in self.renamed.items()]
            more = f", and {len(pairs) - 6} more" if len(pairs) > 6 else ""
            lines.append(f"  renamed: {', '.join(pairs[:6])}{more}")
        return "\n".join(lines)


@dataclass
class Draft:
    """Parts of a model as plain data.

    Attributes:
        source: the file.
        without: kinds of things that the caller allows to leave out although they change the motion.
    """

    source: str
    without: tuple[str, ...] = ()
    name: str = "robot"
    gravity: Sequence[float] = (0.0, 0.0, 0.0)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    joints: list[dict[str, Any]] = field(default_factory=list)
    forces: list[dict[str, Any]] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    initial: dict[str, Any] = field(default_factory=dict)
    coordinates: list[str] = field(default_factory=list)
    speeds: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)
    _labels: set[str] = field(default_factory=lambda: {"ground"})

    # -- what is left out -------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        """Records something that the model does not hold."""
        if text not in self._notes:
            self._notes.append(text)

    def note_all(self, what: str, names: Iterable[str], why: str) -> None:
        """One note for several parts: how many, the first names, and why."""
        found = list(names)
        if found:
            shown = ", ".join(found[:4]) + (", ..." if len(found) > 4 else "")
            self.note(f"{what} of {counted(len(found), 'part')} ({shown}): {why}")

    def refuse(self, kind: str, what: str, known: Sequence[str]) -> None:
        """Something that changes the motion and has no counterpart: an error, unless the caller leaves it out.

        Args:
            kind: its name in ``without``, one of ``known``.
            what: what was found, for the message.
            known: all kinds that can be left out.
        """
        assert kind in known, f"{kind} is not among the kinds that can be left out"
        if kind not in self.without:
            raise NotSupported(refusals.NO_COUNTERPART, source=self.source, what=what, kind=kind)
        self.note(f"left out, as asked: {what}")

    # -- names ------------------------------------------------------------------------------------------

    def label(self, wanted: str) -> str:
        """A unique label of a body."""
        return self._unique(wanted, cleaned_label(wanted), self._labels, lambda name: [name])

    def joint_name(self, wanted: str, kind: str) -> str:
        """A unique name of a joint of this type, whose coordinates and speeds are also unique."""
        cls = JOINTS[kind]

        def derived(name: str) -> list[str]:
            made = cls.model_construct(name=name)
            if not isinstance(made, TreeJoint):
                return [name]
            return [name, *made.coordinate_names(), *(s.name for s in made.speeds())]

        return self._unique(wanted, cleaned_name(wanted), self._taken, derived)

    def input_name(self, wanted: str) -> str:
        """A unique name of an input; one that a joint has taken gets an ending."""
        clean = cleaned_name(wanted)
        name = self._unique("", f"{clean}_input" if clean in self._taken else clean, self._taken, lambda n: [n])
        if name != wanted:
            self.renamed[f"actuator {wanted}"] = name
        return name

    def parameter(self, wanted: str, value: float) -> str:
        """A parameter with a unique name."""
        name = self._unique("", wanted, self._taken, lambda n: [n])
        self.parameters[name] = value
        return name

    def _unique(self, wanted: str, clean: str, taken: set[str], derived: Callable[[str], list[str]]) -> str:
        name, k = clean, 1
        while taken & set(derived(name)):
            k += 1
            name = f"{clean[:58]}_{k}"
        taken |= set(derived(name))
        if name != wanted and wanted:
            self.renamed[wanted if wanted not in self.renamed else f"{wanted} ({len(self.renamed)})"] = name
        return name

    # -- joints -----------------------------------------------------------------------------------------

    def add_joint(self, fields: dict[str, Any]) -> None:
        """Adds a joint of the tree; its coordinates and speeds are next in the other tool's vectors."""
        self.joints.append(fields)
        made = self.parsed(fields)
        self.coordinates += made.coordinate_names()
        self.speeds += [s.name for s in made.speeds()]

    @staticmethod
    def parsed(joint: Mapping[str, Any]) -> Any:
        """A joint given as data."""
        return JOINTS[joint["type"]].model_validate(joint)

    # -- the result -------------------------------------------------------------------------------------

    def finish(self) -> Imported:
        """The model, checked."""
        try:
            model = Model(
                name=self.name,
                gravity=[float(x) for x in self.gravity],
                parameters=self.parameters,
                bodies=self.bodies,
                joints=self.joints,
                forces=self.forces,
                inputs=self.inputs,
                initial=self.initial,
            )
        except ModelError as error:
            raise error.in_file(self.source) from None
        return Imported(
            model, self.source, tuple(self._notes), self.renamed, tuple(self.coordinates), tuple(self.speeds)
        )


def check_without(without: Iterable[str], known: Sequence[str], call: str) -> tuple[str, ...]:
    """The kinds of things to leave out; raises UsageError for unknown ones."""
    found = (without,) if isinstance(without, str) else tuple(without)
    for kind in found:
        if kind not in known:
            raise UsageError(f'{call}: without has no kind "{kind}"; {available(known)}')
    return found


def existing(path: str | Path, call: str) -> Path:
    """The file; raises UsageError if there is none."""
    if not isinstance(path, (str, os.PathLike)):
        raise UsageError(f"{call} expects the path of a file, found a {type(path).__name__}")
    found = Path(path)
    if not found.is_file():
        raise UsageError(f'{call}: there is no file "{found}"')
    return found
