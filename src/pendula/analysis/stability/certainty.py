"""How certain a verdict is, in one of three words: proven, indicated, undecided.

A verdict is proven if interval arithmetic encloses the equilibrium and M, C and K there, and shows for all of these
that a quadratic form decides: a Lyapunov function, or a positive definite stiffness where structure alone shows that
all forces have a potential or dissipate. Eigenvalues in floating point, however clear, only indicate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pendula.analysis.linear.model import LinearModel
from pendula.analysis.linear.spectrum import Spectrum
from pendula.analysis.stability.enclosure import SmallMotion, masses_depend_on, small_motion_with_bounds
from pendula.analysis.stability.fixed_momenta import at_fixed_momenta
from pendula.analysis.stability.places import Place, places_of
from pendula.analysis.stability.pole_argument import minimum_at_pole
from pendula.equations.rest.at_rest import applied_have_potential
from pendula.errors import NotSupported
from pendula.model.expressions import nodes as nd
from pendula.model.expressions.expression import parse
from pendula.model.forces import actions as ac
from pendula.numerics.intervals.matrices import Ball, between_roots, is_positive_definite, roots_beyond
from pendula.numerics.intervals.tape import Undecidable
from pendula.system.exact import exact_equations
from pendula.system.layout import Array
from pendula.system.system import System
from pendula.words import INDICATED, PROVEN, UNDECIDED

NO_MASS = "the mass matrix could not be verified"
MOST_FOR_POTENTIAL = 4
"""with more speeds, symbolic derivatives of applied forces are not compared"""


@dataclass(frozen=True)
class Certainty:
    """One of the three words, and its grounds in a sentence.

    Attributes:
        word: ``proven``, ``indicated`` or ``undecided``.
        grounds: the method of the proof; what was tried; or what is missing.
    """

    word: str
    grounds: str


def certainty_of(
    verdict: str, argument: str, tested: tuple[str, ...], drifts: tuple[str, ...], found: Spectrum
) -> Certainty:
    """How certain a verdict is.

    Args:
        verdict: the verdict.
        argument: ``eigenvalues``, ``stiffness`` (positive definite), or another one, which is not verified.
        tested: claims that were tested but not proven.
        drifts: coordinates that drift.
        found: the eigenvalues, with the linear model.
    """
    if verdict == UNDECIDED:
        return Certainty(UNDECIDED, "neither eigenvalues nor energy decide")
    try:
        return Certainty(PROVEN, _proof(verdict, argument, drifts, found))
    except Undecidable as reason:
        tried = [_tried(argument, found), *tested]
        return Certainty(INDICATED, f"{'; '.join(tried)} (not proven: {reason})")


def _proof(verdict: str, argument: str, drifting: tuple[str, ...], found: Spectrum) -> str:
    """How the verdict was verified; raises Undecidable if it was not."""
    model = found.model
    if model.method != "exact":
        raise Undecidable("derivatives by differences")
    if model.system is not None and model.system.written:
        raise Undecidable("equations that are not those of the model")
    if argument == "momenta":
        return at_fixed_momenta(model.at, drifting)
    drifts = argument == "family" and verdict.startswith("critical")
    if argument not in ("eigenvalues", "stiffness") and not drifts:
        raise Undecidable("no interval proves that a number is exactly zero")
    if argument != "eigenvalues":
        _refuse_power(model)
    first: Undecidable | None = None
    for place in places_of(model.at):
        try:
            motion = small_motion_with_bounds(place)
            if drifts:
                _refuse_dependence(model, place, motion, drifting)
            how = verified(verdict, argument, motion, found.values)
        except Undecidable as reason:
            first = first or reason
            continue
        where = ", in other angles" if place.source is not None else ""
        return (
            f"{how}, by interval arithmetic{where}, for an equilibrium within {motion.within:.0e} of the computed one"
        )
    if argument == "stiffness":
        try:
            return f"{_at_pole(model)}, by interval arithmetic"
        except Undecidable as reason:
            first = reason if str(first) == str(NO_MASS) else first
    raise first or Undecidable("the coordinates are singular there")


def _at_pole(model: LinearModel) -> str:
    """How a strict minimum at a pole of the coordinates was verified; raises Undecidable if it was not."""
    place = next(places_of(model.at), None)
    if place is None:
        raise Undecidable("the coordinates are singular there")
    return minimum_at_pole(place)


def verified(verdict: str, argument: str, motion: SmallMotion, values: Array) -> str:
    """How a verdict is verified for all matrices within bounds; ``values`` are approximate eigenvalues.

    Raises:
        Undecidable: it is not.
    """
    if not is_positive_definite(motion.M):
        raise Undecidable(NO_MASS)
    if argument != "eigenvalues":
        at = np.ix_(motion.acting, motion.acting)
        if not is_positive_definite(Ball(motion.K.mid[at], motion.K.rad[at])):
            raise Undecidable("the stiffness is too near to zero for a verification")
        apart = " apart from coordinates that no force or mass depends on" if argument == "family" else ""
        return f"the stiffness is verified to be positive definite{apart}"
    A = motion.state_matrix()
    shift = between_roots(values) if verdict == "unstable" else 0.0
    beyond = None if A is None else roots_beyond(A, shift)
    if beyond is None or beyond != (verdict == "unstable"):
        raise Undecidable("roots are too near to the imaginary axis, or too sensitive, for a verification")
    if beyond:
        return f"a root right of {shift:.3g} is verified (Lyapunov's equation)"
    return "a Lyapunov function is verified"


def _tried(argument: str, found: Spectrum) -> str:
    """The evidence for a verdict that is not proven."""
    if argument == "eigenvalues":
        return f"eigenvalues in floating point, of backward error {found.backward_errors.max(initial=0.0):.0e}"
    return "stiffness and energy in floating point"


# --- structure ----------------------------------------------------------------------------------------------


def _refuse_power(model: LinearModel) -> None:
    """Raises Undecidable unless structure alone shows that all forces have a potential or dissipate."""
    system = model.system
    assert system is not None
    if np.any(model.at.v) or system.drives:
        raise Undecidable("an effective potential")
    if system.has_power and not only_dissipates(system, model.at.parameters):
        raise Undecidable("structure alone does not show that applied forces add no energy")


def _refuse_dependence(model: LinearModel, place: Place, motion: SmallMotion, names: tuple[str, ...]) -> None:
    """Raises Undecidable unless exactly these coordinates are in equilibrium everywhere and in no entry of M."""
    if place.system.loop_rows:
        raise Undecidable("families of equilibria of closed loops")
    idle = set(range(len(place.q))) - set(motion.acting)
    along = set().union(*(place.names_along(k, tuple(model.coordinates)) for k in idle))
    if along != set(names) or any(masses_depend_on(place.balance, place.v, k) for k in idle):
        raise Undecidable("structure alone does not show that equilibria form a family")


def only_dissipates(system: System, parameters: Array, varying: Collection[str] = ()) -> bool:
    """Whether structure alone shows that no force adds energy, whatever the values of parameters that vary.

    There may be gravity and springs, dampers and friction with coefficients that are not negative, generalized forces
    that depend on their own coordinate alone, and applied forces that have a potential because their symbolic
    derivatives are symmetric, apart from drag on each speed.
    """
    model = system.model
    values = {n: x for n, x in system.layout.parameter_values(parameters).items() if n not in varying}
    applied = False
    for action in (action for force in model.forces for action in force.actions()):
        if isinstance(action, ac.Between | ac.Across | ac.AcrossAll):
            if not _slows(parse(action.law.drag).root, action.fields, values):
                return False
        elif isinstance(action, ac.Spin):
            return False
        elif not (isinstance(action, ac.OnCoordinate) and _has_own_potential(system, action)):
            applied = True
    return not applied or _has_potential(system, values)


def _has_own_potential(system: System, action: ac.OnCoordinate) -> bool:
    """Whether a generalized force is a function of its own coordinate alone, and constants: then it has a potential."""
    joints = system.in_joints.system
    layout, model = joints.layout, joints.model
    turning = {layout.coordinates[k] for at, _ in joints.balls for k in range(at, at + 4)}
    turning |= {name for joint in model.tree for name in joint.prescribed()}
    if action.coordinate not in layout.coordinates or action.coordinate in turning:
        return False
    held = {name for name, text in model.inputs.items() if "t" not in parse(text).names}
    return parse(action.value).names <= {action.coordinate, *layout.parameters, *held}


def _slows(drag: nd.Node, fields: Mapping[str, Any], values: Mapping[str, float]) -> bool:
    """Whether the drag of a law is a coefficient times the rate, and the coefficient is constant and not negative."""
    if drag == nd.Number(0):
        return True
    if not (isinstance(drag, nd.Multiply) and drag.b == nd.Name("rate") and isinstance(drag.a, nd.Name)):
        return False
    coefficient = parse(fields[drag.a.id])
    return coefficient.names <= set(values) and coefficient.evaluate(values) >= 0.0


def _has_potential(system: System, values: Mapping[str, float]) -> bool:
    """Whether applied forces are functions of the coordinates alone with symmetric derivatives, symbolically.

    Each may also contain drag on its own speed, with a constant coefficient (by its value) that is not negative.
    """
    joints = system.in_joints.system
    if len(joints.layout.speeds) > MOST_FOR_POTENTIAL or joints.balls or joints.drives:
        return False
    try:
        eq = exact_equations(joints)
    except NotSupported:
        return False
    held = {u for u, text in zip(eq.u, joints.model.inputs.values(), strict=True) if "t" not in parse(text).names}
    numbers = {symbol: values[str(symbol)] for symbol in eq.p if str(symbol) in values}
    return applied_have_potential(eq, {*eq.p, *held}, numbers)
