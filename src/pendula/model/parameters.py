"""Parameters: named expressions that may refer to each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pendula.model.names import ExpressionError, check_name, nearest, quote

if TYPE_CHECKING:
    from pendula.model.expressions.expression import Expression

MOST_HINTS = 100  # largest number of problems with a suggested name


class ParameterError(ExpressionError):
    """Parameters that cannot be evaluated.

    Attributes:
        problems: all problems, as pairs (name of the parameter, message).
    """

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        super().__init__("\n".join(f"parameter {quote(name)}: {message}" for name, message in problems))
        self.problems = list(problems)

    def __reduce__(self) -> tuple[type[ParameterError], tuple[list[tuple[str, str]]]]:
        return ParameterError, (self.problems,)


def evaluate_parameters(definitions: Mapping[str, Expression]) -> dict[str, float]:
    """Values of parameters that may refer to each other, in any order.

    Args:
        definitions: an expression for each parameter.

    Returns:
        The values, in the order of the definitions.

    Raises:
        ParameterError: with all problems at once: invalid names, unknown names, circular definitions, and expressions
            without a finite value.

    Example:
        >>> from pendula.model.expressions.expression import parse
        >>> evaluate_parameters({"I": parse("m*l**2/12"), "m": parse("5/32.2*32.2"), "l": parse(2)})["I"]
        1.6666666666666667
    """
    values, problems = values_and_problems(definitions)
    if problems:
        raise ParameterError(problems)
    return {name: values[name] for name in definitions}


def values_and_problems(
    definitions: Mapping[str, Expression], also: Collection[str] = ()
) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """Values of the parameters that have one, and the problems of the others, each cause once.

    Args:
        definitions: an expression for each parameter.
        also: names of parameters whose definition could not be read; parameters that depend on them have no value, and
            are not reported again.
    """
    problems: list[tuple[str, str]] = []
    for name, expression in definitions.items():
        problems += _name_problems(name, expression, definitions, also, hints=len(problems) < MOST_HINTS)
    order, cycles = evaluation_order(definitions)
    for cycle in cycles:
        links = cycle if len(cycle) <= 12 else [*cycle[:6], "...", *cycle[-5:]]
        problems.append((cycle[0], f"parameters refer to each other circularly: {' -> '.join(links)}"))
    values: dict[str, float] = {}
    for name in order:
        expression = definitions[name]
        if expression.names <= values.keys():  # otherwise the cause is already reported
            try:
                values[name] = expression.evaluate(values)
            except ExpressionError as error:
                problems.append((name, str(error)))
    return values, problems


def _name_problems(
    name: str, expression: Expression, definitions: Mapping[str, Expression], also: Collection[str], *, hints: bool
) -> Iterator[tuple[str, str]]:
    """An invalid name, and names in its expression that are not parameters."""
    try:
        check_name(name, "parameter")
    except ExpressionError as error:
        yield name, str(error)
    for unknown in sorted(n for n in expression.names if n not in definitions and n not in also):
        near = nearest(unknown, definitions) if hints else ""
        if unknown == "t":
            hint = "; a parameter is constant and cannot depend on the time"
        else:
            hint = f"; did you mean {quote(near)}?" if near else "; add it to the parameters, or write its value"
        yield name, f"{quote(str(expression))} uses {quote(unknown)}, which is not a parameter{hint}"


def evaluation_order(definitions: Mapping[str, Expression]) -> tuple[list[str], list[list[str]]]:
    """Parameters in topological order, and the cycles among them, as a, b, ..., a."""
    order: list[str] = []
    cycles: list[list[str]] = []
    finished: dict[str, bool] = {}
    for start in definitions:
        if start in finished:
            continue
        finished[start] = False
        path = [start]
        needs = [iter(_needs(definitions, start))]
        while path:
            needed = next(needs[-1], None)
            if needed is None:
                finished[path[-1]] = True
                order.append(path.pop())
                needs.pop()
            elif needed not in finished:
                finished[needed] = False
                path.append(needed)
                needs.append(iter(_needs(definitions, needed)))
            elif not finished[needed]:
                cycles.append([*path[path.index(needed) :], needed])
    return order, cycles


def _needs(definitions: Mapping[str, Expression], name: str) -> list[str]:
    return sorted(other for other in definitions[name].names if other in definitions)
