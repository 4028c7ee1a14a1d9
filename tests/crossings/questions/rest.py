"""Rest: what holds a pose, where nothing moves, and small motion about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import pendula
from pendula.analysis.court.second_reader import evaluate_text
from pendula.errors import NotAnEquilibrium, NotSupported, PendulaError, UsageError
from tests.crossings import oracle
from tests.crossings.carry import Carried
from tests.crossings.case import Case, Unsuitable, Wrong
from tests.crossings.mechanism import Array
from tests.crossings.oracle import Mechanism, Moment
from tests.crossings.questions.states import compare, displaced, slopes_of_rows
from tests.crossings.questions.still import settled

STARTS = 3
"""of a search: its equilibria are asked for, not whether it finds all"""
BALANCED = 1e-6
"""accelerations at rest, relative to gravity and springs"""
TWICE = 1e-6
"""poses that differ by less are one"""
STEP = 1e-5
SMOOTH = 1e-6
"""differences over such a step, relative to the largest"""
CONSTANT = {"F": 0.4, "G": -0.3}
"""inputs of time, held"""


@dataclass(frozen=True)
class Rest:
    """A mechanism at rest, as the oracle sees it.

    Attributes:
        case: the case.
        own: the oracle; where motions move, with each held at its place.
        inputs: what is asked for besides the run's own inputs.
    """

    case: Case
    own: Mechanism
    inputs: Mapping[str, float]

    def moment(self, q: Mapping[str, float], v: Mapping[str, float] | None = None, t: float = 0.0) -> Moment:
        """A state with the inputs that act there."""
        speeds = dict.fromkeys(self.own.free, 0.0) | dict(v or {})
        x = Moment(t, dict(q), speeds)
        return Moment(t, x.q, x.v, {}, self.u(x))

    def u(self, x: Moment) -> dict[str, float]:
        """The inputs at a state: held, or by their laws."""
        state = {**x.q, **x.v}
        return self.case.values_at(x.t, state, lambda _: state) | dict(self.inputs)

    def moved(self, x: Moment, ds: Mapping[str, float], dv: Mapping[str, float]) -> Array:
        """Accelerations beside a state."""
        beside = displaced(self.own, x, ds, dv)
        return self.accelerations(Moment(x.t, beside.q, beside.v, {}, self.u(beside)))

    def accelerations(self, x: Moment) -> Array:
        """Accelerations of the free speeds."""
        found = self.own.accelerations(x).a
        return np.array([found[name] for name in self.own.free])


def as_it_is(case: Case) -> Rest:
    """The mechanism with its motions; an input of time is held."""
    stay = {
        "F": case.row["input"] in ("none", "number", "feedback"),
        "G": case.row["beside"] in ("nothing", "model", "number"),
    }
    return Rest(case, case.own, {name: CONSTANT[name] for name in stay if not stay[name]})


def never_alone(case: Case, ask: Callable[[], Any]) -> None:
    """An input that changes with time, or that only the run knows, has no value at rest: asked without one, none is made up."""
    if as_it_is(case).inputs:
        try:
            ask()
        except NotAnEquilibrium:
            pass  # by a value that nobody gave
        except (NotSupported, UsageError) as error:
            if isinstance(error, NotSupported) or "depend" in str(error):
                return
            raise
        raise Wrong(f"{sorted(as_it_is(case).inputs)} change with time; at rest others are taken without a word")


def held(case: Case, t: float = 0.0) -> tuple[Rest, dict[str, Any]]:
    """The mechanism with its motions held where they are at a time, and its data."""
    data = case.drawn.data
    zero = {"t": t, **case.own.values.parameters}

    def still(value: Any) -> Any:
        return float(evaluate_text(value, zero).x) if isinstance(value, str) else value

    joints = []
    for joint in data["joints"]:
        joint = dict(joint)
        if "motion" in joint:
            motion = joint["motion"]
            joint["motion"] = (
                {n: str(still(x)) for n, x in motion.items()} if isinstance(motion, dict) else still(motion)
            )
            joint["motion"] = str(joint["motion"]) if not isinstance(motion, dict) else joint["motion"]
        for side in ("parent", "child"):
            if isinstance(joint.get(side), dict) and "position" in joint[side]:
                joint[side] = {**joint[side], "position": [still(x) for x in joint[side]["position"]]}
        joints.append(joint)
    data = {**data, "joints": joints}
    return Rest(case, oracle.Mechanism(data, case.parameters), as_it_is(case).inputs), data


def still_system(case: Case, rest: Rest, data: Mapping[str, Any]) -> Any:
    """The system of a mechanism that is held, with the laws that its caller gives for inputs."""
    laws = {name: x for name, x in case.inputs.items() if name not in rest.inputs}
    return case.compiled(pendula.Model(**{**data, "inputs": {**data.get("inputs", {}), **laws}}))


def depends_on_time(rest: Rest, q: Mapping[str, float]) -> bool:
    """Whether accelerations from rest differ from time to time, or something moves by itself."""
    values = []
    for t in (0.03, 0.21, 0.34):
        x = rest.moment(q, t=t)
        rates = [jet.d for name, jet in rest.own.instant(x).now.jets.items() if name in rest.own.known]
        ends = [rest.own.bodies(x)[name].v for name in rest.own.solids]
        if np.abs([*rates, 0.0]).max() > 1e-9 or np.abs(ends).max() > 1e-9:
            return True
        values.append(rest.accelerations(x))
    return bool(np.abs(np.array(values) - values[0]).max() > 1e-7 * (1 + np.abs(values).max()))


def says_so(rest: Rest, carried: Carried, error: PendulaError) -> None:
    """Accepts that there is no rest because forces depend on time, if the oracle says so as well."""
    if "depend on time" not in str(error) and "depends on time" not in str(error):
        raise error
    if not depends_on_time(rest, carried.moments[0].q):
        raise Wrong(f"nothing depends on time, but: {error}")


def equilibria(case: Case, carried: Carried) -> None:
    """Every equilibrium that is found is at rest, is listed once, and their potentials differ as the oracle's do.

    Where motions move, there is none; they are held where they begin, and it is asked again.
    """
    never_alone(case, lambda: pendula.find_equilibria(carried.system, starts=STARTS))
    if _all_at_rest(case, carried, as_it_is(case), carried.system) or case.row["drive"] in ("none", "held"):
        return
    rest, data = held(case)
    laws = {name: x for name, x in case.inputs.items() if name not in rest.inputs}
    if laws:
        data = {**data, "inputs": {**data["inputs"], **laws}}
    _all_at_rest(case, carried, rest, pendula.compile_system(pendula.Model(**data)))


def _all_at_rest(case: Case, carried: Carried, rest: Rest, system: Any) -> bool:
    """Whether there are equilibria; False if forces depend on time, and it is said so."""
    given: dict[str, Any] = {"inputs": rest.inputs} if rest.inputs else {}
    try:
        found = pendula.find_equilibria(system, starts=STARTS, parameters=carried.run.parameters, **given)
    except (NotSupported, UsageError) as error:
        says_so(rest, carried, error)
        return False
    if depends_on_time(rest, carried.moments[0].q):
        raise Wrong("forces depend on time, and an equilibrium is claimed")
    heights, places = [], list[Array]()
    for one in found:
        if one.singular:
            continue
        joints = system.in_joints.read_state(one.state, carried.run.parameters)
        x = rest.moment(dict(zip(joints.layout.coordinates, map(float, joints.q), strict=True)))
        if one.steady:
            raise Wrong(f"an equilibrium moves: {one.v}")
        at_rest(rest, x)
        heights.append((one.potential, rest.own.potential(x)))
        places.append(_place(rest.own, x, heights[-1][1]))
        if not one.free_directions and any(np.abs(other - places[-1]).max() < TWICE for other in places[:-1]):
            raise Wrong(f"the equilibrium at {dict(x.q)} is listed twice")
    if not heights:
        raise Unsuitable("no equilibrium was found")
    difference = np.diff(np.array(heights), axis=0)
    compare("potentials of equilibria", (), difference[:, 0], difference[:, 1], 1e-7)
    return True


def _place(own: Mechanism, x: Moment, potential: float) -> Array:
    """Poses of all bodies, the coordinates of all joints but the shoulder, and the potential: numbers of one place."""
    poses = [number for body in own.bodies(x).values() for number in (*body.R.ravel(), *body.r)]
    return np.array([*poses, *(value for name, value in x.q.items() if not name.startswith("shoulder")), potential])


def coordinates(carried: Carried, state: Any) -> dict[str, float]:
    joints = carried.system.in_joints.read_state(state, carried.run.parameters)
    return dict(zip(joints.layout.coordinates, map(float, joints.q), strict=True))


def at_rest(rest: Rest, x: Moment) -> None:
    """Raises Wrong unless nothing accelerates and the loops are closed."""
    a, gaps = rest.accelerations(x), rest.own.gaps(x)[0]
    scale = 10 + np.abs([float(rest.accelerations(_shaken(rest, x, way)) @ a) for way in (1,)]).max()
    if not np.abs(a).max(initial=0.0) <= BALANCED * scale or not np.abs(gaps).max(initial=0.0) <= 1e-7:
        raise Wrong(f"at {dict(x.q)} there is no rest: accelerations {a}, gaps {gaps}")


def _shaken(rest: Rest, x: Moment, way: float) -> Moment:
    beside = displaced(rest.own, x, dict.fromkeys(rest.own.free, 0.1 * way), {})
    return Moment(x.t, beside.q, beside.v, {}, rest.u(beside))


# -- small motion ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Small:
    """Small motion by differences of the oracle: M e'' + C e' + K e = F u, with ds = Z e."""

    M: Array
    C: Array
    K: Array
    F: Array
    Z: Array


def small_motion(rest: Rest, x: Moment, chosen: tuple[str, ...] | None, *, by_input: Sequence[str]) -> Small:
    """Central differences at rest, in the basis whose rows of the chosen speeds are one, or in any."""
    own, n = rest.own, len(rest.own.free)
    Z = slopes_of_rows(own, x)[1]
    if chosen is not None:
        Z = Z @ np.linalg.inv(Z[[own.free.index(name) for name in chosen]])
    inverse = np.linalg.pinv(Z)

    def slope(e: Array, *, rates: bool) -> Array:
        along = [dict(zip(own.free, (way * STEP * e).tolist(), strict=True)) for way in (1, -1)]
        up, down = (rest.moved(x, {}, one) if rates else rest.moved(x, one, {}) for one in along)
        return np.asarray(inverse @ (up - down) / (2 * STEP))

    M = Z.T @ own.mass_matrix(own.instant(x))[:n, :n] @ Z
    by_e = np.array([slope(e, rates=False) for e in Z.T]).T
    by_rate = np.array([slope(e, rates=True) for e in Z.T]).T
    columns = []
    for name in by_input:
        ends = [Moment(x.t, x.q, x.v, {}, {**x.u, name: x.u.get(name, 0.0) + h}) for h in (0.5, -0.5)]
        up, down = map(rest.accelerations, ends)
        columns.append(M @ inverse @ (up - down))
    F = np.array(columns).reshape(-1, len(M)).T
    return Small(M, -M @ by_rate, -M @ by_e, F, Z)


def linearized(case: Case, carried: Carried) -> tuple[Any, Small, bool] | None:
    """A linear model of the run's system, small motion by the oracle, and whether both have one basis.

    Where motions move, they are held where they begin; None where forces depend on time and it is said so.
    """
    system, p = carried.system, carried.run.parameters
    moving = case.row["drive"] not in ("none", "held")
    rest = as_it_is(case)
    given: dict[str, Any] = {"inputs": rest.inputs} if rest.inputs else {}
    try:
        if moving:
            rest, _ = held(case)
            q = a_place(rest, carried)
            linear = pendula.linear.linearize_motions(system, q, hold=0.0, parameters=p, **given)
            never_alone(case, lambda: pendula.linear.linearize_motions(system, q, hold=0.0, parameters=p))
        else:
            q = a_place(rest, carried)
            linear = pendula.linearize(system, q, parameters=p, **given)
            never_alone(case, lambda: pendula.linearize(system, q, parameters=p))
    except NotAnEquilibrium as error:
        if depends_on_time(rest, q):
            return None
        raise Wrong(f"at {q} all accelerations are zero, but: {error}") from None
    except (NotSupported, UsageError) as error:
        says_so(as_it_is(case), carried, error)
        return None
    if depends_on_time(rest, q):
        raise Wrong("forces depend on time, and a linear model is claimed")
    x = rest.moment(q)
    at_rest(rest, x)
    shared = not linear.chart and {*linear.speeds} <= {*rest.own.free}
    small = small_motion(rest, x, tuple(linear.speeds) if shared else None, by_input=linear.inputs)
    return linear, small, shared


def a_place(rest: Rest, carried: Carried) -> dict[str, float]:
    """Where to ask for small motion: a state of rest, or any if there is none because forces depend on time."""
    q = carried.moments[0].q
    return dict(q) if depends_on_time(rest, q) else settled(rest, q)


def linear_model(case: Case, carried: Carried) -> None:
    """M, C, K, F, A and B are those of differences of free bodies."""
    both = linearized(case, carried)
    if both is None:
        return
    linear, small, shared = both
    n = len(small.M)
    if linear.M.shape != small.M.shape:
        raise Wrong(f"the linear model has {len(linear.M)} coordinates, free bodies {n}")
    if shared:
        for name in ("M", "C", "K", "F"):
            size = max(1.0, float(np.abs(small.K).max()))
            compare(
                f"{name} of the linear model", linear.coordinates, *(getattr(x, name) for x in both[:2]), SMOOTH * size
            )
    for s in (0.4 + 0.0j, 1.0 + 2.0j, 3.0j, -0.5 + 6.0j):
        ours, right = (np.linalg.inv(s * s * x.M + s * x.C + x.K) for x in both[:2])
        a, b = (np.linalg.slogdet(x.M @ inverse) for x, inverse in ((linear, ours), (small, right)))
        if not abs(a[0] * np.exp(a[1] - b[1]) - b[0]) <= 1e-4:
            raise Wrong(f"characteristic polynomial at s = {s}: off by the factor {a[0] * np.exp(a[1] - b[1]) / b[0]}")
        compare(f"response to F at s = {s}", (), linear.F.T @ ours @ linear.F, small.F.T @ right @ small.F, 1e-4)
    solved = np.linalg.solve(linear.M, np.hstack([-linear.K, -linear.C, linear.F]))
    compare("A", (), linear.A, np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), solved[:, : 2 * n]]), 1e-8)
    compare("B", (), linear.B, np.vstack([np.zeros_like(linear.F), solved[:, 2 * n :]]), 1e-8)


def modes(case: Case, carried: Carried) -> None:
    """Eigenvalues and shapes of damped modes, and frequencies without damping."""
    both = linearized(case, carried)
    if both is None:
        return
    linear, small, shared = both
    A1, A2 = (-np.linalg.solve(small.M, X) for X in (small.K, small.C))
    n = len(A1)
    right = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [A1, A2]]))
    size = 1 + float(np.abs(right).max())
    damped = pendula.modes(linear, damped=True)
    for mode in damped:
        s = mode.eigenvalue
        off = np.abs(right - s).min()
        if not off <= 1e-4 * size and not mode.repeated:
            raise Wrong(f"mode {mode.number}: eigenvalue {s:.8g}, by free bodies {right}")
        if shared:
            rest = (s * s * small.M + s * small.C + small.K) @ mode.shape
            bound = 1e-5 * (
                abs(s) ** 2 * np.abs(small.M).max() + abs(s) * np.abs(small.C).max() + np.abs(small.K).max()
            )
            if not np.abs(rest).max() <= bound * np.abs(mode.shape).max():
                raise Wrong(f"mode {mode.number}: its shape leaves {np.abs(rest).max():.2e}")
    if sum(mode.roots for mode in damped) != 2 * n:
        raise Wrong(f"{sum(mode.roots for mode in damped)} roots of {2 * n}")
    # Gyroscopic and circulatory forces, the other halves of C and K, count in frequencies without damping.
    if all(np.abs(X - X.T).max() <= 1e-6 * np.abs(small.K).max() for X in (small.K, small.C)):
        squares = np.sort(np.linalg.eigvals(np.linalg.solve(small.M, (small.K + small.K.T) / 2)).real)
        wanted = np.sqrt(squares[squares > 1e-6 * np.abs(squares).max()])
        compare("frequencies without damping", (), np.sort(pendula.modes(linear).frequencies), wanted, 1e-5)
