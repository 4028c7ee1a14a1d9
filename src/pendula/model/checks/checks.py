"""Checks across a whole model. Each yields Problems instead of raising, so that one error reports all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from pendula.errors import Problem
from pendula.model.checks.physics import check_physics
from pendula.model.checks.references import check_connection, check_references
from pendula.model.checks.templates import check_template_values, check_templates
from pendula.model.checks.usage import check_expressions
from pendula.model.names import quote
from pendula.model.parts import Parts
from pendula.model.reading import IN_PYTHON, MOST_BODIES

LARGEST_MODEL = IN_PYTHON * MOST_BODIES
"""Largest number of bodies of a model made in Python."""

MOST_PROBLEMS = 100
"""Largest number of problems in one report."""


def check_parts(parts: Parts) -> list[Problem]:
    """Problems across elements, for all elements that could be read."""
    checks: tuple[Callable[[Parts], Iterable[Problem]], ...] = (
        check_names,
        check_references,
        check_connection,
        check_expressions,
        check_physics,
    )
    if faults := list(check_templates(parts)):
        return faults  # other checks read the templates
    if parts.doubled:
        checks = tuple(check for check in checks if check is not check_connection)
    found = [problem for check in checks for problem in islice(check(parts), MOST_PROBLEMS + 1)]
    return found or list(islice(check_template_values(parts), MOST_PROBLEMS + 1))


def first_problems(problems: list[Problem]) -> list[Problem]:
    """The problems without duplicates; only the first ones if there are very many."""
    unique = list(dict.fromkeys(problems))
    if len(unique) <= MOST_PROBLEMS:
        return unique
    cause = f"there are more problems; these are the first {MOST_PROBLEMS}"
    return [*unique[:MOST_PROBLEMS], Problem("model", "", cause, "correct these and try again")]


def check_names(parts: Parts) -> Iterator[Problem]:
    """Duplicate names."""
    for kind, plural, names in (
        ("body", "bodies", [*(b.name for _, b in parts.bodies), *parts.unread_bodies]),
        ("joint", "joints", [*(j.name for _, j in parts.joints), *(j.name for j in parts.unread_joints)]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                yield Problem(f"{kind} {quote(name)}", "name", f"{count} {plural} have this name", "rename all but one")
    owners = {name: f"parameter {quote(name)}" for name in parts.constants}
    for name in (*parts.inputs, *parts.unread_inputs):
        if name in owners:
            yield Problem(f"input {quote(name)}", "", f"has the same name as {owners[name]}", "rename one of them")
        owners.setdefault(name, f"input {quote(name)}")
    yield from _coordinate_names(parts, owners)


def _coordinate_names(parts: Parts, owners: dict[str, str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for (element, joint), both in zip(parts.tree_joints, parts.motions, strict=True):
        if joint.name in seen:  # reported already
            continue
        seen.add(joint.name)
        place = joint.field_of_names()
        clashing: set[str] = set()
        for kind, found in zip(("coordinate", "speed"), both, strict=True):
            for c in found:
                if c.name in owners and c.name.removesuffix("_dot") not in clashing:
                    clashing.add(c.name)
                    other = f"another {kind} of it" if owners[c.name].endswith(element) else owners[c.name]
                    cause = f"its {kind} {quote(c.name)} has the same name as {other}"
                    yield Problem(element, place, cause, "rename one of them")
                owners.setdefault(c.name, f"a {kind} of {element}")
