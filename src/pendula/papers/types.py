"""What a recomputation consists of: papers, parts, and the lines, figures and animations that a part gives."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pendula.present.pictures.curves import Chart, Curve

Verdict = Literal["reproduced", "corrected", "not determinable"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "corrected", "not determinable")
SEVERITIES = {
    "wrong": "changes results",
    "incomplete": "inconsistent, or leaves something out",
    "harmless": "wrong as written, without effect on the results",
    "rounding": "last digits",
}


@dataclass(frozen=True)
class Line:
    """One statement of a paper, and what the computation says about it.

    Attributes:
        where: place in the paper, such as "eq. 43".
        says: the statement.
        found: the result of the computation, in words with numbers.
        verdict: whether the statement is reproduced, corrected, or cannot be decided since data are missing.
        reason: of a corrected line: why it is wrong.
        corrected: of a corrected line: the statement that holds.
        effect: of a corrected line: what the error changes.
        severity: of a corrected line: a key of :data:`SEVERITIES`.
        data: of a line that cannot be decided: the data that were chosen.
        evidence: the computed numbers behind the verdict, by name.

    Example:
        >>> Line("eq. 1", "1 + 1 = 2", "2", "reproduced", evidence={"sum": 2.0}).verdict
        'reproduced'
    """

    where: str
    says: str
    found: str
    verdict: Verdict
    reason: str = ""
    corrected: str = ""
    effect: str = ""
    severity: str = ""
    data: str = ""
    evidence: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"verdict of {self.where}: {self.verdict!r}")
        needs = {"corrected": ("reason", "corrected", "severity"), "not determinable": ("data",)}
        for name in needs.get(self.verdict, ()):
            if not getattr(self, name):
                raise ValueError(f'{self.where}: a line that is {self.verdict} needs "{name}"')
        if not self.evidence:
            raise ValueError(f"{self.where}: a line needs the numbers behind its verdict")
        if self.severity and self.severity not in SEVERITIES:
            raise ValueError(f"severity of {self.where}: {self.severity!r}")


@dataclass(frozen=True)
class Table:
    """A table: names of columns, and rows of numbers and words."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Animation:
    """A motion for the player: its scene as JSON text, with a caption."""

    name: str
    title: str
    scene: str
    note: str = ""


@dataclass(frozen=True)
class Text:
    """Text in lines that opens on a click, such as equations or the content of a file."""

    title: str
    content: str


@dataclass(frozen=True)
class Finding:
    """What a part gives.

    Attributes:
        lines: statements with verdicts.
        tables, figures, animations, formulas, texts: what is shown below them; formulas are MathML.
        notes: sentences of summary, shown first.
    """

    lines: tuple[Line, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Chart, ...] = ()
    animations: tuple[Animation, ...] = ()
    formulas: tuple[Text, ...] = ()
    texts: tuple[Text, ...] = ()
    notes: tuple[str, ...] = ()

    def as_text(self) -> str:
        """The finding as text, for the cache."""
        return json.dumps(dataclasses.asdict(self), default=_plain)

    @classmethod
    def from_json(cls, text: str) -> Finding:
        """The finding that :meth:`as_text` wrote."""
        data = json.loads(text)
        makers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "lines": lambda x: Line(**x),
            "tables": lambda x: Table(x["title"], tuple(x["head"]), tuple(map(tuple, x["rows"]))),
            "figures": lambda x: Chart(**(x | {"curves": tuple(_curve(c) for c in x["curves"])})),
            "animations": lambda x: Animation(**x),
            "formulas": lambda x: Text(**x),
            "texts": lambda x: Text(**x),
            "notes": str,
        }
        return cls(**{name: tuple(make(x) for x in data[name]) for name, make in makers.items()})


def _curve(data: dict[str, Any]) -> Curve:
    return Curve(**(data | {"x": tuple(data["x"]), "y": tuple(data["y"])}))


def _plain(value: Any) -> Any:
    """NumPy scalars as numbers."""
    return value.item()


@dataclass(frozen=True)
class Part:
    """One part of a paper, computed and cached separately.

    Attributes:
        name: short; unique in its paper.
        title: heading in the report.
        compute: returns the finding; called with ``inputs`` as keyword arguments.
        inputs: everything that the result depends on besides the code: numbers and texts.
    """

    name: str
    title: str
    compute: Callable[..., Finding]
    inputs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """A paper: its number, a short name, its full citation, and what it is about in one sentence.

    Attributes:
        module: the module with its ``PARTS``; imported when they are computed.
    """

    number: str
    short: str
    citation: str
    summary: str
    module: str

    @property
    def name(self) -> str:
        """Its name on the command line: that of its module, with hyphens."""
        return self.module.rpartition(".")[2].replace("_", "-")
