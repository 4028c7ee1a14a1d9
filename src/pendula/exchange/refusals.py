"""What exchange with other tools refuses."""

from __future__ import annotations

from pendula.refusals import Refusal, Why

EXPORT_OF_WRITTEN = Refusal(
    "export/given-equations",
    "export",
    ("given equations",),
    'the format "{format}" holds equations derived from the model {model}, not those that replace them.\n'
    "  Try: export of the model itself.",
    Why.NO_MEANING,
)
FMU_SPEEDS = Refusal(
    "export-fmu/speeds",
    "export to FMU",
    ("large mechanism",),
    "an FMU holds up to {most} speeds, and {model} has {speeds}: the recursion over bodies, which moves "
    "larger mechanisms, has no C.\n"
    "  Try: a model with fewer bodies.",
    Why.SIZE,
)
FMU_OPERATIONS = Refusal(
    "export-fmu/operations",
    "export to FMU",
    ("large mechanism",),
    "an FMU holds equations of up to {most} operations; those of {model} have {operations}.\n"
    "  Try: absolute angles, another formulation, or fewer bodies.",
    Why.SIZE,
)
MODELICA_REDUNDANT = Refusal(
    "export-modelica/redundant-constraints",
    "export to Modelica",
    ("redundant constraints",),
    "{model} has redundant constraints, and Modelica tools cannot determine their multipliers.\n"
    "  Try: a closing joint with fewer rows.",
    Why.OUTSIDE,
)
SYMPY_MULTIPLIERS = Refusal(
    "import-sympy/multipliers",
    "import from SymPy",
    ("multipliers",),
    "{title}: equations with multipliers ({multipliers}) run only beside a model: compile_equations or check_against",
    Why.NOT_DONE,
)
SYMPY_SPEEDS = Refusal(
    "import-sympy/speeds",
    "import from SymPy",
    ("rates that speeds do not determine",),
    "from_sympy: the kinematic equations do not give the generalized speeds as functions of rates",
    Why.MATHEMATICS,
)
SYMPY_SYMBOL = Refusal(
    "import-sympy/unknown-symbol",
    "import from SymPy",
    ("function of time that is no coordinate",),
    "from_sympy: the equations contain {symbol}, which is not a coordinate",
    Why.NO_MEANING,
)
SYMPY_FUNCTION = Refusal(
    "import-sympy/expression",
    "import from SymPy",
    ("function of expressions",),
    "from_sympy: an equation cannot be read: {error}",
    Why.NOT_DONE,
)
