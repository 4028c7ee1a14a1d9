"""What analyses of a system or a run refuse."""

from __future__ import annotations

from pendula.equations.refusals import of_rotors
from pendula.refusals import Refusal, Why
from pendula.system.refusals import needs_joints

PROJECTION_OF_ROTORS = of_rotors("projection-matrices/armature", "projection matrices", "projection_matrices")
STEP_UNEXPLAINED = Refusal(
    "explain/joint-step",
    "explain",
    ("own joint type",),
    'joint "{joint}": a step of type {step} cannot be explained',
    Why.NOT_DONE,
)
GIVEN_LOOPS = Refusal(
    "given-equations/closed-loops",
    "run",
    ("given equations", "closed loop"),
    "the model {model} has closed loops, and given equations as a system do not support them.\n"
    "  Try: check_against, which compares accelerations.",
    Why.NOT_DONE,
)
PROJECTION_OF_LOOPS = Refusal(
    "projection-matrices/closed-loops",
    "projection matrices",
    ("closed loop",),
    "matrices of the projection method are for trees, and this mechanism has closed loops.\n"
    "  Try: reactions(run), which gives the forces in all joints.",
    Why.NOT_DONE,
)
NO_POTENTIAL = Refusal(
    "potential/forces",
    "potential",
    ("force without a potential",),
    "the forces have no potential here, so there is none to draw",
    Why.NO_MEANING,
)
NO_PRECESSION = Refusal(
    "precession/others-accelerate",
    "steady precession",
    ("moving parts beside it",),
    "this mechanism has no steady precession at this pose: other parts of it accelerate",
    Why.NO_MEANING,
)
PRECESSION_ANGLES = Refusal(
    "precession/angles",
    "steady precession",
    ("orientation by angles",),
    "steady precession needs Euler angles about the vertical first and the body's own axis last.\n"
    '  Try: euler = "zxz" if both are z, or a quaternion.',
    Why.NOT_DONE,
)
NO_TOP = Refusal(
    "precession/no-top",
    "steady precession",
    ("no body of revolution",),
    "{what} {can} precess steadily: this needs a body of revolution alone on a ball joint, with its mass "
    "centre on its axis.",
    Why.NO_MEANING,
)
RANGE_OF_SPINS = Refusal(
    "linear-range/quaternions",
    "linear range",
    ("steady motion", "quaternion"),
    "steady motions with quaternions are not compared; use Euler angles",
    Why.NOT_DONE,
)
NO_REST = Refusal(
    "driven-motion/no-equilibrium",
    "driven motion",
    ("no equilibrium",),
    "there is no equilibrium about which the motion could be small",
    Why.NO_MEANING,
)
NO_OSCILLATION = Refusal(
    "driven-motion/not-harmonic",
    "driven motion",
    ("motion without a harmonic",),
    "the prescribed motions have no part that oscillates once per period",
    Why.NO_MEANING,
)
PHASES = Refusal(
    "driven-motion/phases",
    "driven motion",
    ("motions with different phases",),
    "the prescribed motions have different phases ({late}), and a harmonic input has one.\n"
    "  Try: harmonic_response(linearize_motions(...), name) for one motion at a time.",
    Why.NOT_DONE,
)
SINGULAR_MODES = Refusal(
    "modes/singular-coordinates",
    "modes",
    ("singular coordinates",),
    "the coordinates of the system are singular at this point: {where}.\n"
    '  Try: compile_system(model, "maximal"), whose coordinates are regular.',
    Why.NOT_DONE,
)
MODE_KIND = Refusal(
    "modes/kind",
    "modes",
    ("kind of mode without words",),
    'there are no words for a mode of the kind "{kind}"',
    Why.NOT_DONE,
)
OUTPUT_MOVING = Refusal(
    "outputs/steady-motion",
    "outputs",
    ("steady motion", "point of a body"),
    'output "{name}": points are outputs about a state of rest only',
    Why.NOT_DONE,
)
LAW_ROTATING = Refusal(
    "feedback-law/rotation-in-motion",
    "feedback law",
    ("steady motion", "quaternion"),
    'there is no feedback law of "{coordinate}", which is no coordinate of the mechanism at rest',
    Why.NOT_DONE,
)
NOT_CYCLIC = Refusal(
    "routh/not-cyclic",
    "Routh's reduction",
    ("no cyclic coordinate",),
    "no coordinate of this mechanism is cyclic, so there is none to ignore.\n"
    "  Try: Euler angles about the vertical first and the body's own axis last, instead of a quaternion.",
    Why.NO_MEANING,
)
NAME_TAKEN = Refusal(
    "routh/name-taken",
    "Routh's reduction",
    ("name that is taken",),
    'the model uses the name "{name}", which the momentum needs; rename it',
    Why.NOT_DONE,
)
SENSITIVITIES_OVER_TIME = Refusal(
    "sensitivities/inputs-over-time",
    "sensitivities",
    ("input that only a run knows",),
    "sensitivities need inputs as numbers or expressions; those of this run are given over time",
    Why.NOT_DONE,
)
SENSITIVITIES_OF_LOOPS = Refusal(
    "sensitivities/closed-loops",
    "sensitivities",
    ("closed loop",),
    'sensitivities need independent coordinates, and joint "{joint}" closes a loop.\n'
    "  Try: differences between runs with slightly different parameters.",
    Why.NOT_DONE,
)
NOT_SMOOTH = Refusal(
    "sensitivities/kink",
    "sensitivities",
    ("kink or jump",),
    "sensitivities need smooth equations, but {owner} may have a kink or a jump.\n"
    "  Try: a smooth expression, such as tanh(x/0.01) for sign(x).",
    Why.NOT_DONE,
)
LONG_REPORT = Refusal(
    "report/equations-length",
    "report",
    ("large mechanism",),
    "with {speeds} speeds they are too long to read, so they are not printed here.\n"
    '  Try: print_equations(model, "c") (or "python", "json", "text").',
    Why.SIZE,
)
LONG_CHECK = Refusal(
    "report/check-time",
    "report",
    ("large mechanism",),
    "with {speeds} speeds, deriving the equations by every formulation takes too long for a report.\n"
    "  Try: check(model), which compares them.",
    Why.SIZE,
)
REPORT_AT_REST = Refusal(
    "report/no-equilibrium",
    "report",
    ("no equilibrium",),
    "there is no equilibrium to linearize about",
    Why.NO_MEANING,
)
REPORT_OF_TIME = Refusal(
    "report/no-drive",
    "report",
    ("nothing depends on time",),
    "nothing depends on time",
    Why.NO_MEANING,
)
LONG_FLOQUET = Refusal(
    "report/multipliers-time",
    "report",
    ("large mechanism",),
    "with {speeds} speeds, Floquet multipliers take too long for a report",
    Why.SIZE,
)
REPORT_OF_DRIVE = Refusal(
    "report/no-motion",
    "report",
    ("no prescribed motion",),
    "nothing has a prescribed motion",
    Why.NO_MEANING,
)
REPORT_OF_INPUTS = Refusal(
    "report/no-input",
    "report",
    ("no input",),
    "the mechanism has no input",
    Why.NO_MEANING,
)
LONG_RESPONSES = Refusal(
    "report/responses-time",
    "report",
    ("large mechanism",),
    "with {speeds} speeds, forced responses take too long for a report",
    Why.SIZE,
)

_LANDSCAPE = "a potential is drawn over one or two free coordinates, and this mechanism has {freedoms}"
LANDSCAPE_OF_MANY = Refusal("potential/freedoms", "potential", ("large mechanism",), _LANDSCAPE, Why.NO_MEANING)
LANDSCAPE_OF_LOOPS = Refusal(
    "potential/closed-loops", "potential", ("closed loop",), _LANDSCAPE + " in closed loops", Why.NOT_DONE
)

_MOTION_INPUTS = "prescribed motions as inputs need an equilibrium in regular coordinates, and "
MOTIONS_SINGULAR = Refusal(
    "motion-inputs/singular-coordinates",
    "motions as inputs",
    ("singular coordinates",),
    _MOTION_INPUTS + "the coordinates are singular there",
    Why.NOT_DONE,
)
MOTIONS_STEADY = Refusal(
    "motion-inputs/steady-motion",
    "motions as inputs",
    ("steady motion",),
    _MOTION_INPUTS + "this is a steady motion",
    Why.NOT_DONE,
)

_NO_STATE = '"{name}" is no state of the linear model; {available}'
OUTPUT_SINGULAR = Refusal("outputs/singular-coordinates", "outputs", ("singular coordinates",), _NO_STATE, Why.NOT_DONE)
OUTPUT_ALONE = Refusal("outputs/no-system", "outputs", ("linear model alone",), _NO_STATE, Why.NO_MEANING)

_NO_LAW = "the coordinates of this linear model are not those of the mechanism, so it has no feedback law"
LAW_SINGULAR = Refusal(
    "feedback-law/singular-coordinates", "feedback law", ("singular coordinates",), _NO_LAW, Why.NOT_DONE
)
LAW_ALONE = Refusal("feedback-law/no-system", "feedback law", ("linear model alone",), _NO_LAW, Why.NO_MEANING)


def _without(id: str, otherwise: str) -> Refusal:
    return Refusal(f"report/{id}", "report", ("no equilibrium",), otherwise, Why.NO_MEANING)


NOTHING_TO_JUDGE = _without("nothing-to-judge", "no equilibria")
NOTHING_TO_LINEARIZE = _without("nothing-to-linearize", "no equilibrium to linearize about")
NOTHING_OSCILLATES = _without("nothing-oscillates", "no equilibrium to oscillate about")
NOTHING_TO_SHOW = _without("nothing-to-show", "no modes to show")

NEVER_AT_REST = Refusal(
    "equilibria/depends-on-time",
    "equilibria",
    ("forces that depend on time",),
    "forces on this state depend on time, so there is no equilibrium.\n"
    "  Try: inputs={{...}} with constant values; if the driving is periodic, floquet(...); or "
    "linearize_motions(...), which holds prescribed motions and takes them as inputs.",
    Why.NO_MEANING,
)

# In maximal coordinates:

_NOT_AT_REST = "in maximal coordinates a {} leaves nothing at rest"
STEADY_BODIES = needs_joints(
    "equilibria/steady-bodies",
    "equilibria",
    ("steady motion",),
    _NOT_AT_REST.format("steady motion"),
    Why.MATHEMATICS,
)
DRIVEN_BODIES = needs_joints(
    "equilibria/driven-bodies",
    "equilibria",
    ("prescribed motion",),
    _NOT_AT_REST.format("prescribed motion"),
    Why.MATHEMATICS,
)
LAW_OF_BODIES = needs_joints(
    "feedback-law/maximal-coordinates",
    "feedback law",
    (),
    "a feedback law is written in the coordinates of the joints",
    Why.NOT_DONE,
)
ROUTH_OF_BODIES = needs_joints(
    "routh/maximal-coordinates",
    "Routh's reduction",
    (),
    "Routh's reduction needs the coordinates of the joints",
    Why.NOT_DONE,
)
