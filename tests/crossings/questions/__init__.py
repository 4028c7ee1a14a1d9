"""What is asked of a carried run: one function for each question, which raises Wrong where an oracle contradicts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from importlib import import_module
from shutil import which

from pendula.exchange.fmu.compiler import find_compiler
from tests.crossings.carry import Carried
from tests.crossings.case import Case
from tests.crossings.factors import Level

Ask = Callable[[Case, Carried], None]

PLACES: Mapping[str, str] = {
    "accelerations": "motion",
    "energy": "motion",
    "momentum": "motion",
    "integrals": "kept",
    "reactions": "forces",
    "motor forces": "forces",
    "slopes": "derivatives",
    "sensitivities": "derivatives",
    "events": "events",
    "trim": "holding",
    "equilibria": "rest",
    "linear model": "rest",
    "modes": "rest",
    "responses": "waves",
    "multipliers": "multipliers",
    "python": "programs",
    "sympy": "programs",
    "c": "programs",
    "fmu": "exports",
    "live page": "exports",
}
"""question: the module that asks it, in a function of its name"""


def available() -> list[tuple[str, str]]:
    """Levels to leave out, because this machine has not what their questions need: a C compiler, node."""
    needs = {"c": "cc", "fmu": "cc", "live page": "node"}
    return [("question", question) for question, tool in needs.items() if which(tool) is None]


def ask(question: str) -> Ask:
    """The function that asks a question."""
    module = import_module(f"tests.crossings.questions.{PLACES[question]}")
    found: Ask = getattr(module, question.replace(" ", "_"))
    return found


def unavailable() -> list[Level]:
    """Questions that cannot be asked on this machine."""
    found = [name for name in ("c", "fmu") if find_compiler() is None]
    found += ["live page"] if shutil.which("node") is None else []
    return [("question", name) for name in found]
