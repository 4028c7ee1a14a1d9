"""Equations of motion written by others: a TOML file, or its content as a mapping.

    title = "pendulum of a textbook"
    equations = ["m*l**2/3*phi_ddot + m*g*l/2*sin(phi) = 0"]     # linear in the accelerations
    [coordinates]
    phi = "theta"                                                # own name = the model's

Alternatives to ``equations`` are ``M`` and ``f`` (of M a = f), or a table of ``accelerations``. Expressions use the
language of model files. They may contain the model's coordinates (``theta``), speeds (``theta_dot``), accelerations
(``theta_ddot``; for an angular velocity ``j_wx`` it is ``j_wx_dot``), parameters, inputs and ``t``; the file's own
``coordinates``, with ``_dot`` and ``_ddot``; abbreviations from ``define``; and ``unknowns``, such as multipliers or
reactions, which are solved for together with the accelerations.
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from pendula.analysis.court.affine import Affine, NotLinear, affine
from pendula.arguments import available
from pendula.equations.variants.written import Given, Row, refuse
from pendula.model.expressions.expression import Expression, parse
from pendula.model.expressions.nodes import LONG
from pendula.model.files import read_toml
from pendula.model.names import ExpressionError, acceleration_name, check_name, quote, suggestion
from pendula.model.problems import MOST_SHOWN, listing, shown
from pendula.system.layout import Array
from pendula.system.system import System

FORMS = ("equations", "M", "accelerations")
KEYS = ("title", *FORMS, "f", "define", "coordinates", "order", "unknowns")

MOST_PARTS = 300_000
"""Largest number of numbers, names and operations in one file."""

_EQUALS = re.compile(r"(?<![<>=!])=(?!=)")


# -- reading ------------------------------------------------------------------------------------------


def read_given(system: System, against: str | Path | Mapping[str, Any]) -> Given:
    """Reads equations for the model of a system and checks everything that needs no evaluation.

    Raises:
        UsageError: an entry is missing, unknown, has the wrong size or uses an unknown name.
        ModelError: the file cannot be read or is not TOML.
    """
    if isinstance(against, Mapping):
        return _Reader(system, dict(against), "given equations").read()
    data, source = read_toml(against)
    return _Reader(system, data, source).read()


class _Reader:
    """Reads the entries of one file in the order of their dependence."""

    def __init__(self, system: System, data: dict[str, Any], source: str) -> None:
        self.data, self.source, self.layout = data, source, system.layout
        self.rates = {c for c, k in zip(system.layout.coordinates, system.layout.speed_of, strict=True) if k >= 0}
        self.accelerations = [acceleration_name(speed) for speed in self.layout.speeds]
        self.parts = 0

    def refuse(self, entry: str, cause: str) -> NoReturn:
        refuse(self.source, entry, cause)

    def read(self) -> Given:
        form = self._form()
        title = self.data.get("title", "")
        if not isinstance(title, str):
            self.refuse("title", f"must be text, found {shown(title)}")
        coordinates = self._coordinates()
        unknowns = self._unknowns(coordinates)
        known = self._known(coordinates, unknowns)
        define = self._define(known)
        known |= set(define)
        order = self._order(coordinates, needed=form != "equations")
        rows: list[Row] = []
        M: list[tuple[Expression, ...]] = []
        f: tuple[Expression, ...] = ()
        if form == "equations":
            rows = self._equations(known, len(unknowns))
        elif form == "accelerations":
            rows = self._accelerations(known, order)
        else:
            M, f = self._matrix(known, order), self._vector(known, order)
        if unknowns and form != "equations":
            self.refuse("unknowns", 'they are solved for together with the accelerations: give "equations"')
        return Given(
            source=self.source,
            title=title,
            form=form,
            rows=tuple(rows),
            M=tuple(M),
            f=f,
            coordinates=coordinates,
            order=tuple(order),
            acceleration_names=tuple(self._acceleration_names(order)),
            unknowns=tuple(unknowns),
            define=define,
        )

    def _form(self) -> str:
        for key in self.data:
            if key not in KEYS:
                hint = suggestion(str(key), KEYS)
                self.refuse("", f"there is no entry {quote(str(key))}; {hint}")
        forms = [key for key in FORMS if key in self.data]
        if not forms:
            missing = '"M" is missing beside "f"' if "f" in self.data else "there are no equations"
            self.refuse("", f'{missing}; give one of "equations", "accelerations", or "M" and "f"')
        if len(forms) > 1:
            self.refuse("", f"{quote(forms[0])} and {quote(forms[1])} are both given; give one of them")
        if (forms[0] == "M") != ("f" in self.data):
            self.refuse("f", "is missing beside M" if forms[0] == "M" else f"does not belong to {quote(forms[0])}")
        return forms[0]

    def _table(self, key: str) -> dict[str, Any]:
        table = self.data.get(key, {})
        if not isinstance(table, Mapping):
            self.refuse(key, f"must be a table, found {shown(table)}")
        return dict(table)

    def _list(self, key: str, size: int | None, of: str) -> list[Any]:
        values = self.data.get(key, [])
        if not isinstance(values, list | tuple):
            self.refuse(key, f"must be a list, found {shown(values)}")
        if size is not None and len(values) != size:
            self.refuse(key, f"must have {size} {of}, found {len(values)}")
        return list(values)

    def _expression(self, entry: str, value: Any, known: set[str]) -> Expression:
        """Parses a number or an expression and checks that all its names are known."""
        try:
            expression = parse(value, limits=LONG)
        except ExpressionError as error:
            self.refuse(entry, str(error))
        self.parts += expression.fold(lambda node, parts: 1 + sum(parts))
        if self.parts > MOST_PARTS:
            self.refuse("", f"the expressions have more than {MOST_PARTS} parts together; check fewer links")
        for name in sorted(expression.names - known):
            hint = suggestion(name, sorted(known), most=MOST_SHOWN)
            self.refuse(entry, f"there is no {quote(name)} in the model or under define; {hint}")
        return expression

    def _name(self, entry: str, name: Any, what: str, taken: Iterable[str]) -> None:
        try:
            check_name(name, what, allow_dot=what == "abbreviation")
        except ExpressionError as error:
            self.refuse(entry, str(error))
        if name in taken:
            self.refuse(entry, f"{quote(name)} already has a meaning; choose another name")

    def _coordinates(self) -> dict[str, Expression]:
        """The file's own coordinates; one with the name of a model coordinate replaces it."""
        found: dict[str, Expression] = {}
        taken = {*self.layout.parameters, *self.layout.inputs, *self.layout.speeds}
        for own, value in self._table("coordinates").items():
            entry = f"coordinates: {own}"
            self._name(entry, own, "coordinate", taken)
            expression = self._expression(entry, value, {*self.layout.coordinates, *self.layout.parameters})
            used = expression.names & set(self.layout.coordinates)
            if not used:
                self.refuse(entry, f"{quote(str(expression))} contains no coordinate of the model")
            if used - self.rates:
                quaternion = quote(sorted(used - self.rates)[0])
                self.refuse(
                    entry, f"{quaternion} is part of a quaternion or other orientation, and its rate is no speed"
                )
            found[own] = expression
        return found

    def _unknowns(self, coordinates: Mapping[str, Expression]) -> list[str]:
        found: list[str] = []
        known = self._known(coordinates, ())
        for name in self._list("unknowns", None, ""):
            self._name("unknowns", name, "unknown", {*known, *found})
            found.append(name)
        return found

    def _known(self, coordinates: Mapping[str, Expression], unknowns: Iterable[str]) -> set[str]:
        layout = self.layout
        own = {f"{name}{ending}" for name in coordinates for ending in ("", "_dot", "_ddot")}
        model = {*layout.coordinates, *layout.speeds, *layout.parameters, *layout.inputs, "t"}
        for name in sorted((own | set(self.accelerations)) & {*layout.parameters, *layout.inputs}):
            self.refuse("", f"{quote(name)} is a parameter or input of the model and is also an acceleration here")
        return model | set(self.accelerations) | own | set(unknowns)

    def _define(self, known: set[str]) -> dict[str, Expression]:
        table = self._table("define")
        for name in table:
            self._name(f"define: {name}", name, "abbreviation", known)
        every = known | set(table)
        found = {name: self._expression(f"define: {name}", value, every) for name, value in table.items()}
        needs = {name: sorted(expression.names & found.keys()) for name, expression in found.items()}
        try:
            ordered = list(graphlib.TopologicalSorter(needs).static_order())
        except graphlib.CycleError as error:
            circle = list(reversed(error.args[1]))
            links = circle if len(circle) <= 8 else [*circle[:4], "...", *circle[-3:]]
            self.refuse("define", f"abbreviations refer to each other circularly: {' -> '.join(links)}")
        return {name: found[name] for name in ordered}

    def _order(self, coordinates: Mapping[str, Expression], *, needed: bool) -> list[str]:
        """Coordinates in row order: as listed under ``order``, else the file's own, else the model's."""
        model = [speed.removesuffix("_dot") for speed in self.layout.speeds]
        count = len(model)
        if "order" in self.data:
            order = self._list("order", count, "coordinates")
            for name in order:
                if not isinstance(name, str) or name not in {*model, *coordinates}:
                    hint = suggestion(str(name), {*model, *coordinates}, available(model, MOST_SHOWN))
                    self.refuse("order", f"there is no coordinate {shown(name)}; {hint}")
            if len(set(order)) < count:
                self.refuse("order", "a coordinate is listed twice")
            return order
        if not coordinates or (len(coordinates) != count and not needed):
            return model
        if len(coordinates) != count:
            cause = f"{len(coordinates)} are given, the model has {count} ({listing(model)})"
            self.refuse("coordinates", f'{cause}; give them all, or assign them to rows with "order"')
        return list(coordinates)

    def _equations(self, known: set[str], unknowns: int) -> list[Row]:
        count = len(self.accelerations)
        kind = f"equations for {count} accelerations" + (f" and {unknowns} unknowns" if unknowns else "")
        rows = []
        for k, text in enumerate(self._list("equations", count + unknowns, kind), 1):
            label = f"equation {k}"
            sides = _EQUALS.split(text) if isinstance(text, str) else [text]
            if len(sides) > 2:
                self.refuse(label, f"{quote(text)} has {len(sides) - 1} equals signs")
            left, right = (self._expression(label, side, known) for side in (*sides, 0)[:2])
            rows.append(Row(label, left, right))
        return rows

    def _accelerations(self, known: set[str], order: list[str]) -> list[Row]:
        table = self._table("accelerations")
        wanted = self._acceleration_names(order)
        for name in table:
            if name not in wanted:
                hint = suggestion(str(name), wanted, f"wanted are: {listing(wanted)}")
                self.refuse("accelerations", f"there is no acceleration {quote(str(name))}; {hint}")
        rows = []
        for name in wanted:
            if name not in table:
                self.refuse("accelerations", f"{quote(name)} is missing")
            right = self._expression(f"accelerations: {name}", table[name], known)
            rows.append(Row(f"accelerations: {name}", parse(name), right))
        return rows

    def _acceleration_names(self, order: Iterable[str]) -> list[str]:
        turning = {speed for speed in self.layout.speeds if not speed.endswith("_dot")}
        return [f"{name}_dot" if name in turning else f"{name}_ddot" for name in order]

    def _matrix(self, known: set[str], order: list[str]) -> list[tuple[Expression, ...]]:
        n = len(order)
        M = []
        for name, row in zip(order, self._list("M", n, f"rows, one for each of {listing(order)}"), strict=True):
            if not isinstance(row, list | tuple) or len(row) != n:
                self.refuse(f"M, row of {name}", f"must be a list of {n} entries, found {shown(row)}")
            entries = zip(order, row, strict=True)
            M.append(tuple(self._expression(f"M[{name}, {other}]", entry, known) for other, entry in entries))
        return M

    def _vector(self, known: set[str], order: list[str]) -> tuple[Expression, ...]:
        values = self._list("f", len(order), f"entries, one for each of {listing(order)}")
        return tuple(self._expression(f"f[{name}]", value, known) for name, value in zip(order, values, strict=True))


# -- numbers ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Points:
    """States at which both sides are evaluated: times, coordinates, speeds, inputs, and one set of parameters."""

    t: Array
    q: Array
    v: Array
    u: Array
    p: Array

    def chosen(self, which: Any) -> Points:
        """Some of the states: a slice or a list of indices."""
        return Points(self.t[which], self.q[which], self.v[which], self.u[which], self.p)


@dataclass(frozen=True)
class Numbers:
    """The equations A x + b = 0 at every state; x holds the accelerations of the model, then the unknowns.

    Attributes:
        A: shape (states, equations, unknowns).
        b: shape (states, equations).
        basis: matrix from the model's accelerations to those of ``Given.order``; None if it is singular.
        M, f: as given, in ``Given.order``; None for other forms.
    """

    A: Array
    b: Array
    basis: Array | None
    M: Array | None = None
    f: Array | None = None


def evaluate(given: Given, system: System, at: Points) -> Numbers:
    """Evaluates the given equations at every state.

    Raises:
        UsageError: an equation is not linear in the accelerations, or has no finite value at a state.
    """
    n, size, states = len(system.layout.speeds), len(system.layout.speeds) + len(given.unknowns), len(at.t)
    names = _names(given, system, at)
    for name, expression in given.define.items():
        names[name] = _affine(given, f"define: {name}", expression, names)
    basis = _basis(given, system, names)
    if given.form == "M":
        return _mass_form(given, names, basis, (states, n))
    A, b = np.empty((states, len(given.rows), size)), np.empty((states, len(given.rows)))
    for k, row in enumerate(given.rows):
        left = _affine(given, row.label, row.left, names).rows(states, size)
        right = _affine(given, row.label, row.right, names).rows(states, size)
        b[:, k], A[:, k] = left[0] - right[0], left[1] - right[1]
        _check_finite(given, row.label, (row.left, row.right), b[:, k], A[:, k], names)
    return Numbers(A, b, basis)


def _mass_form(given: Given, names: Mapping[str, Affine], basis: Array | None, shape: tuple[int, int]) -> Numbers:
    states, n = shape
    if basis is None:
        given.refuse("coordinates", "the coordinates that number the rows of M depend on each other")
    M, f = np.empty((states, n, n)), np.empty((states, n))
    entries = [
        (f"M[{a}, {b}]", M[:, i, j], given.M[i][j])
        for i, a in enumerate(given.order)
        for j, b in enumerate(given.order)
    ]
    entries += [(f"f[{a}]", f[:, i], given.f[i]) for i, a in enumerate(given.order)]
    for label, target, expression in entries:
        found = _affine(given, label, expression, names)
        if found.coefficients is not None:
            given.refuse(label, f"{quote(str(expression))} contains an acceleration; M and f of M a = f must not")
        target[:] = found.constant
        _check_finite(given, label, (expression,), target, np.zeros((states, 1)), names)
    return Numbers(M @ basis, -f, basis, M, f)


def _names(given: Given, system: System, at: Points) -> dict[str, Affine]:
    """The value of every name except abbreviations, as an affine function of the unknowns."""
    layout = system.layout
    names = {name: Affine(np.array(x)) for name, x in zip(layout.parameters, at.p, strict=True)}
    names["t"] = Affine(at.t)
    names |= {name: Affine(at.u[:, k]) for k, name in enumerate(layout.inputs)}
    unit = np.eye(len(layout.speeds) + len(given.unknowns))
    model = {name: Affine(at.q[:, k]) for k, name in enumerate(layout.coordinates)}
    for k, speed in enumerate(layout.speeds):
        model |= {speed: Affine(at.v[:, k]), acceleration_name(speed): Affine(np.array(0.0), unit[k])}
    names |= model
    names |= {name: Affine(np.array(0.0), unit[len(layout.speeds) + k]) for k, name in enumerate(given.unknowns)}
    for own, expression in given.coordinates.items():  # all of the model's, including replaced names
        names |= _own_names(given, own, expression, system, at)
    return names


def _own_names(given: Given, own: str, expression: Expression, system: System, at: Points) -> dict[str, Affine]:
    """One of the file's own coordinates with its speed and acceleration, linear in those of the model."""
    layout = system.layout
    unit = np.eye(len(layout.coordinates))
    names = {name: Affine(np.array(x)) for name, x in zip(layout.parameters, at.p, strict=True)}
    names |= {name: Affine(np.array(0.0), unit[k]) for k, name in enumerate(layout.coordinates)}
    entry = f"coordinates: {own}"
    try:
        found = affine(expression, names)
    except NotLinear as part:
        given.refuse(entry, f"{quote(str(part))} is not linear in the coordinates of the model")
    if found.coefficients is None or not np.all(np.isfinite([found.constant, *found.coefficients])):
        given.refuse(entry, f"{quote(str(expression))} has no finite value")
    speeds = np.zeros(len(layout.speeds) + len(given.unknowns))
    for factor, k in zip(found.coefficients, system.layout.speed_of, strict=True):
        if k >= 0:
            speeds[k] = factor
    return {
        own: Affine(found.constant + at.q @ found.coefficients),
        f"{own}_dot": Affine(at.v @ speeds[: len(layout.speeds)]),
        f"{own}_ddot": Affine(np.array(0.0), speeds),
    }


def _basis(given: Given, system: System, names: Mapping[str, Affine]) -> Array | None:
    n = len(system.layout.speeds)
    rows = [names[name].coefficients for name in given.acceleration_names]
    basis = np.array(rows)[:, :n]
    return basis if np.linalg.matrix_rank(basis) == n else None


def _affine(given: Given, label: str, expression: Expression, names: Mapping[str, Affine]) -> Affine:
    try:
        return affine(expression, names)
    except NotLinear as part:
        unknowns = " and unknowns" if given.unknowns else ""
        given.refuse(label, f"{quote(str(part))} is not linear in the accelerations{unknowns}")


def _check_finite(
    given: Given, label: str, sides: tuple[Expression, ...], b: Array, A: Array, names: Mapping[str, Affine]
) -> None:
    bad = np.flatnonzero(~(np.isfinite(b) & np.isfinite(A).all(axis=1)))
    if bad.size:
        reason = next((r for side in sides if (r := _reason(given, side, names, int(bad[0])))), "it is not finite")
        given.refuse(label, f"there is no finite value at one of the states: {reason}")


def _reason(given: Given, expression: Expression, names: Mapping[str, Affine], state: int) -> str:
    """Why an expression has no value at a state, traced through abbreviations; empty if it has one."""
    while True:
        values = {name: _at(names[name].constant, state) for name in sorted(expression.names)}
        missing = [name for name, x in values.items() if not np.isfinite(x) and name in given.define]
        if not missing:
            break
        expression = given.define[missing[0]]
    try:
        expression.evaluate(values)
    except ExpressionError as error:
        return str(error)
    return ""


def _at(x: Array, state: int) -> float:
    return float(x if np.ndim(x) == 0 else x[state])
