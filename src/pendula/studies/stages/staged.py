"""Studies in stages: random draws until an estimate is accurate enough, and grids refined where answers change.

What a stage computes is a function of the results before it, so that a killed study continues as an undisturbed one.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.studies.drive import Driver
from pendula.studies.plan import Draws, Plan
from pendula.studies.result import DONE, FAILED, INFERRED, Sweep
from pendula.studies.stages.refinement import Refinement
from pendula.studies.stages.stopping import Goal, Stage, next_stage
from pendula.studies.statistics import Estimate, estimate
from pendula.system.layout import Array
from pendula.tables.table import Block

_SIGNS = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_CONDITION = re.compile(r"^\s*(?P<name>.+?)\s*(?P<sign><=|>=|==|!=|<|>)\s*(?P<number>[^<>=!]+?)\s*$")

Collect = Callable[[Plan], Sweep]


@dataclass(frozen=True)
class Until:
    """When a study with random draws has enough of them.

    Attributes:
        quantity: a result, or a condition on one such as ``"first_t < 10"`` (for a probability).
        goal: the accuracy.
    """

    quantity: str
    goal: Goal

    def describe(self) -> dict[str, Any]:
        """As plain data."""
        return {"quantity": self.quantity, **vars(self.goal)}


def read_until(given: Any) -> Until:
    """The rule by which a study ends.

    Raises:
        UsageError: a field is unknown, missing or wrong.
    """
    if not isinstance(given, Mapping) or not isinstance(given.get("quantity"), str):
        raise UsageError(
            'until: {"quantity": NAME or a condition, "half_width": ..., "of": "mean" or "probability", '
            f'"relative": False, "level": 0.95, "most": ...}}, found {given!r:.80}'
        )
    fields = {name: value for name, value in given.items() if name != "quantity"}
    if _CONDITION.match(given["quantity"]):
        fields.setdefault("of", "probability")
    if "within" in fields and isinstance(fields["within"], list):
        fields["within"] = tuple(fields["within"])
    try:
        return Until(given["quantity"], Goal(**fields))
    except TypeError:
        known = ", ".join(Goal.__dataclass_fields__)
        raise UsageError(f"until has the fields quantity, {known}, found {', '.join(map(str, given))}") from None


def samples_of(sweep: Sweep, quantity: str) -> Array:
    """Values of a result for all draws, or 1 and 0 for a condition on it; NaN where a case failed.

    Raises:
        UsageError: there is no such result, or it has further dimensions.
    """
    condition = _CONDITION.match(quantity)
    name = condition["name"] if condition else quantity
    values = sweep[name]
    if values.shape != sweep.shape:
        raise UsageError(f'"{name}" has several values for every case ({", ".join(sweep.dims_of(name))})')
    if condition is None:
        if values.dtype.kind == "U":
            raise UsageError(f'"{name}" holds words; give a condition, such as "{name} == {values.flat[0]}"')
        return np.asarray(values, dtype=float)
    compare = _SIGNS[condition["sign"]]
    if values.dtype.kind == "U":
        found = compare(values, condition["number"].strip("\"'"))
    else:
        from pendula.model.expressions.expression import parse
        from pendula.model.names import ExpressionError

        try:
            found = compare(values, float(condition["number"]))
        except ValueError:
            try:
                found = compare(values, float(parse(condition["number"]).evaluate({})))
            except ExpressionError as error:
                raise UsageError(f'the condition "{quantity}": {error}') from None
    return np.where(sweep.status == DONE, np.asarray(found, dtype=float), np.nan)


def estimate_of(sweep: Sweep, quantity: str, **how: Any) -> Estimate:
    """The mean of a result over all draws, or the probability of a condition, with its confidence interval.

    Raises:
        UsageError: the study has no draws, or further dimensions.
    """
    if sweep.dims != ("draw",):
        raise UsageError(f"an estimate is over random draws alone, and this study is over {', '.join(sweep.dims)}")
    if _CONDITION.match(quantity):
        how.setdefault("of", "probability")
    return estimate(by_replicate(samples_of(sweep, quantity), sweep["replicate"], sweep.study), **how)


def by_replicate(values: Array, replicate: Array, study: Mapping[str, Any]) -> Array:
    """Values as (replicates, samples), in the order of the samples; independent ones as they are."""
    design = (study["identity"]["over"]["draws"] or {}).get("design", "random")
    if design == "random":
        return values
    order = np.argsort(replicate, kind="stable")
    return values[order].reshape(int(replicate.max()) + 1, -1)


def draw_until(driver: Driver, plan: Plan, until: Until, collect: Collect, grow: Callable[[Plan], None]) -> Sweep:
    """Draws more and more cases until the estimate is accurate enough.

    Args:
        driver: computes cases.
        plan: with the design of the draws.
        until: the rule.
        collect: gives the results so far.
        grow: called with every larger plan before its cases are computed.
    """
    assert plan.draws is not None
    design = plan.draws.design
    stage = next_stage(until.goal, design)
    while True:
        plan = replace(plan, draws=_of_stage(plan.draws, stage))
        grow(plan)
        driver.extend(plan)
        driver.compute(np.arange(plan.size))
        found = collect(plan)
        if driver.interrupted:
            return found
        values = by_replicate(samples_of(found, until.quantity), found["replicate"], found.study)
        stage = next_stage(until.goal, design, values)
        if stage.done:
            estimates = () if stage.estimate is None else (stage.estimate,)
            return replace(found, estimates=estimates, notes=(*found.notes, f"{until.quantity}: {stage.reason}"))


def _of_stage(draws: Draws, stage: Stage) -> Draws:
    return replace(draws, count=stage.replicates * stage.samples, replicates=stage.replicates)


@dataclass(frozen=True)
class Refine:
    """Where a grid is refined: where the values of a result differ.

    Attributes:
        by: the result, words or numbers that mark regions.
        coarse: every how many grid lines are computed first.
        change: for numbers that are not labels, by how much neighbours may differ.
    """

    by: str
    coarse: int = 16
    change: float | None = None


def read_refine(given: Any) -> Refine:
    """The rule by which a grid is refined.

    Raises:
        UsageError: a field is unknown or wrong.
    """
    if isinstance(given, str):
        return Refine(given)
    try:
        found = Refine(**given)
    except TypeError:
        raise UsageError(f'refine: {{"by": NAME, "coarse": 16}}, found {given!r:.80}') from None
    if not isinstance(found.by, str) or isinstance(found.coarse, bool) or not isinstance(found.coarse, int):
        raise UsageError(f'refine: "by" is the name of a result and "coarse" an integer, found {given!r:.80}')
    return found


def compute_refined(driver: Driver, plan: Plan, rule: Refine, collect: Collect) -> Sweep:
    """Computes a coarse grid, and then only what is near changes of a result; the rest is inferred."""
    if plan.draws is not None or plan.listed is not None:
        raise UsageError("refine is for grids, and this study has random or listed cases")
    refinement = Refinement(plan.shape, coarse=rule.coarse, threshold=rule.change)
    while True:
        found = collect(plan) if driver.known.any() else None
        answers = (np.zeros(0, dtype=int), np.zeros(0)) if found is None else _answers(found, rule)
        cases = np.asarray(refinement.next(answers), dtype=int)
        if not cases.size or driver.interrupted:
            break
        driver.compute(cases)
    assert found is not None
    return found if driver.interrupted else _filled(found, refinement, answers, rule)


def _answers(found: Sweep, rule: Refine) -> tuple[Array, Array]:
    """Numbers of all computed cases and their answers: labels, or with ``change`` numbers; failed ones are NaN."""
    status = found.status.ravel()
    known = np.flatnonzero((status == DONE) | (status == FAILED))
    if rule.by not in found.names:
        if not found.failures:
            raise UsageError(f'refine: there is no result "{rule.by}"; results are {", ".join(found.names)}')
        return known, np.full(len(known), np.nan if rule.change is not None else "failed")
    values = found[rule.by]
    if values.shape != found.shape:
        raise UsageError(f'refine: "{rule.by}" has several values for every case')
    flat = values.ravel()[known]
    if rule.change is not None:
        if flat.dtype.kind == "U":
            raise UsageError(f'refine: "change" is for numbers, and "{rule.by}" holds words')
        return known, flat
    return known, np.where(status[known] == FAILED, "failed", flat.astype(str))


def _filled(found: Sweep, refinement: Refinement, answers: tuple[Array, Array], rule: Refine) -> Sweep:
    """The result with inferred values of the quantity that decided; others stay unknown where nothing was computed."""
    if rule.by not in found.names:
        return found  # all cases failed
    cases, _ = answers
    places, computed = refinement.fill((cases, cases))  # which case stands for each point
    values = found[rule.by].ravel()[places]
    status = np.where(computed, found.status, INFERRED)
    quantities = tuple(_with(block, rule.by, values) for block in found.quantities)
    share = f"{int(computed.sum())} of {len(found)} cases were computed; the others lie between equal neighbours"
    steps = " x ".join(map(str, refinement.steps))
    width = f"regions smaller than {steps} grid steps that touch no other border may have been missed"
    return replace(found, quantities=quantities, status=status, notes=(*found.notes, share, width))


def _with(block: Block, name: str, values: Array) -> Block:
    return replace(block, values=values) if block.name == name and block.columns is None else block
