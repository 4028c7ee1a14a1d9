"""Recomputes papers, part by part; a part that fails does not stop the others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pendula.arguments import available
from pendula.errors import UsageError
from pendula.papers.cache import keep, kept
from pendula.papers.registry import papers, parts_of
from pendula.papers.types import VERDICTS, Finding, Line, Paper, Part


@dataclass(frozen=True)
class Computed:
    """A part with its finding, or the error that stopped it.

    Attributes:
        seconds: what the computation took.
        from_cache: whether the finding was kept from an earlier run.
    """

    part: Part
    finding: Finding
    seconds: float
    from_cache: bool
    error: str = ""


@dataclass(frozen=True)
class Recomputed:
    """A paper with all its parts computed."""

    paper: Paper
    parts: tuple[Computed, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        """Lines of all parts."""
        return tuple(line for part in self.parts for line in part.finding.lines)

    @property
    def tally(self) -> dict[str, int]:
        """Number of lines by verdict."""
        counted = Counter(line.verdict for line in self.lines)
        return {verdict: counted[verdict] for verdict in VERDICTS}

    @property
    def failed(self) -> tuple[Computed, ...]:
        """Parts that could not be computed."""
        return tuple(part for part in self.parts if part.error)


def recompute(
    wanted: Iterable[str] = (),
    *,
    parts: Iterable[str] = (),
    use_cache: bool = True,
    on_part: Callable[[Paper, Part], None] | None = None,
    on_done: Callable[[Paper, Computed], None] | None = None,
) -> tuple[Recomputed, ...]:
    """Recomputes papers and judges what they say.

    Args:
        wanted: names or numbers of papers, such as "turner" or "003"; all if none are given.
        parts: names of parts; all if none are given.
        use_cache: whether findings of earlier runs with the same code and inputs are used.
        on_part: called with each part before it is computed.
        on_done: called with each part afterwards.

    Example:
        >>> found = recompute(["000"], parts=["gravity"], use_cache=False)
        >>> found[0].tally["corrected"]
        1
    """
    names, chosen = set(parts), tuple(papers(wanted))
    known = [part.name for paper in chosen for part in parts_of(paper)]
    if unknown := sorted(names - set(known)):
        raise UsageError(f'there is no part "{unknown[0]}" in these papers; {available(known)}')
    found = []
    for paper in chosen:
        done = []
        for part in parts_of(paper):
            if names and part.name not in names:
                continue
            if on_part is not None:
                on_part(paper, part)
            done.append(compute(paper, part, use_cache))
            if on_done is not None:
                on_done(paper, done[-1])
        found.append(Recomputed(paper, tuple(done)))
    return tuple(found)


def compute(paper: Paper, part: Part, use_cache: bool = True) -> Computed:
    """One part, from the cache if possible."""
    if use_cache and (old := kept(paper, part)) is not None:
        return Computed(part, old[0], old[1], True)
    start = time.perf_counter()
    try:
        finding = part.compute(**part.inputs)
    except Exception as error:  # whatever happens in one part, the others can still be shown
        return Computed(part, Finding(), time.perf_counter() - start, False, f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - start
    keep(paper, part, finding, seconds)
    return Computed(part, finding, seconds, False)


def summary(found: Iterable[Recomputed]) -> dict[str, Any]:
    """Everything that was found, as plain data for a JSON file, without pictures."""
    return {
        "papers": [
            {
                "number": one.paper.number,
                "name": one.paper.short,
                "citation": one.paper.citation,
                "lines": one.tally,
                "parts": [
                    {
                        "name": done.part.name,
                        "title": done.part.title,
                        "seconds": round(done.seconds, 3),
                        "from_cache": done.from_cache,
                        "error": done.error,
                        "inputs": dict(done.part.inputs),
                        "notes": list(done.finding.notes),
                        "lines": [_line(line) for line in done.finding.lines],
                        "figures": [figure.name for figure in done.finding.figures],
                        "animations": [animation.name for animation in done.finding.animations],
                    }
                    for done in one.parts
                ],
            }
            for one in found
        ]
    }


def _line(line: Line) -> dict[str, Any]:
    data = {name: value for name, value in vars(line).items() if value not in ("", {})}
    return data | {"evidence": dict(line.evidence)}
