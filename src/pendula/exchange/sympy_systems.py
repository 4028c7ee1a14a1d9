"""Equations of motion from ``sympy.physics.mechanics`` as given equations: to compare with a model, and to run.

``KanesMethod``, ``LagrangesMethod`` and ``System`` hold M and f of M x = f, with x the rates of the generalized speeds
and the multipliers. Here they become rows in the language of model files: of coordinates, rates and accelerations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import symengine as se

from pendula.analysis.court.given_system import compile_equations
from pendula.equations.equations import PARTS, Equations
from pendula.equations.matrix import entries
from pendula.errors import NotSupported, UsageError
from pendula.exchange import refusals
from pendula.model.model import Model
from pendula.model.names import check_name, cleaned_name
from pendula.system.build import compile_system
from pendula.system.system import System
from pendula.words import counted, readable


@readable
@dataclass(frozen=True)
class SympyGiven:
    """Equations of a SymPy system in the form that ``check_against`` and ``compile_equations`` read.

    Attributes:
        title: which method they come from.
        given: the content of a file of given equations, as a mapping.
        coordinates: names of the coordinates.
        parameters: names of the constants in the equations.
        unknowns: names of the multipliers.
        values: the values of the constants that were given.

    Example:
        >>> from sympy import symbols
        >>> from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
        >>> from sympy import cos
        >>> theta, (m, l, g) = dynamicsymbols("theta"), symbols("m l g")
        >>> rate = dynamicsymbols("theta", 1)
        >>> method = LagrangesMethod(m * l**2 * rate**2 / 6 + m * g * l * cos(theta) / 2, [theta])
        >>> _ = method.form_lagranges_equations()
        >>> found = from_sympy(method)
        >>> found.coordinates, found.parameters
        (('theta',), ('g', 'l', 'm'))
        >>> import pendula
        >>> pendula.derivation.check_against("pendulum", found.given).passed
        True
    """

    title: str
    given: dict[str, Any]
    coordinates: tuple[str, ...]
    parameters: tuple[str, ...]
    unknowns: tuple[str, ...]
    values: dict[str, float]

    def __str__(self) -> str:
        rows = counted(len(self.given["equations"]), "equation")
        return f"{self.title}: {rows} for {', '.join((*self.coordinates, *self.unknowns))}"

    def stand_in(self, *, initial_state: Mapping[str, float] | None = None) -> Model:
        """A model with these coordinates and constants, for ``compile_equations`` to run the equations without one.

        Every coordinate belongs to a slider of unit mass. Only names, values and the initial state matter: the
        equations replace those of the sliders. Its energies and drawings say nothing about the SymPy system.

        Raises:
            UsageError: a constant has no value.
        """
        missing = [name for name in self.parameters if name not in self.values]
        if missing:
            raise UsageError(
                f"the constants {', '.join(missing)} have no values; give them to from_sympy(..., parameters=...)"
            )
        return Model(
            name=f"stand-in for {self.title}"[:100],
            description="Sliders that lend their names to given equations; energies and drawings have no meaning.",
            gravity=[0, 0, 0],
            parameters={name: self.values[name] for name in self.parameters},
            bodies=[{"name": f"slider {name}", "point": {"mass": 1}} for name in self.coordinates],
            joints=[
                {"name": name, "type": "prismatic", "parent": "ground", "child": f"slider {name}"}
                for name in self.coordinates
            ],
            initial=dict(initial_state or {}),
        )


def from_sympy(
    method: Any, *, parameters: Mapping[Any, float] | None = None, coordinates: Mapping[str, str] | None = None
) -> SympyGiven:
    """Equations of a ``KanesMethod``, ``LagrangesMethod`` or ``System`` of SymPy, as given equations.

    Generalized speeds that are not rates of coordinates are replaced by means of the kinematic equations. Names must be
    those of the model to compare with: of parameters, and of coordinates unless ``coordinates`` translates them.

    Args:
        method: a method whose equations have been formed.
        parameters: values of the constants, by symbol or name; needed to run the equations without a model.
            Symbols that do not occur in the equations are ignored.
        coordinates: own name -> expression of the model's coordinates, if they differ.

    Raises:
        UsageError: it is not such a method, or its equations have not been formed.
        NotSupported: the equations contain a function that the language of model files does not have.

    Example:
        >>> import pendula, sympy
        >>> from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
        >>> x, (m, k) = dynamicsymbols("x"), sympy.symbols("m k")
        >>> oscillator = LagrangesMethod(m * x.diff() ** 2 / 2 - k * x**2 / 2, [x])
        >>> _ = oscillator.form_lagranges_equations()
        >>> found = from_sympy(oscillator, parameters={m: 2.0, k: 8.0})
        >>> run = pendula.simulate(compile_sympy(found, initial_state={"x": 1.0}), 3.0)
        >>> abs(float(run["x"][-1]) - float(sympy.cos(6.0))) < 1e-6
        True
    """
    import sympy
    import sympy.physics.mechanics as mechanics

    own = method.eom_method if isinstance(method, mechanics.System) else method
    if isinstance(method, mechanics.System) and own is None:
        raise UsageError("from_sympy: the equations of the System are not formed yet; call form_eoms() first")
    if isinstance(own, mechanics.KanesMethod):
        rows = _kane_rows(own, sympy)
    elif isinstance(own, mechanics.LagrangesMethod):
        rows = _lagrange_rows(own, sympy)
    else:
        raise UsageError(
            f"from_sympy expects a KanesMethod, LagrangesMethod or System of SymPy, found a {type(method).__name__}"
        )
    return _Writer(own, rows, sympy).result(parameters or {}, coordinates or {})


def compile_sympy(given: SympyGiven, *, initial_state: Mapping[str, float] | None = None) -> System:
    """The equations of a SymPy system as a system to simulate and to linearize, without a model.

    Its kinetic energy is v^T M v/2, and all forces count as applied, so that the energy account of a run compares this
    energy with their work. Nothing else is known of energies, and there is nothing to draw.

    Args:
        given: from :func:`from_sympy`, with values of all constants.
        initial_state: initial values of coordinates and rates by name; others are zero.

    Raises:
        UsageError: a constant has no value.
        NotSupported: there are multipliers.

    Example:
        >>> import sympy
        >>> from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
        >>> x = dynamicsymbols("x")
        >>> falling = LagrangesMethod(x.diff() ** 2 / 2 - 9 * x, [x])
        >>> _ = falling.form_lagranges_equations()
        >>> compile_sympy(from_sympy(falling)).accelerations([0.0], [0.0]).tolist()
        [-9.0]
    """
    if not isinstance(given, SympyGiven):
        raise UsageError(f"compile_sympy expects the result of from_sympy, found a {type(given).__name__}")
    if given.unknowns:
        raise NotSupported(refusals.SYMPY_MULTIPLIERS, title=given.title, multipliers=", ".join(given.unknowns))
    equations = compile_equations(given.stand_in(initial_state=initial_state), given.given).equations
    return compile_system(_energy_of_masses(equations))


def _energy_of_masses(eq: Equations) -> Equations:
    """The equations with T = v^T M v/2, and f split into velocity products, which do no work on it, and the rest."""
    named: dict[Any, Any] = {}
    for symbol, expression in eq.definitions:
        named[symbol] = se.sympify(expression).subs(named)
    n, zero = len(eq.v), se.Integer(0)
    M = [[zero] * n for _ in range(n)]
    for i, j, x in entries(eq.M):
        M[i][j] = se.sympify(x).subs(named)
    twice = sum((M[i][j] * eq.v[i] * eq.v[j] for i in range(n) for j in range(n)), zero)
    f = [sum((se.sympify(row[k]).subs(named) for row in eq.parts.free.values()), zero) for k in range(n)]
    inertia = []
    for i in range(n):
        bends = [M[i][j].diff(q) * rate * eq.v[j] for j in range(n) for q, rate in zip(eq.q, eq.v, strict=True)]
        inertia.append(twice.diff(eq.q[i]) / 2 - sum(bends, zero))
    parts: dict[str, tuple[Any, ...]] = {part: (zero,) * n for part in PARTS}
    parts |= {"inertia": tuple(inertia), "applied": tuple(x - y for x, y in zip(f, inertia, strict=True))}
    return replace(eq, parts=replace(eq.parts, free=parts), kinetic=twice / 2, potential=zero)


@dataclass(frozen=True)
class _Rows:
    """Expressions that are zero, in coordinates as functions of time; the coordinates, and the multipliers."""

    zero: list[Any]
    q: list[Any]
    multipliers: list[Any]


def _formed(read: Any, call: str) -> Any:
    try:
        return read()
    except (ValueError, AttributeError, TypeError):
        raise UsageError(f"from_sympy: the equations are not formed yet; call {call} first") from None


def _kane_rows(kane: Any, sympy: ModuleType) -> _Rows:
    """M u' = f with u and u' in terms of rates: the kinematic equations solved for u."""
    M, f = _formed(lambda: (kane.mass_matrix, kane.forcing), "kanes_equations()")
    t = sympy.physics.vector.dynamicsymbols._t
    q, u = list(kane.q), list(kane.u)
    equations = [rate - expression for rate, expression in kane.kindiffdict().items()]
    solved = sympy.solve(equations, u, dict=True)
    if not solved:
        raise NotSupported(refusals.SYMPY_SPEEDS)
    speeds = solved[0]
    zero = M * sympy.Matrix([speeds[x].diff(t) for x in u]) - f
    return _Rows([x.subs(speeds).doit() for x in zero], q, [])


def _lagrange_rows(lagrange: Any, sympy: ModuleType) -> _Rows:
    """The rows of accelerations and multipliers of the full mass matrix."""
    M, f = _formed(lambda: (lagrange.mass_matrix_full, lagrange.forcing_full), "form_lagranges_equations()")
    t = sympy.physics.vector.dynamicsymbols._t
    q = list(lagrange.q)
    n = len(q)
    multipliers = list(getattr(lagrange, "lam_vec", sympy.Matrix([])) or [])
    unknown = sympy.Matrix([*(x.diff(t) for x in q), *(x.diff(t, 2) for x in q), *multipliers])
    zero = (M * unknown - f)[n:, :]
    return _Rows(list(zero), q, multipliers)


class _Writer:
    """Writes rows in the language of model files."""

    def __init__(self, method: Any, rows: _Rows, sympy: ModuleType) -> None:
        self.sympy, self.rows, self.method = sympy, rows, method
        t = self.t = sympy.physics.vector.dynamicsymbols._t
        self.names: dict[Any, str] = {}
        self.replaced: dict[Any, Any] = {}
        for x in rows.q:
            name = self._name(x, "coordinate")
            for order, ending in ((2, "_ddot"), (1, "_dot"), (0, "")):
                derivative = x.diff(t, order) if order else x
                self.replaced[derivative] = sympy.Symbol(name + ending)
        for x in rows.multipliers:
            self.replaced[x] = sympy.Symbol(self._name(x, "multiplier"))

    def _name(self, symbol: Any, what: str) -> str:
        name = str(symbol.func if getattr(symbol, "args", ()) else symbol)
        clean = cleaned_name(name)
        check_name(clean, what)
        if clean in self.names.values():
            raise UsageError(f'from_sympy: two symbols are called "{clean}"')
        self.names[symbol] = clean
        return clean

    def result(self, values: Mapping[Any, float], coordinates: Mapping[str, str]) -> SympyGiven:
        """The equations as a mapping."""
        sympy = self.sympy
        rows = []
        for row in self.rows.zero:
            for order in (2, 1, 0):  # derivatives first: they contain the functions
                row = row.xreplace({x: s for x, s in self.replaced.items() if _order(x) == order})
            rows.append(row)
        others = {s for row in rows for s in row.free_symbols} - set(self.replaced.values()) - {self.t}
        constants = {s: sympy.Symbol(self._name(s, "parameter")) for s in sorted(others, key=str)}
        texts = [f"{self._text(row.xreplace(constants).xreplace({self.t: sympy.Symbol('t')}))} = 0" for row in rows]
        given: dict[str, Any] = {"title": f"SymPy's {type(self.method).__name__}", "equations": texts}
        unknowns = tuple(str(self.replaced[x]) for x in self.rows.multipliers)
        if unknowns:
            given["unknowns"] = list(unknowns)
        if coordinates:
            given["coordinates"] = dict(coordinates)
        known = {cleaned_name(str(name)): float(value) for name, value in values.items()}
        parameters = tuple(str(s) for s in constants.values())
        extra = [name for name in values if isinstance(name, str) and cleaned_name(name) not in parameters]
        if extra:
            raise UsageError(
                f'from_sympy: the equations have no constant "{extra[0]}"; they have {", ".join(parameters)}'
            )
        names = tuple(str(self.replaced[x]) for x in self.rows.q)
        return SympyGiven(given["title"], given, names, parameters, unknowns, known)

    def _text(self, expression: Any) -> str:
        """An expression in the language of model files."""
        from pendula.model.expressions.expression import parse
        from pendula.model.names import ExpressionError

        left = expression.atoms(self.sympy.Derivative, self.sympy.core.function.AppliedUndef)
        if left:
            raise NotSupported(refusals.SYMPY_SYMBOL, symbol=min(map(str, left)))
        text = str(expression.replace(self.sympy.Abs, self.sympy.Function("abs")))
        try:
            parse(text)
        except ExpressionError as error:
            raise NotSupported(refusals.SYMPY_FUNCTION, error=error) from None
        return text


def _order(symbol: Any) -> int:
    return sum(count for _, count in getattr(symbol, "variable_count", ()))
