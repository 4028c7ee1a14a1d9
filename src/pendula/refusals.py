"""What Pendula refuses although nothing is wrong with the request, and why: one :class:`Refusal` for each such case.

Every room states its own refusals in a module ``refusals.py`` beside the code that raises them. Where a refusal
applies, the code raises ``NotSupported(REFUSAL, name=...)``, which completes its sentence. ``docs/make_support.py``
lists all of them in ``docs/support.md``, grouped by what was asked.

The words in which they are stated, :data:`QUESTIONS` and :data:`FEATURES`, stand here and nowhere else.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

HERE = Path(__file__).parent


class Why(StrEnum):
    """The kind of reason for a refusal; each is true as a sentence about it.

    Example:
        >>> print(Why.NOT_DONE)
        not done yet
    """

    NO_MEANING = "no meaning"
    """the question has no answer for such a mechanism, or its subject does not occur in it"""
    MATHEMATICS = "mathematics"
    """the method rests on a property that such a mechanism does not have"""
    SIZE = "too large"
    """the answer would take too long to find, or be too long to read"""
    OUTSIDE = "outside of Pendula"
    """the file format, another program or a package that is not installed sets the limit"""
    NOT_DONE = "not done yet"
    """nothing speaks against it, except the work"""


QUESTIONS = {
    # equations
    "derive": "equations of motion by a formulation",
    "expression": "values, derivatives, bounds or code of an expression in a model",
    "explain": "the story of a derivation, or of a pose",
    "stages": "the derivation in stages",
    "print": "equations as text, formulas or code",
    "symbolic linear model": "small motion in symbols",
    "given equations": "equations by others beside a model, or in its place",
    "compile": "native functions of the equations",
    "recursive engine": "terms and accelerations body by body, without equations",
    # runs
    "run": "motion from an initial state",
    "continuation": "a run continued from its end",
    "ensemble": "many runs at once",
    "study": "a computation over many cases",
    "conversion": "a run or a model in other orientation coordinates",
    "forward dynamics": "accelerations as a bare native function",
    # forces
    "reactions": "forces and torques in joints",
    "projection matrices": "the matrices of the projection method",
    # rest and small motion
    "equilibria": "poses at rest",
    "proof": "the proof that no equilibrium is missing, or of its stability",
    "potential": "the potential over one or two coordinates",
    "steady precession": "the steady motions of a top",
    "trim": "inputs or rates that hold a pose",
    "linear model": "small motion in numbers",
    "motions as inputs": "small motion with prescribed motions as inputs",
    "linear range": "how far the linear model holds",
    "modes": "frequencies, damping and shapes of small motion",
    "driven motion": "the response to prescribed motions",
    "outputs": "what a linear model measures",
    "feedback law": "a controller in the names of the mechanism",
    # long motion
    "deviations": "motion next to a run, on which multipliers, exponents and sensitivities rest",
    "multipliers": "Floquet multipliers of a periodic motion",
    "exponents": "Lyapunov exponents",
    "sensitivities": "derivatives of a run by parameters",
    "Routh's reduction": "equations without cyclic coordinates",
    # results
    "picture": "drawings of a mechanism or a result",
    "film": "an animation as a file",
    "live page": "a page in which the mechanism moves by hand",
    "report": "a part of the report about a model",
    # exchange
    "export": "a model as a file for another tool",
    "export to FMU": "a model as a functional mock-up unit",
    "export to Modelica": "a model as Modelica code",
    "export of robots": "a model as URDF or MJCF",
    "import of robots": "URDF or MJCF as a model",
    "import from SymPy": "equations of SymPy as a system",
    "the model": "any question that draws on the model beside the equations or the run",
    "optional package": "whatever needs a package that Pendula does not install by default",
}
"""What can be asked, and what that means."""

FEATURES = {
    # structure
    "closed loop": "a joint closes a loop of bodies",
    "redundant constraints": "constraint rows depend on each other",
    "coupling of coordinates": "a joint without sides couples coordinates",
    "free joint": "a joint with six degrees of freedom",
    "ball joint": "a joint with three rotations",
    "massless body": "a body without mass moves",
    "armature": "rotors turn with a joint",
    "joint limit": "a stop at a joint",
    "no free coordinate": "every motion is prescribed, or the joints allow none",
    "large mechanism": "more bodies, degrees of freedom or operations than the stated number",
    # coordinates
    "maximal coordinates": "the equations are in the coordinates of the bodies",
    "quaternion": "an orientation by a quaternion",
    "orientation by angles": "an orientation by a sequence of angles",
    "angle measured from ground": 'a turn with measured_from = "ground"',
    "singular coordinates": "the coordinates are singular at the point",
    "coordinates named in expressions": "forces, inputs or couplings name coordinates or speeds that would be replaced",
    # forces and motions
    "prescribed motion": "the motion of a joint or of a point on ground is given",
    "motions with different phases": "several prescribed motions that are not in phase",
    "motion without a harmonic": "prescribed motions without a part that oscillates once per period",
    "force along a coordinate": "a force that acts along coordinates of a joint",
    "force without a potential": "forces whose work depends on the path",
    "force type": "a force of a certain type",
    "several springs in one joint": "two springs along one coordinate",
    "friction": "friction in a joint",
    "damping": "forces that depend on speeds",
    "kink or jump": "forces, motions or definitions that are not smooth",
    "expressions": "expressions where numbers or plain joints are needed",
    "function of expressions": "a function or an operation of the expression language that has no entry for this",
    # what acts in a run
    "input that only a run knows": "an input by a time series, a Python function or a sampled controller",
    "Python function as input": "an input by a Python function of the state",
    "sampled controller": "an input held between samples",
    "feedback law": "an input that depends on the state",
    "parameters in the initial state": "initial values that are expressions of parameters",
    "bounds": "a run that ends where coordinates leave bounds (within)",
    "events": "a run that looks for events",
    "backwards in time": "a run whose end is before its start",
    "fixed step": "steps of a given size",
    "switching times that vary": "parameters that change switching times from run to run",
    "long run": "more time than the stated number of frames shows",
    # methods
    "formulation": "the chosen formulation",
    "stepper": "the chosen stepper",
    "taylor": "the Taylor stepper",
    "given equations": "equations by others that replace those of the model",
    "multipliers": "equations with unknowns beside the accelerations",
    "rounded numbers": "equations with numbers that have no exact form",
    # places
    "steady motion": "a motion at constant speeds in place of rest",
    "no equilibrium": "nothing is at rest, or no equilibrium was found",
    "forces that depend on time": "motions, inputs or loads that change with time act on the mechanism",
    "point of a body": "a point of a body, by its name",
    "linear model alone": "a linear model that was made without a system",
    # parts that do not occur
    "no body of revolution": "no body of revolution alone on a ball joint, with its mass centre on its axis",
    "moving parts beside it": "other parts of the mechanism accelerate",
    "no cyclic coordinate": "masses and forces depend on every coordinate",
    "no input": "a mechanism without inputs",
    "no prescribed motion": "a mechanism without prescribed motions",
    "nothing depends on time": "neither motions nor forces name the time",
    # from outside
    "own formulation": "a formulation from outside of the package",
    "own joint type": "a joint type from outside of the package",
    "own force type": "a force type from outside of the package",
    "own orientation chart": "coordinates of orientations from outside of the package",
    "kind of shape": "a kind of shape that pictures do not know",
    "kind of result": "a kind of result that pictures do not know",
    "kind of mode without words": "a kind of mode that has no description",
    "function from elsewhere": "a function that cannot be sent to other processes",
    "function of time that is no coordinate": "SymPy equations with a symbol that is none of the coordinates",
    "rates that speeds do not determine": "kinematic equations that do not give the speeds",
    "name that is taken": "a parameter or input has the name that the result needs",
    "part without a counterpart": "a part of a robot's file that no part of a model corresponds to",
    "package that is not installed": "an optional package is missing",
    "URDF": "the format URDF",
    "MJCF": "the format MJCF",
}
"""Features of mechanisms, of runs and of requests that may stand against an answer."""


@dataclass(frozen=True)
class Refusal:
    """A request that is valid and is not answered.

    Attributes:
        id: what it is called, ``"area/what-is-refused"``; unique, and kept for ever.
        question: what was asked, one of :data:`QUESTIONS`.
        features: what together stands against it, of :data:`FEATURES`.
        sentence: the message. Names in braces are completed where it is raised.
        why: the kind of reason.

    Example:
        >>> from pendula.errors import NotSupported
        >>> no_coil = Refusal("coil/drawing", "picture", ("own force type",), 'no picture of "{name}"', Why.NOT_DONE)
        >>> raise NotSupported(no_coil, name="main")
        Traceback (most recent call last):
        pendula.errors.NotSupported: no picture of "main"
    """

    id: str
    question: str
    features: tuple[str, ...]
    sentence: str
    why: Why


NOT_INSTALLED = Refusal(
    "packages/not-installed",
    "optional package",
    ("package that is not installed",),
    "{what} needs the package {package}, which is not installed.\n  Try: pip install {wanted}",
    Why.OUTSIDE,
)


def stated(module: object) -> Iterator[tuple[str, Refusal]]:
    """The refusals of a module with the names under which they stand there; for those of a table, its name."""
    for name, value in vars(module).items():
        for one in value.values() if isinstance(value, dict) else (value,):
            if isinstance(one, Refusal):
                yield name, one


def registered() -> tuple[Refusal, ...]:
    """Every refusal of the package, in the order of their ids. Loads all rooms that state some.

    Example:
        >>> next(refusal.question for refusal in registered() if refusal.id == "taylor/closed-loops")
        'run'
    """
    found = [one for place in places() for _, one in stated(importlib.import_module(place))]
    return tuple(sorted(found, key=lambda refusal: refusal.id))


def places() -> list[str]:
    """The modules that state refusals."""
    files = sorted(HERE.rglob("refusals.py"))
    return [".".join(("pendula", *file.relative_to(HERE).with_suffix("").parts)) for file in files]
