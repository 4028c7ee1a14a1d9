"""The equations of motion from poses alone: rotation matrices, inertia tensors in fixed axes, M, h and gravity.

Independent of the formulations: positions are differentiated, and h follows from M (Gupta and Saha, eqs. 5-13). Where
motions are prescribed, h follows from accelerations instead; where speeds are angular velocities, M and h follow from
velocities in body axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import symengine as se

from pendula.equations import vectors as vec
from pendula.equations.equations import Equations
from pendula.equations.matrix import entries
from pendula.equations.stages.charts import Charts
from pendula.equations.tape import is_zero
from pendula.equations.translate import translate
from pendula.model.expressions.expression import parse

Entries = dict[str, Any]
"""Label -> expression."""


@dataclass(frozen=True)
class Solid:
    """A body with mass: its name, R_WB, position of its mass centre, mass, and inertia in body axes."""

    name: str
    R: Sequence[Sequence[Any]]
    center: Sequence[Any]
    mass: Any
    inertia: Sequence[Sequence[Any]]


class Derivation:
    """The stages of one set of equations; every method returns the entries of one stage."""

    def __init__(self, eq: Equations) -> None:
        self.eq, self.charts = eq, Charts(eq)
        self.solids = [self._solid(body) for body in eq.model.bodies]
        self.solids = [s for s in self.solids if not is_zero(s.mass)]
        self.qdot = [self.charts.inline(x) for x in eq.qdot]
        seen = [x for s in self.solids for vector in (s.center, *s.R) for x in vector]
        moving = any(eq.t in se.sympify(x).free_symbols for x in seen)
        rates = [str(x) for x in self.qdot] == [str(v) for v in eq.v]
        self.from_masses = rates and not moving
        """whether all speeds are rates of coordinates and nothing is prescribed: then h follows from M"""
        self.in_own_axes = not rates
        """whether some speeds are angular velocities: then M and h are short in body axes"""
        self.names = [str(v) for v in eq.v]

    def _solid(self, body: Any) -> Solid:
        properties, read = body.mass_properties(), self._read
        R, r = self.eq.poses[body.name]
        turned = [[self.charts.inline(x) for x in row] for row in R]
        center = vec.add([self.charts.inline(x) for x in r], vec.times(turned, [read(x) for x in properties.com]))
        inertia = [[read(x) for x in row] for row in properties.inertia]
        return Solid(body.name, turned, [se.sympify(x) for x in center], read(properties.mass), inertia)

    def _read(self, scalar: Any) -> Any:
        """A field of the model with symbols for its parameters."""
        return se.sympify(translate(parse(scalar), {n: se.Symbol(n) for n in self.eq.model.parameters}))

    # -- differentiation --------------------------------------------------------------------------

    def rate(self, e: Any) -> Any:
        """Time derivative of an expression of q and t."""
        e = se.sympify(e)
        terms = [self._by(e, q) * rate for q, rate in zip(self.eq.q, self.qdot, strict=True)]
        return vec.total([*terms, e.diff(self.eq.t)])

    def _by(self, e: Any, q: Any) -> Any:
        return self.charts.surface.derivative(e, q)

    def _by_speed(self, e: Any) -> list[Any]:
        return [se.sympify(e).diff(v) for v in self.eq.v]

    # -- the stages -------------------------------------------------------------------------------

    def rotations(self) -> Entries:
        """R_WB of every body."""
        return {f"R[{s.name}, {i + 1}, {j + 1}]": s.R[i][j] for s in self.solids for i in range(3) for j in range(3)}

    def angular_velocities(self, R: Entries) -> Entries:
        """omega of every body in fixed axes, from R' R^T."""
        found = {}
        for s in self.solids:
            turned = self.matrix(R, "R", s)
            rates = [[self.rate(x) for x in row] for row in turned]
            for axis, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
                found[f"w[{s.name}, {axis + 1}]"] = se.sympify(vec.dot(rates[i], turned[j]))
        return found

    def tensors(self, R: Entries) -> Entries:
        """The inertia tensor of every body about its mass centre in fixed axes, one half of it."""
        found: Entries = {}
        for s in self.solids:
            turned = self.matrix(R, "R", s)
            tensor = vec.product(vec.product(turned, s.inertia), vec.transposed(turned))
            found |= {
                f"I[{s.name}, {i + 1}, {j + 1}]": se.sympify(tensor[i][j]) for i in range(3) for j in range(i + 1)
            }
        return found

    def velocities(self) -> Entries:
        """The velocity of the mass centre of every body in fixed axes."""
        return {f"u[{s.name}, {k + 1}]": se.sympify(self.rate(x)) for s in self.solids for k, x in enumerate(s.center)}

    def in_body_axes(self, R: Entries, u: Entries, w: Entries) -> Entries:
        """The velocity of the mass centre and the angular velocity of every body in its own axes."""
        found: Entries = {}
        for s in self.solids:
            back = vec.transposed(self.matrix(R, "R", s))
            for letter, given in (("u", u), ("w", w)):
                turned = vec.times(back, self.vector(given, letter, s))
                found |= {f"{letter}[{s.name}, {k + 1}]": se.sympify(x) for k, x in enumerate(turned)}
        return found

    def masses(self, u: Entries, w: Entries, tensors: Entries | None) -> Entries:
        """One half of M: sum of m J^T J + L^T I L over the bodies (Gupta and Saha, eq. 10).

        Without tensors, velocities are in body axes, and so is I.
        """
        n = len(self.names)
        sums: dict[tuple[int, int], list[Any]] = {(i, j): [] for i in range(n) for j in range(i + 1)}
        for s in self.solids:
            J = self._columns(self.vector(u, "u", s))
            L = self._columns(self.vector(w, "w", s))
            tensor = s.inertia if tensors is None else self.tensor(tensors, s)
            for i, j in sums:
                sums[i, j].append(s.mass * vec.dot(J[i], J[j]) + vec.dot(L[i], vec.times(tensor, L[j])))
        return {f"M[{self.names[i]}, {self.names[j]}]": se.sympify(vec.total(x)) for (i, j), x in sums.items()}

    def coriolis(self, M: Entries, u: Entries, w: Entries, tensors: Entries | None) -> Entries:
        """h of M v' + h + gamma = tau; without tensors, velocities are in body axes."""
        rows = self._from_masses(M) if self.from_masses else self._from_accelerations(u, w, tensors)
        return {f"h[{name}]": se.sympify(x) for name, x in zip(self.names, rows, strict=True)}

    def _from_masses(self, M: Entries) -> list[Any]:
        """Sum of (dM_ij/dq_k - dM_jk/dq_i / 2) v_j v_k (Gupta and Saha, eq. 11)."""
        eq, n = self.eq, len(self.names)
        matrix = [[M[f"M[{self.names[max(i, j)]}, {self.names[min(i, j)]}]"] for j in range(n)] for i in range(n)]
        half = se.Rational(1, 2)
        rows = []
        for i in range(n):
            terms = [
                (self._by(matrix[i][j], eq.q[k]) - half * self._by(matrix[j][k], eq.q[i])) * eq.v[j] * eq.v[k]
                for j in range(n)
                for k in range(n)
            ]
            rows.append(vec.total([x for x in terms if x != 0]))
        return rows

    def _from_accelerations(self, velocities: Entries, spins: Entries, tensors: Entries | None) -> list[Any]:
        """Sum of J^T m a + L^T (I omega' + omega x I omega) at v' = 0; a = u' + omega x u in body axes."""
        rows: list[list[Any]] = [[] for _ in self.names]
        for s in self.solids:
            u, w = self.vector(velocities, "u", s), self.vector(spins, "w", s)
            tensor = s.inertia if tensors is None else self.tensor(tensors, s)
            a, alpha = [self.rate(x) for x in u], [self.rate(x) for x in w]
            if tensors is None:
                a = vec.add(a, vec.cross(w, u))
            torque = vec.add(vec.times(tensor, alpha), vec.cross(w, vec.times(tensor, w)))
            for row, J, L in zip(rows, self._columns(u), self._columns(w), strict=True):
                row += [s.mass * vec.dot(J, a), vec.dot(L, torque)]
        return [vec.total(row) for row in rows]

    def momenta(self, w: Entries, tensors: Entries) -> Entries:
        """The angular momentum of every body about its mass centre in fixed axes, by its tensor in these."""
        found: Entries = {}
        for s in self.solids:
            found |= self._momentum(s, vec.times(self.tensor(tensors, s), self.vector(w, "w", s)))
        return found

    def turned_momenta(self, R: Entries, moving: Entries) -> Entries:
        """The same from velocities in body axes."""
        found: Entries = {}
        for s in self.solids:
            own = vec.times(s.inertia, self.vector(moving, "w", s))
            found |= self._momentum(s, vec.times(self.matrix(R, "R", s), own))
        return found

    def _momentum(self, s: Solid, vector: Sequence[Any]) -> Entries:
        return {f"H[{s.name}, {k + 1}]": se.sympify(x) for k, x in enumerate(vector)}

    def gravity(self, u: Entries) -> Entries:
        """gamma = -sum of m g . J (Gupta and Saha, eq. 12)."""
        down = [self._read(x) for x in self.eq.model.gravity]
        rows: list[list[Any]] = [[] for _ in self.names]
        for s in self.solids:
            for row, j in zip(rows, self._columns(self.vector(u, "u", s)), strict=True):
                row.append(-s.mass * vec.dot(down, j))
        return {f"gamma[{n}]": se.sympify(vec.total(x)) for n, x in zip(self.names, rows, strict=True)}

    def constraints(self) -> Entries:
        """The rows of G v' = c of closed loops."""
        eq = self.eq
        found = {f"G[{r + 1}, {self.names[k]}]": self.charts.inline(x) for r, k, x in entries(eq.G)}
        return found | {f"c[{r + 1}]": self.charts.inline(x) for r, x in enumerate(eq.c)}

    # -- reading entries --------------------------------------------------------------------------

    def _columns(self, vector: Sequence[Any]) -> list[list[Any]]:
        """Derivatives of a velocity by the speeds, one column each."""
        return vec.transposed([self._by_speed(x) for x in vector])

    def matrix(self, given: Entries, letter: str, s: Solid) -> list[list[Any]]:
        """A 3 x 3 matrix of a body from the entries of a stage."""
        return [[given[f"{letter}[{s.name}, {i + 1}, {j + 1}]"] for j in range(3)] for i in range(3)]

    def tensor(self, given: Entries, s: Solid) -> list[list[Any]]:
        """A symmetric one."""
        return [[given[f"I[{s.name}, {max(i, j) + 1}, {min(i, j) + 1}]"] for j in range(3)] for i in range(3)]

    def vector(self, given: Entries, letter: str, s: Solid) -> list[Any]:
        """A vector of a body from the entries of a stage."""
        return [given[f"{letter}[{s.name}, {i + 1}]"] for i in range(3)]
