"""Compiles a model and checks that the resulting system is well posed."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from pendula.equations.derive import DEFAULT, derive
from pendula.equations.equations import Equations
from pendula.errors import (
    ComputationError,
    LoopNotClosed,
    ModelError,
    NotSupported,
    PendulaError,
    Problem,
    SingularPose,
    UsageError,
)
from pendula.library.lookup import model_of
from pendula.model.feedback import closed_loop
from pendula.model.model import Model
from pendula.storage.memory import without_collections
from pendula.system import refusals
from pendula.system.layout import State
from pendula.system.loops import assembly
from pendula.system.loops.mobility import Pose, independent_rows, mobility, regular_poses
from pendula.system.parameters import typical_steps
from pendula.system.symbolic import SymbolicSystem
from pendula.system.system import System

_TRIES = 6
_SINGULAR = 1e-11
_ROUNDING = 4e-16
"""masses below this fraction of the largest are rounding errors: the spin of a thin rod, at most of its poses"""
MOST_SPEEDS, MOST_SPEEDS_CLOSED = 5, 24
"""Number of speeds up to which compiled equations are faster than the recursion: for trees, and with closed loops."""
MOST_DERIVED = 12
"""Number of speeds up to which compiled equations provide the terms of linear models, for either engine."""


ENGINES = ("auto", "symbolic", "recursive")


def compile_system(model: Model | Equations | str, formulation: str | None = None, *, engine: str = "auto") -> System:
    """Derives the equations by a formulation, compiles them and checks that they are well posed.

    The engine "recursive" derives nothing and finds accelerations by a recursion over the bodies; "auto" chooses it
    if it is faster and no formulation is named. ``system.engine`` names the engine.

    Well posed means that every allowed motion has mass: M is positive definite on the null space of G. Constraints
    may be redundant: the motion is still determined, and ``mobility(system)`` reports them.

    Args:
        model: a model, equations, or the name of a library mechanism; for a system, its model is compiled again.
        formulation: name of a formulation; see :func:`pendula.derivation.formulations`.
        engine: "symbolic", "recursive" or "auto".

    Raises:
        ModelError: a motion has no mass at any pose (names the coordinates involved).
        NotSupported: nothing can move freely: all motions are prescribed, or this is a structure.

    Example:
        >>> from pendula import library
        >>> compile_system(library.cart_pole()).layout.coordinates
        ('x', 'theta')
    """
    if engine not in ENGINES:
        raise UsageError(f'there is no engine "{engine}"; choose one of {", ".join(ENGINES)}')
    if not isinstance(model, Equations):
        model = closed_loop(model_of(model, "compile_system", also="equations"))
    if engine == "recursive":
        if isinstance(model, Equations) or formulation is not None:
            raise UsageError("the recursive engine accepts no formulation: it derives no equations")
        return _recursive(model)
    if engine == "auto" and formulation is None and isinstance(model, Model) and recursion_is_faster(model):
        with suppress(NotSupported):
            return _recursive(model, symbolic_terms=len(model.speeds) <= MOST_DERIVED)
    formulation = DEFAULT if formulation is None else formulation
    derived = not isinstance(model, Equations)
    equations = model if isinstance(model, Equations) else derive(model, formulation)
    system = SymbolicSystem(equations, derived=derived)
    _check_well_posed(system)
    if system.tree is not None and (independent_rows(system) < equations.loop_rows or not _solves_by_bodies(system)):
        # Redundant rows, or massless bodies that only a loop holds.
        return SymbolicSystem(equations, by_bodies=False, derived=derived)
    return system


def recursion_is_faster(model: Model) -> bool:
    """Decides by the number of speeds; the limit is higher with loops, since each loop row costs another recursion."""
    return len(model.speeds) > (MOST_SPEEDS_CLOSED if model.closures else MOST_SPEEDS)


def compile_alike(system: System, model: Model) -> System:
    """The system of a changed model, with the same engine and formulation."""
    from pendula.system.recursive import RecursiveSystem  # slow to load

    model = closed_loop(model)
    if isinstance(system, RecursiveSystem):
        return _recursive(model, symbolic_terms=system.symbolic_terms)
    if system.equations.written is not None:
        if model.laws:
            raise NotSupported(refusals.GIVEN_EQUATIONS_LAW, source=system.written, name=next(iter(model.laws)))
        return compile_system(system.equations.written.rewrite(model))
    return compile_system(model, system.formulation)


def compile_again(model: Model, formulation: str, engine: str, *, symbolic_terms: bool) -> System:
    """The system that an earlier one was, from its model, formulation, engine and ``symbolic_terms``."""
    if engine == "recursive":
        return _recursive(model, symbolic_terms=symbolic_terms)
    return compile_system(model, formulation)


def _recursive(model: Model, *, symbolic_terms: bool = False) -> System:
    """A recursive system that finds accelerations at one pose at least."""
    from pendula.system.recursive import RecursiveSystem  # slow to load

    model = closed_loop(model)
    with without_collections():
        system = RecursiveSystem(model, symbolic_terms=symbolic_terms)
    if model.closures:
        _check_well_posed(system)
    if system.layout.speeds and _solves_by_bodies(system):
        return system
    compile_system(model, DEFAULT)  # raises the error that explains it, if the model is wrong
    raise NotSupported(refusals.NO_ACCELERATIONS)


def _solves_by_bodies(system: System) -> bool:
    """Whether elimination from the tips to ground finds accelerations at one of a few poses."""
    start = system.in_joints.initial_state()
    rng = np.random.default_rng(12345)
    for k in range(_TRIES):
        q = start.q if k == 0 else start.q + rng.uniform(-0.7, 0.7, size=start.q.size)
        with suppress(LoopNotClosed, SingularPose, ComputationError):
            state = assembly.assemble(system, State(0.1 * k, q, start.v, start.layout)).state
            system.accelerations(state.q, state.v, state.t)
            return True
    return False


def _check_well_posed(system: System) -> None:
    """Checks a few poses; one good pose is enough, since isolated poses may be singular."""
    if not system.model.speeds:
        why = "every motion is prescribed" if system.drives else "the joints allow no motion"
        raise NotSupported(refusals.NOTHING_FREE, why=why)
    if isinstance(system, SymbolicSystem) and system.tree and mobility(system).by_rank and _solves_by_bodies(system):
        return
    last: PendulaError | None = None
    for pose in regular_poses(system):
        last = _fault(system, pose)
        if last is None:
            return
    if last is not None:
        raise last


def _fault(system: System, pose: Pose) -> PendulaError | None:
    M = system.mass_matrix(pose.state.q, pose.state.t)
    free = pose.free
    if not (np.all(np.isfinite(M)) and np.all(np.isfinite(pose.G))):
        return ModelError([Problem("model", "", "the mass matrix is not finite at any pose that was tried")])
    if free.shape[1] == 0 and system.drives:
        return None  # prescribed motions move it all
    if free.shape[1] == 0:
        return NotSupported(refusals.STRUCTURE)
    masses, steps = np.maximum(np.diag(M), 0.0), typical_steps(system)
    masses = np.where(masses * steps**2 > _ROUNDING * float(np.max(masses * steps**2)), masses, 0.0)
    root = np.sqrt(masses)
    scale = np.where(root > 0.0, root, (float(np.max(root * steps)) or 1.0) / steps)  # in units of root mass
    basis = np.linalg.qr(scale[:, None] * free)[0]
    sizes, modes = np.linalg.eigh(basis.T @ (M / np.outer(scale, scale)) @ basis)
    if sizes[0] > _SINGULAR * max(sizes[-1], 1e-300):
        return None
    mode = np.abs(basis @ modes[:, 0]) / scale / steps
    names = [system.layout.speeds[i].removesuffix("_dot") for i in np.flatnonzero(mode > 0.1 * mode.max())]
    joints = sorted({s.joint for s in system.model.speeds if s.name.removesuffix("_dot") in names})
    if not joints:  # maximal coordinates have the names of bodies
        joints = [j.name for j in system.model.tree if any(n.startswith(f"{j.child.body}_") for n in names)]
    what = "motion of " + ", ".join(names)
    advice = f"give mass or inertia to the bodies that joint {', '.join(joints)} moves"
    return ModelError(
        [Problem("model", "bodies", f"a {what} has no mass, so its acceleration is not determined", advice)]
    )
