"""What the description of mechanisms refuses: parts and functions that nobody has told it how to compute."""

from __future__ import annotations

from pendula.refusals import Refusal, Why

NO_ACTIONS = Refusal(
    "force-type/no-actions",
    "derive",
    ("own force type",),
    'force type "{type}" does not state where it acts: its class has no actions()',
    Why.NOT_DONE,
)
NO_TEMPLATE = Refusal(
    "joint-type/no-template",
    "derive",
    ("own joint type",),
    'joint "{name}": no formulation and no engine can handle joints of type "{type}", because {kind} has no '
    "{what}; see docs/extending.md",
    Why.NOT_DONE,
)
PERIOD_OF_STEP = Refusal(
    "periods/joint-step",
    "equilibria",
    ("own joint type",),
    "the periodicity of a joint step {step} is not known",
    Why.NOT_DONE,
)
PERIOD_OF_ROW = Refusal(
    "periods/constraint-row",
    "equilibria",
    ("own joint type",),
    "the periodicity of a constraint row {row} is not known",
    Why.NOT_DONE,
)
PERIOD_OF_ACTION = Refusal(
    "periods/action",
    "equilibria",
    ("own force type",),
    "the periodicity of an action {action} is not known",
    Why.NOT_DONE,
)
UNKNOWN_NODE = Refusal(
    "expressions/unknown-node",
    "expression",
    ("function of expressions",),
    "{node} is not a node of the expression language",
    Why.NOT_DONE,
)
NO_ENTRY = Refusal(
    "expressions/no-entry",
    "expression",
    ("function of expressions",),
    "there are no {purpose} for the function {name}",
    Why.NOT_DONE,
)
NO_SLOPE = Refusal(
    "expressions/no-derivative",
    "expression",
    ("function of expressions",),
    'the derivative of "{name}" is not known',
    Why.NOT_DONE,
)
