"""What compiled systems and their engines refuse."""

from __future__ import annotations

from pendula.refusals import Refusal, Why


def needs_joints(id: str, question: str, features: tuple[str, ...], cause: str, why: Why) -> Refusal:
    """What is refused in maximal coordinates, by :meth:`~pendula.system.in_joints.InJoints.refuse_others`."""
    advice = 'compile_system(model, "lagrange") or another formulation in the coordinates of the joints.'
    return Refusal(id, question, ("maximal coordinates", *features), f"{cause}.\n  Try: {advice}", why)


def _without_rows(id: str, what: str, feature: str) -> Refusal:
    sentence = (
        "the Taylor stepper supports only equations without constraint rows, and this system has {rows} "
        f'({what}); use stepper="dop853"'
    )
    return Refusal(id, "run", ("taylor", feature), sentence, Why.NOT_DONE)


GIVEN_EQUATIONS = Refusal(
    "given-equations/model",
    "the model",
    ("given equations",),
    "{who} also draws on the model, with which the equations of {source} need not agree.\n"
    "  Try: {who} for the model itself; given equations support {able}.",
    Why.MATHEMATICS,
)
GIVEN_EQUATIONS_LAW = Refusal(
    "given-equations/feedback",
    "run",
    ("given equations", "feedback law"),
    'equations of {source} take inputs as numbers or expressions of t, and the law of "{name}" depends on the '
    "state.\n"
    "  Try: the model itself.",
    Why.NOT_DONE,
)
_BESIDE = "  Try: a body on a joint of its own beside it, which moves freely: then all questions are answered."
NOTHING_FREE = Refusal(
    "compile/nothing-free",
    "compile",
    ("no free coordinate",),
    f"nothing can move: there are no free coordinates, because {{why}}.\n{_BESIDE}",
    Why.NOT_DONE,
)
STRUCTURE = Refusal(
    "compile/structure",
    "compile",
    ("no free coordinate", "closed loop"),
    f"nothing can move: the closing joints allow no motion, so this is a structure.\n{_BESIDE}",
    Why.NOT_DONE,
)
NO_ACCELERATIONS = Refusal(
    "recursive/singular",
    "recursive engine",
    ("massless body",),
    "the recursive engine finds no accelerations: only a loop holds a massless body, or a pose is singular.\n"
    "  Try: the symbolic engine.",
    Why.MATHEMATICS,
)
RECURSIVE_COUPLING = Refusal(
    "recursive/coupling",
    "recursive engine",
    ("coupling of coordinates",),
    'joint "{joint}": the recursive engine supports no couplings of coordinates; use the symbolic engine',
    Why.NOT_DONE,
)
RECURSIVE_MIXED = Refusal(
    "recursive/orientation-among-expressions",
    "recursive engine",
    ("own joint type",),
    "the recursive engine supports no orientation among other expressions",
    Why.NOT_DONE,
)
RECURSIVE_BALL_SPRING = Refusal(
    "recursive/spring-on-rate",
    "recursive engine",
    ("force along a coordinate", "quaternion"),
    'the recursion supports no spring on "{coordinate}", whose rate is no speed of its joint',
    Why.NOT_DONE,
)
RECURSIVE_DRIVEN_SPRING = Refusal(
    "recursive/spring-on-driven-chart",
    "recursive engine",
    ("force along a coordinate", "prescribed motion"),
    'the recursion supports no spring on "{coordinate}", a prescribed coordinate of a chart',
    Why.NOT_DONE,
)
RECURSIVE_JOINT = Refusal(
    "recursive/joint-type",
    "recursive engine",
    ("own joint type",),
    'joint "{joint}": joint type "{type}" {what}, which the recursive engine does not support; use the symbolic engine',
    Why.NOT_DONE,
)
RECURSIVE_DRIVEN_ROTOR = Refusal(
    "recursive/driven-armature",
    "recursive engine",
    ("armature", "prescribed motion"),
    'coordinate "{coordinate}": the recursive engine does not support the armature of a prescribed motion in '
    "a joint that expressions describe; use the symbolic engine",
    Why.NOT_DONE,
)
RECURSIVE_PLACED_BALL = Refusal(
    "recursive/orientation-outside-motion",
    "recursive engine",
    ("own joint type",),
    'joint "{joint}": the recursion supports no orientation outside the motion',
    Why.NOT_DONE,
)
EIGHT_LOOPS = Refusal(
    "recursive/eight-loops",
    "recursive engine",
    ("closed loop",),
    "dynamics_of_eight supports no loops",
    Why.NOT_DONE,
)
EIGHT_EXPRESSIONS = Refusal(
    "recursive/eight-expressions",
    "recursive engine",
    ("expressions",),
    "dynamics_of_eight supports nothing that depends on time or expressions",
    Why.NOT_DONE,
)
RECURSIVE_JACOBIAN = Refusal(
    "recursive/jacobian-of-loops",
    "recursive engine",
    ("closed loop",),
    "jacobian_dynamics does not support closed loops; use acceleration_jacobian",
    Why.NOT_DONE,
)
FORWARD_OVER_TIME = Refusal(
    "forward-dynamics/inputs-over-time",
    "forward dynamics",
    ("input that only a run knows",),
    "forward_dynamics does not follow the inputs of a run.\n"
    "  Try: the system of the model, and write their values into the array inputs before each evaluation.",
    Why.NOT_DONE,
)
DEVIATIONS_OVER_TIME = Refusal(
    "deviations/inputs-over-time",
    "deviations",
    ("input that only a run knows",),
    "deviations need inputs as numbers or expressions; those of this run are given over time",
    Why.NOT_DONE,
)
DEVIATIONS_OF_BODIES = Refusal(
    "deviations/maximal-coordinates",
    "deviations",
    ("maximal coordinates",),
    'deviations need the coordinates of the joints.\n  Try: compile_system(model, "kane"), or in_joints.system.',
    Why.NOT_DONE,
)
START_ROTATION = Refusal(
    "sensitivities/initial-rotation",
    "sensitivities",
    ("orientation by angles", "parameters in the initial state"),
    'the initial rotation of joint "{joint}" depends on parameters; its derivatives are known for a '
    "quaternion only.\n"
    "  Try: give the angles by their names.",
    Why.NOT_DONE,
)
ROUNDED_WRITTEN = Refusal(
    "proof/given-equations",
    "proof",
    ("given equations",),
    "the equations contain rounded numbers, and no formulation derived them from the model",
    Why.MATHEMATICS,
)
ROUNDED = Refusal(
    "proof/rounded-numbers",
    "proof",
    ("rounded numbers",),
    "the equations contain rounded numbers, and no formulation derived them from the model",
    Why.NOT_DONE,
)
TAYLOR_LOOPS = _without_rows("taylor/closed-loops", "closed loops", "closed loop")
TAYLOR_BODIES = _without_rows("taylor/maximal-coordinates", "maximal coordinates", "maximal coordinates")
TAYLOR_SPEEDS = Refusal(
    "taylor/speeds",
    "run",
    ("taylor", "large mechanism"),
    'the Taylor stepper supports up to {most} speeds, this system has {speeds}; use stepper="dop853"',
    Why.SIZE,
)
TAYLOR_STEP = Refusal(
    "taylor/steps",
    "run",
    ("taylor", "kink or jump"),
    'the Taylor stepper does not support {function}(...), which has no Taylor series; use stepper="dop853"',
    Why.MATHEMATICS,
)
TAYLOR_CONDITION = Refusal(
    "taylor/condition",
    "run",
    ("taylor", "kink or jump"),
    "the Taylor stepper does not support a condition on the motion (abs, sign, min, max, if): it has no "
    "Taylor series where it switches. Conditions of the form t < number are supported; "
    'use stepper="dop853"',
    Why.MATHEMATICS,
)
LIVE_OPERATIONS = Refusal(
    "live-page/operations",
    "live page",
    ("large mechanism",),
    "a live page runs smoothly up to {most} operations per evaluation, and {model} with {bodies} bodies takes "
    "{operations}; about {fewer} bodies of this kind would be few enough.\n"
    "  Try: fewer bodies; or simulate it and write an animation, which plays any number of bodies.",
    Why.SIZE,
)
TWIN_OF_MOTION = Refusal(
    "conversion/prescribed-angles",
    "conversion",
    ("prescribed motion",),
    'joint "{joint}" has prescribed angles, which only its own coordinates describe',
    Why.NO_MEANING,
)
TWIN_OF_NAMES = Refusal(
    "conversion/coordinates-by-name",
    "conversion",
    ("coordinates named in expressions",),
    "the model uses coordinates that another chart does not have ({what})",
    Why.NO_MEANING,
)
TWIN_OF_EXPRESSION = Refusal(
    "conversion/expressions",
    "conversion",
    ("coordinates named in expressions",),
    '{owner} uses "{name}", which another chart does not have in this meaning',
    Why.NO_MEANING,
)
TWIN_OF_ROTOR = Refusal(
    "conversion/armature",
    "conversion",
    ("armature",),
    'joint "{joint}" has armature, which belongs to its own speeds',
    Why.NO_MEANING,
)
TWIN_OF_FORCE = Refusal(
    "conversion/force-along-coordinates",
    "conversion",
    ("force along a coordinate",),
    'the force "{force}" acts along the coordinates of joint "{joint}"',
    Why.NO_MEANING,
)
TWIN_OF_WRITTEN = Refusal(
    "conversion/given-equations",
    "conversion",
    ("given equations",),
    "the equations of {source} are written in these coordinates",
    Why.NO_MEANING,
)
CHART_RATES = Refusal(
    "recursive/chart",
    "recursive engine",
    ("own orientation chart",),
    'kernels know no rates of the orientation chart "{chart}"',
    Why.NOT_DONE,
)
NO_VALUE = Refusal(
    "compile/value",
    "compile",
    ("function of expressions",),
    "{values} has no {what}",
    Why.NOT_DONE,
)
NO_CONDITION = Refusal(
    "compile/condition-value",
    "compile",
    ("function of expressions",),
    "{values} has no condition {name}",
    Why.NOT_DONE,
)
NOT_LOWERED = Refusal(
    "compile/expression",
    "compile",
    ("function of expressions",),
    "{kind} cannot be compiled: {expression}",
    Why.NOT_DONE,
)
CONDITION_NOT_LOWERED = Refusal(
    "compile/condition",
    "compile",
    ("function of expressions",),
    "the condition {condition} cannot be compiled",
    Why.NOT_DONE,
)
NO_DERIVATIVE = Refusal(
    "compile/derivative",
    "compile",
    ("function of expressions",),
    "there is no derivative for the function {name}",
    Why.NOT_DONE,
)
CONDITION_CODE = Refusal(
    "compile/condition-code",
    "compile",
    ("function of expressions",),
    "the condition {condition} has no machine code",
    Why.NOT_DONE,
)
OPERATION_CODE = Refusal(
    "compile/operation-code",
    "compile",
    ("function of expressions",),
    "the operation {operation} has no machine code",
    Why.NOT_DONE,
)
FUNCTION_CODE = Refusal(
    "compile/function-code",
    "compile",
    ("function of expressions",),
    "{name} has no machine code",
    Why.NOT_DONE,
)
OPERATION_SCRIPT = Refusal(
    "live-page/operation",
    "live page",
    ("function of expressions",),
    "the operation {operation} has no JavaScript",
    Why.NOT_DONE,
)
CONDITION_SCRIPT = Refusal(
    "live-page/condition",
    "live page",
    ("function of expressions",),
    "the condition {condition} has no JavaScript",
    Why.NOT_DONE,
)
