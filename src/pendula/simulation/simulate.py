"""From a system and an initial state to a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from pendula.equations.derive import cannot
from pendula.errors import NoConvergence, UsageError
from pendula.model.expressions.expression import parse
from pendula.numerics.steppers.stepping import Integration, integrate
from pendula.numerics.taylor.integrate import integrate_series
from pendula.outcome import Outcome
from pendula.simulation.events import Event, crossings_of, hurry_notes, read_events, watch_events
from pendula.simulation.loops import check_start, pose_notes, stabilization_rate
from pendula.simulation.trajectory import EnergyAccount, Trajectory
from pendula.system.assembly import assemble
from pendula.system.build import compile_alike
from pendula.system.entry import AnySystem, system_of
from pendula.system.layout import Array, State
from pendula.system.schedule import breakpoints, constant_rates, largest_step, moves_constraints
from pendula.system.system import Parameters, System

STEPPERS = ("dop853", "rk45", "taylor", "radau", "rk4")
CONSTRAINTS = ("projection", "baumgarte", "none")

_PAUSES = (Outcome.TOO_MANY_STEPS, Outcome.INTERRUPTED, Outcome.EVENT)

UNTRUSTED = 1e-3
"""Energy drift beyond which a run gets a warning among its notes."""


def simulate(
    system: AnySystem,
    duration: float | None = None,
    *,
    t_span: Sequence[float] | None = None,
    initial_state: State | Mapping[str, float] | None = None,
    parameters: Parameters = None,
    inputs: Mapping[str, float | str] | None = None,
    tol: float = 1e-8,
    atol: float | None = None,
    stepper: str = "dop853",
    step: float | None = None,
    samples: int | Sequence[float] | Array | None = None,
    constraints: Literal["projection", "baumgarte", "none"] = "projection",
    baumgarte_rate: float | None = None,
    max_steps: int = 1_000_000,
    events: Sequence[Event | str] | None = None,
    on_progress: Callable[[float, float, int], object] | None = None,
    on_failure: Literal["return", "raise"] = "return",
) -> Trajectory:
    """The motion of a mechanism from an initial state.

    Loops are closed at the start with the least change (``notes`` says what moved), and after every step the
    state is brought back onto the constraints. The energy account is kept in every run.

    Args:
        system: a system, a model, or the name of a library mechanism.
        duration: how long, from t = 0 or from the time of a given State; or give ``t_span``.
        t_span: first and last time.
        initial_state: a State, or changes to the model's initial state by name.
        parameters: changes of parameters by name, or all values as an array.
        inputs: values of inputs by name: numbers, or expressions of t and parameters in text.
        tol: relative tolerance of a step; also the absolute one unless ``atol`` is given.
        stepper: "dop853" (order 8), "rk45" (order 5), "taylor" (Taylor series of an order that follows from the
            tolerance: for high accuracy where there are few speeds, at most 12; not for loops, nor for conditions on
            the motion such as abs), "radau" (implicit, order 5: for stiff mechanisms), or "rk4" (order 4, steps of a
            fixed size).
        step: size of the steps of "rk4", which has no tolerance.
        samples: number of equally spaced times, or the times, at which the trajectory is wanted; default: at
            every accepted step.
        constraints: "projection" brings every step back onto them; "baumgarte" adds terms to the equations that let
            their errors die out; "none" leaves them alone, to see how far they drift.
        baumgarte_rate: rate of that [1/time]; default: so that errors die out over a few typical
            steps; ``notes`` says what was chosen.
        events: what to look for on the way, as :class:`~pendula.Event` or in text: "theta1 = 0 rising" is recorded in
            ``events``, "stop: theta1 >= 90deg" ends the run exactly there (which is then also the last sample).
            Each step is looked at on eleven points; an expression that swings faster than that may hide crossings,
            and ``notes`` says so.
        on_progress: called as (t, t_end, steps) about ten times a second.
        on_failure: "return" gives the trajectory up to where it stopped, with its outcome; "raise" raises.

    Returns:
        Trajectory; look at ``outcome``, ``energy_drift`` and ``constraint_violation`` first.

    Raises:
        LoopNotClosed: the loops cannot be closed at the start.
        SingularPose: the accelerations are not determined at the start: a singular chart, or a pose from which a
            linkage can go two ways.
        UsageError: an argument is out of range.

    Example:
        >>> import pendula
        >>> system = pendula.compile_system(pendula.library.pendulum())
        >>> run = simulate(system, 2.0, tol=1e-9)
        >>> print(run.outcome)
        finished: reached the final time
    """
    system = system_of(system, "simulate")
    if inputs:
        system = _with_inputs(system, inputs)
    first = initial_state.t if isinstance(initial_state, State) else 0.0
    span = _span(duration, t_span, first)
    if stepper not in STEPPERS:
        raise UsageError(f'there is no stepper "{stepper}"; choose one of {", ".join(STEPPERS)}')
    for name, value, known in (
        ("constraints", constraints, CONSTRAINTS),
        ("on_failure", on_failure, ("return", "raise")),
    ):
        if value not in known:
            raise UsageError(f'{name} is one of {", ".join(known)}, found "{value}"')
    if not isinstance(tol, (int, float, np.floating)) or not 1e-14 <= tol <= 1:
        raise UsageError(f"the tolerance must lie between 1e-14 and 1, found {tol!r}")
    if not isinstance(max_steps, (int, np.integer)) or max_steps < 1:
        raise UsageError(f"max_steps must be a positive whole number, found {max_steps!r}")
    if step is not None and stepper != "rk4":
        raise UsageError(f"{stepper} chooses its steps; a fixed step goes with rk4, found step={step!r}")
    _check_rate(constraints, baumgarte_rate)
    looked_for = read_events(events)
    vector = system.parameter_vector(parameters)
    start, notes = _start(system, initial_state, span[0], vector)
    notes += check_start(system, start, vector)
    system.accelerations(start.q, start.v, start.t, parameters=vector)  # says so if they are not determined
    breaks = breakpoints(system, vector, span)
    dynamics = system.dynamics(vector)
    times = _sample_times(samples, span)
    y0 = np.concatenate([start.q, start.v, np.zeros(dynamics.quadratures)])
    watched = watch_events(system, looked_for, vector, span[0], y0)
    absolute = tol if atol is None else atol
    settings: dict[str, Any] = {"rtol": float(tol), "atol": absolute}
    series = None
    if stepper == "taylor":
        if looked_for:
            raise UsageError('events are not found with stepper "taylor"; try dop853 at the same tolerance')
        series = system.series(vector)
    if series is None:
        settings |= {"method": stepper, "step": step}
    if stepper != "rk4":
        settings["max_step"] = largest_step(system, vector, span, breaks)
    quadratures = dynamics.quadratures
    if quadratures and system.moves_by_time:
        # motors may work while the state stands still: the work then has a say in the steps
        settings["atol"] = np.append(np.full(y0.size - 1, absolute), tol * _energy_size(system, start, vector))
        quadratures = 0
    try:
        if constraints == "baumgarte" and system.loop_rows:
            chosen = "as given"
            if baumgarte_rate is None:
                baumgarte_rate = stabilization_rate(dynamics, y0, span, quadratures, breakpoints=breaks, **settings)
                chosen = "so that errors die out over a few typical steps"
            dynamics = system.dynamics(vector, baumgarte=float(baumgarte_rate))
            unit = system.layout.time_unit
            notes += (f"constraints are stabilized after Baumgarte at a rate of {baumgarte_rate:.4g}/{unit}, {chosen}",)
        solve = (
            partial(integrate, dynamics.rhs, watched=watched) if series is None else partial(integrate_series, series)
        )
        run = solve(
            y0=y0,
            t_span=span,
            **settings,
            sample_times=times,
            project=dynamics.project if constraints == "projection" else None,
            quadratures=quadratures,
            max_steps=max_steps,
            on_progress=on_progress,
            breakpoints=breaks,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    step_q, step_v = run.y[:, :nq], run.y[:, nq : nq + nv]
    work = run.y[:, nq + nv] if dynamics.quadratures else np.zeros(len(run.t))
    energies = system.energies(step_q, step_v, run.t, parameters=vector)
    account = EnergyAccount(run.t, energies.kinetic, energies.potential, work)
    sampled = times is not None
    if sampled and run.outcome is Outcome.EVENT:
        run = _with_last_sample(run)
    q, v = (run.sample_y[:, :nq], run.sample_y[:, nq : nq + nv]) if sampled else (step_q, step_v)
    position, velocity = _violations(system, run.t, step_q, step_v, vector)
    deviation, violation = account.error / account.scale, position
    if sampled:
        deviation = _sampled_error(system, run.sample_t, run.sample_y, account, vector)
        violation = _violations(system, run.sample_t, q, v, vector)[0]
    outcome = run.outcome
    if outcome is Outcome.FINISHED and not np.all(np.isfinite(account.total)):
        outcome = Outcome.NOT_FINITE
    if not float(max(account.kinetic.max(), np.ptp(account.potential))) > 0:
        notes += ("nothing moves and no energy changes, so the energy drift is given without scale",)
    worst = max(account.drift, float(np.abs(deviation).max(initial=0.0)))
    if worst > UNTRUSTED:
        notes += (f"energy is off by {worst:.2g} of its scale: do not trust this run (a singular chart, or too loose)",)
    notes += _jacobi_note(system)
    if run.stiff_from is not None:
        at = f"{run.stiff_from:.4g} {system.layout.time_unit}"
        notes += (f'the motion looks stiff from t = {at}: try stepper="radau", which takes longer steps',)
    notes += hurry_notes(system, looked_for, run)
    notes += pose_notes(system, run.t, step_q, vector, stopped=outcome not in (Outcome.FINISHED, *_PAUSES))
    if on_failure == "raise" and not outcome.ok:
        raise NoConvergence(f"{outcome}: {run.detail}", last=run.y[-1])
    return Trajectory(
        t=run.sample_t if sampled else run.t,
        q=q,
        v=v,
        outcome=outcome,
        detail=run.detail,
        energy=account,
        energy_error=deviation,
        violation=violation if system.has_gaps else None,
        constraint_violation=float(max(position.max(initial=0.0), violation.max(initial=0.0))),
        velocity_violation=float(velocity.max(initial=0.0)),
        jacobi_drift=_jacobi_drift(system, account, step_q, step_v, vector),
        steps=run.accepted,
        rejected=run.rejected,
        rhs_evaluations=run.rhs_evaluations,
        seconds=run.seconds,
        stepper=stepper,
        tolerance=float(tol),
        notes=notes,
        system=system,
        parameters=vector,
        step=None if step is None else float(step),
        events=crossings_of(system, looked_for, run, vector),
    )


def _with_last_sample(run: Integration) -> Integration:
    """The state at which an event ended the run as the last sample, if it is none already."""
    if run.sample_t.size and run.sample_t[-1] == run.t[-1]:
        return run
    t, y = np.append(run.sample_t, run.t[-1]), np.vstack([run.sample_y, run.y[-1:]])
    return replace(run, sample_t=t, sample_y=y)


def _check_rate(constraints: str, rate: float | None) -> None:
    if rate is None:
        return
    if constraints != "baumgarte":
        raise UsageError(f'baumgarte_rate goes with constraints="baumgarte", found constraints="{constraints}"')
    if not isinstance(rate, (int, float, np.floating, np.integer)) or not 0 < rate < np.inf:
        raise UsageError(f"baumgarte_rate is a positive number, found {rate!r}")


def _with_inputs(system: System, inputs: Mapping[str, float | str]) -> System:
    """The same mechanism with other inputs, derived again."""
    unknown = [n for n in inputs if n not in system.model.inputs]
    if unknown:
        known = ", ".join(system.model.inputs) or "none"
        raise UsageError(f'there is no input "{unknown[0]}"; known are: {known}')
    model = system.model.with_changes(inputs=dict(system.model.inputs) | dict(inputs))
    return compile_alike(system, model)


def _energy_size(system: System, start: State, vector: Array) -> float:
    """A typical energy: that of the start, or the weight lifted by a typical length."""
    kinetic = float(system.energies(start.q, start.v, start.t, parameters=vector).kinetic)
    values = dict(zip(system.layout.parameters, vector.tolist(), strict=True))
    gravity = np.linalg.norm([parse(x).evaluate(values) for x in system.model.gravity])
    mass = sum(parse(body.mass_properties().mass).evaluate(values) for body in system.model.bodies)
    return max(kinetic, float(gravity * mass) * system.typical_length(vector)) or 1.0


def _span(duration: float | None, t_span: Sequence[float] | None, first: float) -> tuple[float, float]:
    if (duration is None) == (t_span is None):
        raise UsageError("give either a duration or t_span = (first, last)")
    if duration is not None and not isinstance(duration, (int, float, np.floating, np.integer)):
        raise UsageError(f"the duration must be a number, found {duration!r}")
    span = (first, first + duration) if duration is not None else tuple(t_span or ())
    if len(span) != 2 or not all(isinstance(x, (int, float, np.floating, np.integer)) and np.isfinite(x) for x in span):
        raise UsageError(f"the time span must be two finite numbers, found {span!r}")
    return float(span[0]), float(span[1])


def _start(
    system: System, given: State | Mapping[str, float] | None, t: float, vector: Array
) -> tuple[State, tuple[str, ...]]:
    if isinstance(given, State):
        names, own = (given.layout.coordinates, given.layout.speeds), (system.layout.coordinates, system.layout.speeds)
        joints = (system.joint_layout.coordinates, system.joint_layout.speeds)
        if names not in (own, joints):
            there, here = (", ".join(x[0][:6]) for x in (names, own))
            raise UsageError(f"the initial state belongs to another system: it has {there}; this one has {here}")
        state = State(t, given.q, given.v, system.layout if names == own else system.joint_layout)
        written, asked = set[str](), set[str]()
        early = (f"the initial state is of t = {given.t:g}, and is used at t = {t:g}",) if given.t != t else ()
    else:
        if given is not None and not isinstance(given, Mapping):
            raise UsageError(f"initial_state is a State or values by name, found {type(given).__name__}")
        state = system.initial_joint_state(vector, t=t).replace(given or {})
        asked, early = {*(given or {})} & {*system.joint_layout.speeds}, ()
        written = {n for n in (*system.model.initial, *(given or {})) if n in state}
    if not (np.all(np.isfinite(state.q)) and np.all(np.isfinite(state.v))):
        bad = [n for n in state if not np.isfinite(state[n])]
        raise UsageError(f'the initial value of "{bad[0]}" is not finite')
    found = assemble(system, state, parameters=vector, keep=asked, prefer=written)
    if not found.moved:
        return found.state, early
    largest = sorted(found.moved.items(), key=lambda item: -abs(item[1]))[:4]
    unit = {**system.layout.units, **system.joint_layout.units}
    text = ", ".join(f"{n} by {x:.3g} {unit[n]}" for n, x in largest)
    more = f" and {len(found.moved) - 4} more" if len(found.moved) > 4 else ""
    return found.state, (*early, f"the initial state was moved to satisfy the constraints: {text}{more}")


def _sample_times(samples: int | Sequence[float] | Array | None, span: tuple[float, float]) -> Array | None:
    if samples is None:
        return None
    if isinstance(samples, (int, np.integer)):
        if samples < 2 or samples > 10_000_000:
            raise UsageError(f"samples must be between 2 and 10000000, found {samples}")
        return np.linspace(span[0], span[1], int(samples)) if span[0] != span[1] else np.array([span[0]])
    return times_of(samples)


def times_of(samples: object) -> Array:
    """Times as an array.

    Raises:
        UsageError: they are no numbers.
    """
    try:
        return np.asarray(samples, dtype=float)
    except (TypeError, ValueError):
        raise UsageError(f"samples must be a whole number or a list of times, found {samples!r}") from None


def _violations(system: System, t: Array, q: Array, v: Array, vector: Array) -> tuple[Array, Array]:
    """Largest |g| and |G v - b| at every time."""
    g, rate = system.gaps(q, v, t, parameters=vector)
    return np.abs(g).max(axis=1, initial=0.0), np.abs(rate).max(axis=1, initial=0.0)


def _sampled_error(system: System, t: Array, y: Array, account: EnergyAccount, vector: Array) -> Array:
    """The energy account at the samples; the work is sampled along with the state."""
    nq, nv = len(system.layout.coordinates), len(system.layout.speeds)
    energies = system.energies(y[:, :nq], y[:, nq : nq + nv], t, parameters=vector)
    work = y[:, nq + nv] if y.shape[1] > nq + nv else 0.0
    return (energies.kinetic + energies.potential - account.total[0] - work) / account.scale


def _jacobi_note(system: System) -> tuple[str, ...]:
    """Says that a law is not checked which another formulation could check."""
    if system.gives_jacobi or not constant_rates(system) or not system.equations.power_is_zero:
        return ()
    return ("Jacobi's integral is not checked: " + " ".join(str(cannot(system.formulation, "jacobi")).split()),)


def _jacobi_drift(system: System, account: EnergyAccount, q: Array, v: Array, vector: Array) -> float | None:
    """Change of the Jacobi integral, where prescribed motions at constant rates must keep it."""
    if not system.drives or not constant_rates(system) or moves_constraints(system):
        return None  # in coordinates of bodies every prescribed motion moves a constraint
    if np.any(system.power(q, v, account.t, parameters=vector)):
        return None
    # the integral is kept only if energy does not depend on time itself: look at states at two times
    index = np.linspace(0, len(q) - 1, min(len(q), 7)).astype(int)
    first = system.energies(q[index], v[index], 0.0, parameters=vector)
    second = system.energies(q[index], v[index], 0.8765, parameters=vector)
    pairs = [*zip(first, second, strict=True)]
    pairs.append(tuple(system.jacobi(q[index], v[index], at, parameters=vector) for at in (0.0, 0.8765)))
    size = account.scale
    if max(np.abs(a - b).max() for a, b in pairs) > 1e-9 * size:
        return None
    jacobi = system.jacobi(q, v, account.t, parameters=vector)
    return float(np.abs(jacobi - jacobi[0]).max() / size)
