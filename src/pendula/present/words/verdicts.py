"""Verdicts as text in 80 columns and as plain data: agreement of formulations, stability, Floquet multipliers."""

from __future__ import annotations

from typing import Any

from pendula.analysis.court.agreement import Certificate
from pendula.analysis.driven.floquet import Floquet
from pendula.analysis.driven.study import FloquetMap
from pendula.analysis.stability.ranges import BORDER, LOST, CriticalValue, StabilityRanges
from pendula.analysis.stability.verdict import Stability
from pendula.present.words.equilibria import joint_values, place
from pendula.present.words.tables import facts_lines, number, number_pair, table, wrapped
from pendula.system.system import System
from pendula.words import INDICATED, picked

MOST_ROOTS = 24


def pair_rows(found: Certificate) -> tuple[list[str], list[tuple[str, str, str, str]]]:
    """Heads and rows of a table of all pairs of formulations: their largest difference, and where it is."""
    rows = [
        (f"{pair.a}, {pair.b}", number(pair.max_difference, 3), "agree" if pair.passed else "DISAGREE", pair.what)
        for pair in found.pairs
    ]
    return ["pair", "differ by", "verdict", "largest in the"], rows


def stability_text(found: Stability) -> str:
    """The verdict, its reason, and the kind of every root."""
    lines = facts_lines(stability_facts(found))
    heads, shown = root_rows(found)
    lines += ["", table(shown[:MOST_ROOTS], heads, align="rrl")]
    if len(shown) > MOST_ROOTS:
        lines.append(f"... and {len(shown) - MOST_ROOTS} more")
    return "\n".join(lines)


def root_rows(found: Stability) -> tuple[list[str], list[list[Any]]]:
    """Heads and rows of a table of roots: value, how many, kind of motion."""
    rows: dict[tuple[str, str], int] = {}
    for value, kind in zip(found.spectrum.values, found.roots, strict=True):
        key = number_pair(complex(value), 8), kind
        rows[key] = rows.get(key, 0) + 1
    heads = [f"eigenvalue [1/{found.at.layout.time_unit}]", "roots", "motion"]
    return heads, [[value, count, kind] for (value, kind), count in rows.items()]


def stability_facts(found: Stability) -> list[tuple[str, str]]:
    """The verdict, how certain it is, what it holds for and why."""
    holds = "the nonlinear mechanism too" if found.applies_to_nonlinear else "the linear model only"
    behavior = {
        "significant": "significant: eigenvalues decide",
        "critical": "critical: roots on the imaginary axis, where eigenvalues alone do not decide",
    }[found.behavior]
    sure = f"{found.certainty}: {found.grounds}"
    facts = [("verdict", found.verdict), ("certainty", sure), ("holds for", holds)]
    return [*facts, ("because", found.proof), ("behavior", behavior)]


def stability_data(found: Stability) -> dict[str, Any]:
    """The verdict as plain strings; every root with its kind of motion."""
    return {
        **picked(found, "verdict certainty grounds behavior applies_to_nonlinear proof"),
        "stable": found.is_stable,
        "drifts": list(found.drifts),
        "roots": [
            {"re": float(value.real), "im": float(value.imag), "motion": kind}
            for value, kind in zip(found.spectrum.values, found.roots, strict=True)
        ],
    }


def ranges_text(system: System, found: StabilityRanges) -> str:
    """Verdicts between and at critical values, coordinates of the equilibrium, and the proofs."""
    parts = _parts(system, found)
    rows = [[_where(part), part["verdict"], part["certainty"], part["place"]] for part in parts]
    width = max(len(str(row[0])) for row in rows) + 2
    reasons = facts_lines([(_where(part), part["proof"]) for part in parts], width)
    note = wrapped(found.caution)
    verdicts = table(rows, [found.parameter, "verdict", "certainty", "equilibrium (mid-range)"])
    return "\n".join([verdicts, "", "because", *reasons, "", note])


def _where(part: dict[str, Any]) -> str:
    if "value" in part:
        return f"at {number(part['value'], 10)}"
    return f"{number(part['low'], 10)} to {number(part['high'], 10)}"


def _parts(system: System, found: StabilityRanges) -> list[dict[str, Any]]:
    """Ranges, the critical values between them, and ends with another verdict, in order."""
    critical = {c.value: c for c in found.critical}
    ends = {c.value: {"value": c.value, "end": True} | _judged(system, c.stability) for c in found.ends}
    parts: list[dict[str, Any]] = []
    for part in found.ranges:
        if part is found.ranges[0] and part.low in ends:
            parts.append(ends[part.low])
        parts.append({"low": part.low, "high": part.high} | _judged(system, part.stability))
        edge = critical.get(part.high)
        if edge is not None:
            parts.append({"value": edge.value} | _at_edge(system, edge))
        elif part.high in ends:
            parts.append(ends[part.high])
    return parts


def _at_edge(system: System, edge: CriticalValue) -> dict[str, Any]:
    if edge.stability is not None:
        return _judged(system, edge.stability)
    return _MEETING if edge.meets else _BORDER


_BORDER = {
    "verdict": BORDER,
    "certainty": INDICATED,
    "proof": "on the other side no pose near the one followed balances the forces",
    "place": "-",
    "at": None,
}
_MEETING = {
    "verdict": "meets another equilibrium",
    "certainty": INDICATED,
    "proof": "a stiffness falls to zero there and rises again; from there on the table follows the other one",
    "place": "-",
    "at": None,
}


def _judged(system: System, found: Stability | None) -> dict[str, Any]:
    if found is None:
        lost = {"verdict": LOST, "certainty": INDICATED}
        return lost | {"proof": "no pose near the one followed balances the forces", "place": "-", "at": None}
    there = {"place": place(system, found.at), "at": joint_values(system, found.at)}
    return picked(found, "verdict certainty grounds proof") | there


def ranges_data(system: System, found: StabilityRanges) -> dict[str, Any]:
    """Ranges and critical values as plain data; the equilibrium of a range is at its middle."""
    parts = [{k: x for k, x in part.items() if k != "place"} for part in _parts(system, found)]
    return {
        "parameter": found.parameter,
        "ranges": [part for part in parts if "low" in part],
        "critical": [part for part in parts if "value" in part and "end" not in part],
        "ends": [{k: x for k, x in part.items() if k != "end"} for part in parts if "end" in part],
        "samples": found.samples,
        **picked(found, "certainty grounds missed_below"),
        "windows": [list(window) for window in found.windows],
    }


def floquet_facts(found: Floquet) -> list[tuple[str, str]]:
    """Verdict, reason, period, and the errors of the checks on the multipliers."""
    unit = found.time_unit
    pairs = f"product of all off 1 by {found.product_error:.1e}, reciprocal pairs by {found.pair_error:.1e}"
    return [
        ("verdict", f"{found.verdict} ({found.certainty})"),
        ("because", found.reason),
        ("period", f"{number(found.period, 8)} {unit}"),
        ("motion", f"returns to its start within {found.closing_error:.1e}"),
        ("checks", pairs if found.conservative else "work is done on it, so multipliers need not come in pairs"),
        *(("note", note) for note in found.notes),
    ]


def multiplier_rows(found: Floquet) -> tuple[list[str], list[list[Any]]]:
    """Heads and rows of a table of multipliers."""
    return ["multiplier", "size"], [[_multiplier(m), abs(complex(m))] for m in found.multipliers]


def floquet_text(found: Floquet) -> str:
    """Verdict, period, multipliers, and the errors of the checks on them."""
    heads, rows = multiplier_rows(found)
    more = [f"... and {len(rows) - MOST_ROOTS} more"] if len(rows) > MOST_ROOTS else []
    shown = table(rows[:MOST_ROOTS], heads, align="rr", digits=10)
    return "\n".join([*facts_lines(floquet_facts(found)), "", shown, *more])


def _multiplier(value: complex) -> str:
    return number(float(value.real), 8) if value.imag == 0 else number(complex(value), 8)


def floquet_over_text(found: FloquetMap) -> str:
    """Ranges of a parameter with their verdicts, and the boundaries between them."""
    rows = [[number(low, 10), number(high, 10), verdict] for low, high, verdict in found.ranges]
    parts = [table(rows, [f"{found.parameter} from", "to", "verdict"], align="rrl")]
    limits = [[number(b.value, 12), number(b.width, 1), b.how] for b in found.boundaries]
    if limits:
        parts.append(table(limits, [f"limit of {found.parameter}", "+-", "what happens there"], align="rrl"))
    if found.failures:
        first, why = next(iter(found.failures.items()))
        parts.append("\n".join(facts_lines([("failed", f"at {len(found.failures)} values, first {first:g}: {why}")])))
    parts.append(wrapped(found.caution))
    return "\n\n".join(parts)


def floquet_over_data(found: FloquetMap) -> dict[str, Any]:
    """Verdicts and boundaries over a parameter as plain data."""
    return {
        **picked(found, "parameter values radius"),
        "verdicts": list(found.verdicts),
        "ranges": [{"low": low, "high": high, "verdict": verdict} for low, high, verdict in found.ranges],
        "limits": [picked(limit, "value width below above how") for limit in found.boundaries],
        "failures": {str(value): why for value, why in found.failures.items()},
        **picked(found, "certainty missed_below"),
    }
