"""What runs refuse."""

from __future__ import annotations

from pendula.refusals import Refusal, Why
from pendula.system.refusals import needs_joints

BOUNDS_OF_SERIES = Refusal(
    "simulate-many/bounds-by-taylor",
    "ensemble",
    ("taylor", "bounds"),
    'stepper "{stepper}" does not find where runs leave bounds.\n  Try: stepper="dop853", or "rk45".',
    Why.NOT_DONE,
)
MANY_OVER_TIME = Refusal(
    "simulate-many/inputs-over-time",
    "ensemble",
    ("input that only a run knows",),
    'simulate_many takes inputs as numbers or text, and "{name}" is {kind}.\n  Try: simulate, one run at a time.',
    Why.NOT_DONE,
)
SWITCHING_TIMES = Refusal(
    "simulate-many/switching-times-by-taylor",
    "ensemble",
    ("taylor", "switching times that vary"),
    'stepper "taylor" does not support parameters that change switching times; try dop853',
    Why.NOT_DONE,
)
CONTINUED_CONTROLLER = Refusal(
    "continuation/sampled-controller",
    "continuation",
    ("sampled controller",),
    'continue_for: input "{name}" is a sampled controller, which starts with its run.\n'
    "  Try: simulate over the whole time.",
    Why.NOT_DONE,
)
BACKWARDS_CONTROLLER = Refusal(
    "simulate/sampled-controller-backwards",
    "run",
    ("sampled controller", "backwards in time"),
    'a run backwards in time has no samples before its start, and the controller of "{name}" acts on samples.\n'
    "  Try: the forward run, or the input as text or as a time series.",
    Why.NO_MEANING,
)
CONVERTED_FUNCTION = Refusal(
    "conversion/function-of-the-state",
    "conversion",
    ("Python function as input",),
    'the input "{name}" of this run is a Python function, which reads the state in the coordinates of the run.\n'
    "  Try: the input as text, or a time series of its values.",
    Why.NO_MEANING,
)
ANALYSIS_OVER_TIME = Refusal(
    "inputs-over-time/analysis",
    "the model",
    ("input that only a run knows",),
    'the input "{name}" of this run is {kind}, and the analysis needs numbers or expressions.\n'
    '  Try: the model, inputs as text, or inputs={{"{name}": ...}} with the value that is held.',
    Why.NOT_DONE,
)
MODEL_OVER_TIME = Refusal(
    "inputs-over-time/model",
    "the model",
    ("input that only a run knows",),
    '{who} draws on the model, which does not know that the input "{name}" of this run is {kind}.\n'
    "  Try: the model, or inputs as text.",
    Why.MATHEMATICS,
)
SLOPE_OF_FUNCTION = Refusal(
    "inputs-over-time/derivatives",
    "linear model",
    ("Python function as input",),
    'derivatives by {by} need that of the input "{name}", which is {kind} of the state.\n'
    "  Try: the input as text, or its values (inputs=...), which are then held.",
    Why.NOT_DONE,
)
SERIES_OVER_TIME = Refusal(
    "inputs-over-time/taylor",
    "run",
    ("taylor", "input that only a run knows"),
    'the stepper "{stepper}" needs inputs as numbers or text, and "{name}" is given in another way.\n'
    '  Try: stepper="dop853".',
    Why.NOT_DONE,
)
BOUNDS_OF_BODIES = Refusal(
    "within/maximal-coordinates",
    "run",
    ("maximal coordinates", "bounds"),
    "within is for coordinates of the equations, and maximal coordinates are not those of the joints.\n"
    '  Try: another formulation, such as "kane".',
    Why.NOT_DONE,
)
NOISE_OF_BODIES = needs_joints(
    "noise/maximal-coordinates",
    "run",
    ("sampled controller",),
    "noise of sensors is added to coordinates of the joints",
    Why.NOT_DONE,
)
