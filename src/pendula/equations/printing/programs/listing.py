"""The content of programs in all languages: names without clashes, units, parameters, and the formulas.

Every program has the same functions:

    dynamics    M, f, q', G, c from t, q, v, inputs and all parameters
    residuals   g, then G v - b: zero where the constraints hold; only if there are any
    solve       q', v' and the multipliers of the loops
    rhs         y' for integrators

Parameters that depend on others are computed from them, and inputs have the values that the model gives them unless
the caller passes other ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import symengine as se

from pendula.equations.equations import Equations
from pendula.equations.given import Given
from pendula.equations.matrix import entries
from pendula.equations.printing import code
from pendula.equations.printing.form import Form, used_intermediates
from pendula.equations.printing.names import free_names
from pendula.equations.tape import is_zero
from pendula.model.checks.parameter_units import parameter_units

FUNCTIONS = "dynamics residuals solve rhs solve_linear independent parameters_and_inputs PARAMETERS"
"""Names that programs in all languages define."""


@dataclass(frozen=True)
class Body:
    """The content of a function.

    Attributes:
        unpacked: (name, array, index from 0) of the entries of arrays that it reads.
        definitions: (name, text) of the named intermediates.
        stored: (array, index from 0, text) of its results that are not zero.
        zeros: (array, index from 0) of those that are.
        sizes: length of every array of results, by its name.
    """

    unpacked: tuple[tuple[str, str, int], ...]
    definitions: tuple[tuple[str, str], ...]
    stored: tuple[tuple[str, int, str], ...]
    zeros: tuple[tuple[str, int], ...]
    sizes: dict[str, int]


class Listing:
    """The content of a program: names, parameters in the order of their dependence, and the formulas.

    Attributes:
        eq: the equations.
        block: names of the arrays q, v, u, p, M, f, qdot, G, c, g, b.
        arguments: names of the arguments of ``dynamics`` and ``constraints``: t, q, v, u, p.
        independent: values of the parameters that a caller may set.
        gaps: number of entries of g.
    """

    def __init__(self, eq: Equations, language: code.Language, longest: int = 0) -> None:
        self.eq, self.form = eq, Form(eq)
        symbols = [eq.t, *eq.q, *eq.v, *eq.u, *eq.p, *(s for s, _ in eq.definitions)]
        given = Given.of(eq.model)
        words = {*map(str, symbols), *eq.model.parameters}
        reserved = language.reserved | {*FUNCTIONS.split()}
        self.language = replace(language, spelled=_spelled(sorted(words), reserved, longest))
        blocks = free_names({*words, *self.language.spelled.values()})
        arrays = ("q", "v", "u", "p", "M", "f", "qdot", "G", "c", "g", "b")
        self.block = {name: _free(blocks[name], words | reserved) for name in arrays}
        self.independent = given.independent
        self._derived = given.derived
        self._inputs = [given.inputs[str(s)] for s in eq.u]
        self.gaps = len(eq.g)
        self.arguments = ("t", *(self.block[x] for x in ("q", "v", "u", "p")))

    @property
    def derived(self) -> list[tuple[str, str]]:
        """(name, text) of the parameters that depend on others, in the order in which they are computed."""
        return [(self.name(n), self.write(e)) for n, e in self._derived]

    @property
    def inputs(self) -> list[str]:
        """Text of every input."""
        return [self.write(e) for e in self._inputs]

    def dynamics(self) -> Body:
        """M, f, q', G and c."""
        n, m = len(self.eq.v), self.eq.loop_rows
        return self._body(self._dynamics(), {"M": n * n, "f": n, "qdot": len(self.eq.q), "G": m * n, "c": m})

    def residuals(self) -> Body:
        """g, G and b."""
        eq, n = self.eq, len(self.eq.v)
        outputs = [("g", k, self.shown(x)) for k, x in enumerate(eq.g)]
        outputs += [("G", r * n + j, self.shown(x)) for r, j, x in entries(eq.G)]
        outputs += [("b", r, self.shown(x)) for r, x in enumerate(eq.b)]
        return self._body(outputs, {"g": self.gaps, "G": eq.loop_rows * n, "b": eq.loop_rows})

    def _dynamics(self) -> Iterable[tuple[str, int, Any]]:
        eq, n = self.eq, len(self.eq.v)
        yield from (("M", i * n + j, self.shown(x)) for i, j, x in entries(eq.M))
        if self.form.small:  # the printed parts, which are shorter than their sum written anew
            rows = list(zip(*eq.parts.free.values(), strict=True))
            yield from (("f", i, sum((self.shown(x) for x in row), se.Integer(0))) for i, row in enumerate(rows))
        else:
            yield from (("f", i, self.shown(x)) for i, x in enumerate(eq.f))
        yield from (("qdot", i, self.shown(x)) for i, x in enumerate(eq.qdot))
        yield from (("G", r * n + j, self.shown(x)) for r, j, x in entries(eq.G))
        yield from (("c", r, self.shown(x)) for r, x in enumerate(eq.c))

    def _body(self, results: Iterable[tuple[str, int, Any]], sizes: dict[str, int]) -> Body:
        outputs = [(x, k, se.sympify(e)) for x, k, e in results]
        definitions = () if self.form.small else used_intermediates(self.eq, [e for _, _, e in outputs])
        needed = {str(s) for _, e in definitions for s in se.sympify(e).free_symbols}
        needed |= {str(s) for _, _, e in outputs for s in e.free_symbols}
        groups = (("q", self.eq.q), ("v", self.eq.v), ("u", self.eq.u), ("p", self.eq.p))
        pairs = [(s, self.block[array], k) for array, symbols in groups for k, s in enumerate(symbols)]
        return Body(
            tuple((self.name(s), array, k) for s, array, k in pairs if str(s) in needed),
            tuple((self.name(s), self.write(e)) for s, e in definitions),
            tuple((self.block[x], k, self.write(e)) for x, k, e in outputs if not is_zero(e)),
            tuple((self.block[x], k) for x, k, e in outputs if is_zero(e)),
            {self.block[x]: size for x, size in sizes.items()},
        )

    @property
    def read_parameters(self) -> list[str]:
        """Independent parameters that the equations, other parameters or inputs use."""
        needed = {str(s) for _, e in self._derived for s in se.sympify(e).free_symbols}
        needed |= {str(s) for e in (*self._inputs, *self.eq.p) for s in se.sympify(e).free_symbols}
        return [n for n in self.independent if n in needed]

    @property
    def all_parameters(self) -> list[str]:
        """Names of all parameters of the equations in the language, in the order of p."""
        return [self.name(s) for s in self.eq.p]

    def shown(self, e: Any) -> Any:
        """An expression in the form that is printed."""
        return self.form.in_program(e)

    def write(self, e: Any) -> str:
        """An expression in the language."""
        return code.write(e, self.language)

    def name(self, symbol: Any) -> str:
        """A symbol in the language."""
        return self.language.name_of(symbol)

    def units(self) -> dict[str, str]:
        """Units of coordinates, speeds, and of the parameters for which the model determines one."""
        eq, names = self.eq, self.eq.model.unit_names
        found = dict(parameter_units(eq.model))
        found |= {c.name: names.coordinate(c.kind) for c in eq.coordinates}
        return found | {s.name: names.speed(s.kind) for s in eq.speeds}

    def head(self) -> list[str]:
        """The comment at the beginning of the program, line by line."""
        eq, block, units = self.eq, self.block, self.units()

        def listed(symbols: Sequence[Any]) -> str:
            return ", ".join(f"{s} [{units[str(s)]}]" if units.get(str(s)) else str(s) for s in symbols) or "none"

        law = f"{block['M']} v' = {block['f']}"
        law += f" + {block['G']}^T lam, {block['G']} v' = {block['c']}" if eq.G else ""
        lines = [f"{eq.model.name}: equations of motion by {eq.formulation}, {law}.", ""]
        lines.append(f"y = ({', '.join(map(str, (*eq.q, *eq.v)))})")
        lines += [f"{block[x]}: {listed(s)}" for x, s in (("q", eq.q), ("v", eq.v), ("u", eq.u), ("p", eq.p))]
        lines.append(f"units: {eq.model.units}")
        if eq.G:
            rows = "; ".join(eq.constraint_names[: eq.loop_rows])
            lines.append(f"rows of {block['G']} and {block['c']}: {rows}")
        if eq.g:
            lines.append(f"residuals: {'; '.join(eq.constraint_names)}")
        return lines + [f"{n} = {code.write(e, code.PLAIN)}" for n, e in self._derived]


def _spelled(words: Sequence[str], reserved: frozenset[str] | set[str], longest: int) -> dict[str, str]:
    """Other names for those that mean something in the language or are too long for it."""
    taken, found = {*words, *reserved}, {}
    for word in words:
        if word in reserved:
            found[word] = _free(word + "_", taken)
        elif longest and len(word) > longest:
            found[word] = next(x for k in range(len(words)) if (x := f"{word[: longest - 6]}_{k}") not in taken)
        else:
            continue
        taken.add(found[word])
    return found


def _free(name: str, taken: Iterable[str]) -> str:
    """A name that is not taken: underscores are appended as needed."""
    names = set(taken)
    while name in names:
        name += "_"
    return name


def identifier(name: str, reserved: Iterable[str] = ()) -> str:
    """A name of a model or file as an identifier: ASCII letters, digits and underscores.

    Example:
        >>> identifier("four-bar (crossed)"), identifier("3 links"), identifier("class", {"class"})
        ('four_bar_crossed', 'model_3_links', 'class_')
    """
    kept = "".join(c if c.isalnum() and c.isascii() else " " for c in name)
    found = "_".join(kept.split())
    return _free(found if found[:1].isalpha() else f"model_{found}".rstrip("_"), reserved)
