"""What deriving, explaining and printing equations refuses."""

from __future__ import annotations

from pendula.equations.formulations.support import ABILITIES
from pendula.refusals import Refusal, Why

ABSOLUTE_IN_SPACE = Refusal(
    "maximal/angle-from-ground",
    "derive",
    ("maximal coordinates", "angle measured from ground"),
    'joint "{joint}": in maximal coordinates an angle measured from ground needs a parent in planar motion, '
    'and "{parent}" moves along z.\n'
    '  Try: measured_from = "parent", or a formulation in coordinates of the joints, such as "kane".',
    Why.NOT_DONE,
)
QUATERNION_ARMATURE = Refusal(
    "maximal/quaternion-armature",
    "derive",
    ("maximal coordinates", "quaternion", "armature"),
    'joint "{joint}": maximal coordinates do not support the armature of a joint with a quaternion; use '
    "another formulation, or Euler angles",
    Why.NOT_DONE,
)
QUATERNION_MOTION = Refusal(
    "maximal/quaternion-motion",
    "derive",
    ("maximal coordinates", "quaternion", "prescribed motion"),
    'joint "{joint}": maximal coordinates do not support prescribed translations of a joint with a quaternion; use '
    "another formulation, or Euler angles",
    Why.NOT_DONE,
)
JOINT_QUATERNION = Refusal(
    "maximal/joint-quaternion",
    "derive",
    ("maximal coordinates", "quaternion", "own joint type"),
    'joint "{joint}": maximal coordinates cannot use the quaternion of joint type "{type}" as a coordinate; '
    "use another formulation, or Euler angles",
    Why.NOT_DONE,
)
UNKNOWN_NAME = Refusal(
    "joint-type/unknown-name",
    "derive",
    ("own joint type",),
    'joint "{joint}": the template of joint type "{type}" uses "{unknown}", which is neither a parameter nor '
    "a coordinate of the joint",
    Why.NO_MEANING,
)
TURN_FROM_GROUND = Refusal(
    "joint-type/turn-from-ground",
    "derive",
    ("own joint type", "angle measured from ground"),
    'joint "{joint}": in joint type "{type}" a turn measured from ground must be the only step',
    Why.NOT_DONE,
)
NO_COORDINATE = Refusal(
    "loads/closing-joint",
    "derive",
    ("force along a coordinate", "closed loop"),
    'joint "{joint}" closes a loop and has no coordinate for a force to act on',
    Why.NO_MEANING,
)
BALL_SPRING = Refusal(
    "loads/ball-joint",
    "derive",
    ("force along a coordinate", "quaternion"),
    'joint "{joint}" has angular velocities: there a force can only be a drag proportional to them, not '
    'elastic force "{elastic}", drag "{drag}"',
    Why.NOT_DONE,
)
NO_STORY = Refusal(
    "story/formulation",
    "explain",
    ("own formulation",),
    'the derivation by "{formulation}" cannot be explained: it keeps no intermediate results.\n  Try: {told}.',
    Why.NOT_DONE,
)
STORY_OF_COUPLINGS = Refusal(
    "story/coupling",
    "explain",
    ("coupling of coordinates",),
    'joint "{joint}": derivations with couplings of coordinates cannot be explained yet',
    Why.NOT_DONE,
)
LONG_LATEX = Refusal(
    "print/latex-length",
    "print",
    ("large mechanism",),
    "equations with {operations} operations are too long for LaTeX.\n"
    "  Try: the formats text, python, c or json; fewer bodies; the formulation maximal, which is short.",
    Why.SIZE,
)
LONG_PAGE = Refusal(
    "print/page-length",
    "print",
    ("large mechanism",),
    "equations with {operations} operations are too long to read on a page.\n"
    '  Try: print_equations(equations, "text"), or "python", "c", "json".',
    Why.SIZE,
)
NO_SPELLING = Refusal(
    "print/function",
    "print",
    ("function of expressions",),
    "there is no {language} for the function {name}",
    Why.NOT_DONE,
)
NO_CONDITION = Refusal(
    "print/condition",
    "print",
    ("function of expressions",),
    "there is no {language} for the condition {condition}",
    Why.NOT_DONE,
)
_ROUTH = "Routh's reduction needs the joints' coordinates, and neither loops nor prescribed motions"
ROUTH_OF_LOOPS = Refusal("routh/loops", "Routh's reduction", ("closed loop",), _ROUTH, Why.NOT_DONE)
ROUTH_OF_MOTIONS = Refusal("routh/motions", "Routh's reduction", ("prescribed motion",), _ROUTH, Why.NOT_DONE)
SYMBOLIC_FREEDOMS = Refusal(
    "symbolic-linear-model/freedoms",
    "symbolic linear model",
    ("large mechanism",),
    "symbolic linear models support up to {most} degrees of freedom, this one has {freedoms}",
    Why.SIZE,
)
SYMBOLIC_TIME = Refusal(
    "symbolic-linear-model/time",
    "symbolic linear model",
    ("large mechanism",),
    "the symbolic linear model of {model} was not found within {seconds:g} s: its expressions are too long to "
    "read.\n"
    "  Try: linearize(...), which gives it in numbers.",
    Why.SIZE,
)
STEADY_LOOPS = Refusal(
    "symbolic-linear-model/steady-loops",
    "symbolic linear model",
    ("steady motion", "closed loop"),
    "symbolic linear models of steady motion do not support closed loops.\n  Try: linearize(...).",
    Why.NOT_DONE,
)
STEADY_QUATERNIONS = Refusal(
    "symbolic-linear-model/steady-quaternions",
    "symbolic linear model",
    ("steady motion", "quaternion"),
    "symbolic linear models of steady motion do not support quaternions.\n  Try: linearize(...).",
    Why.NOT_DONE,
)
KINK_AT_POINT = Refusal(
    "symbolic-linear-model/kink",
    "symbolic linear model",
    ("kink or jump",),
    "the forces have a kink or a jump at this point, where {edge} is zero: no linear model exists there.\n"
    "  Try: a smooth expression, such as tanh(x/0.01) for sign(x), or simulate the motion.",
    Why.MATHEMATICS,
)
UNDAMPED_CONDITIONS = Refusal(
    "symbolic-linear-model/conditions-undamped",
    "symbolic linear model",
    ("large mechanism", "force without a potential"),
    "symbolic conditions without damping need a symmetric stiffness beyond two degrees of freedom, and this "
    "model has {freedoms}",
    Why.SIZE,
)
DAMPED_CONDITIONS = Refusal(
    "symbolic-linear-model/conditions-damped",
    "symbolic linear model",
    ("large mechanism", "damping"),
    "symbolic conditions with damping support up to three degrees of freedom, this model has {freedoms}",
    Why.SIZE,
)
LEFT_OUT = Refusal(
    "symbolic-linear-model/part-time",
    "symbolic linear model",
    ("large mechanism",),
    "the {what} was left out: it was not found within {seconds:.3g} s.\n"
    "  Try: numbers for parameters that need not stay symbols, a longer time (seconds=...), or "
    "linearize(...), which works in numbers.",
    Why.SIZE,
)
FACTORS_OF_SPEEDS = Refusal(
    "given-equations/speeds-in-mass-matrix",
    "run",
    ("given equations",),
    "{source}: row {row}: the factors of the accelerations depend on {name}; a system needs a mass matrix "
    "that depends on time, coordinates and parameters only.\n"
    "  Try: check_against, which compares accelerations.",
    Why.NOT_DONE,
)


def _lacks(ability: str, question: str, features: tuple[str, ...], why: Why) -> Refusal:
    sentence = f'the formulation "{{formulation}}" does not provide {ABILITIES[ability]}.\n  Try: {{able}}.'
    return Refusal(f"formulation/{ability.replace('_', '-')}", question, ("formulation", *features), sentence, why)


LACKS = {
    "joint_forces": _lacks("joint_forces", "reactions", (), Why.MATHEMATICS),
    "jacobi": _lacks("jacobi", "run", ("maximal coordinates", "prescribed motion"), Why.NOT_DONE),
}
"""Abilities of formulations: what is said where one is lacking."""


def of_rotors(id: str, question: str, what: str) -> Refusal:
    """What is refused to mechanisms with rotors by a part of the package that considers bodies alone."""
    sentence = (
        f'joint "{{joint}}" has armature, and {what} considers bodies without rotors.\n'
        "  Try: a model without armature for this, or derive(model) for its equations."
    )
    return Refusal(id, question, ("armature",), sentence, Why.NOT_DONE)


STAGES_OF_ROTORS = of_rotors("stages/armature", "stages", "the derivation in stages")
STORY_OF_ROTORS = of_rotors("story/armature", "explain", "the story of a derivation")
