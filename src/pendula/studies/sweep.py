"""``sweep``: many cases of one mechanism, on one machine or many; and ``load_sweep``, which reads a study."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pendula.errors import UsageError
from pendula.model.files import dumps, loads
from pendula.studies.axes import Names
from pendula.studies.computations.registry import COMPUTATIONS
from pendula.studies.drive import Driver
from pendula.studies.followed import kept_notes, noted
from pendula.studies.plan import Draws, Plan, make_plan, read_draws
from pendula.studies.problems import Problems
from pendula.studies.recipe import Recipe, make_recipe, options_of, read_compute, refuse_unknown
from pendula.studies.result import Sweep, collect, folder_of
from pendula.studies.saved import DIGEST, digest_of, read_parts, read_plan, read_study
from pendula.studies.stages.staged import Refine, Until, compute_refined, draw_until, read_refine, read_until
from pendula.studies.stages.stopping import next_stage
from pendula.studies.store import Store, write_plan
from pendula.system.build import compile_again
from pendula.system.entry import AnySystem, refuse_written, system_of
from pendula.system.system import System


def sweep(
    system: AnySystem,
    over: Any,
    compute: Any = "end",
    *,
    draws: Draws | int | Mapping[str, Any] | None = None,
    until: Mapping[str, Any] | None = None,
    refine: Mapping[str, Any] | str | None = None,
    on: Any = None,
    workers: int | None = None,
    save: str | os.PathLike[str] | None = None,
    retry: str = "",
    on_progress: Callable[[int, int], object] | None = None,
    on_start: Callable[[str], object] | None = None,
    **options: Any,
) -> Sweep:
    """Computes many cases of one mechanism: all combinations of some values, or random draws.

    Cases go in tasks of about two seconds to processes on all cores, or to a cluster. With ``save`` every finished task
    is on disk before the next one counts: a study that was killed, interrupted or out of disk continues with the same
    call and computes only what is missing. Results do not depend on where and in which tasks cases are computed, to
    the last bit, on processors with the same features; ``machines`` records them.

    Args:
        system: a system, a model, or the name of a library mechanism.
        over: what varies, by name: parameters, initial coordinates and speeds, inputs, and settings such as "stepper".
            Each has a list of values, ``"LOW:HIGH:COUNT"``, ``{"grid": [LOW, HIGH, COUNT]}``, ``{"log": [...]}``, or a
            distribution: ``{"uniform": [LOW, HIGH]}``, ``{"normal": [MEAN, SIGMA]}``, ``{"loguniform": [LOW, HIGH]}``.
            Numbers may be text with units ("90deg"). Or a list of cases, each with its values by name.
        compute: what to compute for every case: a name of :data:`~pendula.extend.COMPUTATIONS` ("end", "states",
            "energies", "extremes", "first", "equilibria", "spectrum", "verdict", "frequencies", "floquet",
            "lyapunov"), a function of a :class:`~pendula.results.Case` that returns numbers by name, or several of
            these in a list.
        draws: how often random quantities are drawn: a number, or ``Draws``.
        until: instead of a number of draws, the accuracy of an estimate: ``{"quantity": "first_t < 10", "half_width":
            0.01}`` draws until the probability of that condition is known to 0.01 (95 %); of a result without a
            condition, the mean. Further fields: ``relative``, ``level``, ``of``, ``within``, ``most``.
        refine: of a grid, compute only every 16th line and what is near changes of a result: ``"stable"``, or
            ``{"by": "stable", "coarse": 16}``. That result is inferred everywhere else, and ``status`` says where.
        on: where: None, all cores of this machine; "here", this process; "dask", a local Dask cluster; an address such
            as "tcp://host:8786" or a Dask client, that cluster; or any executor of ``concurrent.futures``.
        workers: number of processes; default: the number of cores.
        save: a folder for the results, which makes the study resumable.
        retry: "failed" computes again the cases that failed before.
        on_progress: called as (cases ended, cases) several times a second.
        on_start: called with a text that says where cases are computed (with the address of Dask's dashboard).
        options: settings of the computation: ``duration``, ``tol``, ``stepper``, ``samples``, ``at``, ...

    Returns:
        Sweep. A case that fails is recorded with its reason and does not stop the others. After a keyboard interrupt
        it holds what was finished; ``complete`` is then false.

    Raises:
        UsageError: an argument is wrong, the folder holds another study, or results cannot be written (what was
            finished stays in the folder).
        NotSupported: an optional package is missing.

    Example:
        >>> import numpy as np, pendula
        >>> found = pendula.sweep("pendulum", {"l": [1.0, 4.0]}, "frequencies", at={"theta": 0}, on="here")
        >>> ratio = found["frequency"][0, 0] / found["frequency"][1, 0]  # as the root of the length
        >>> round(float(ratio), 12)
        2.0
    """
    given = system_of(system, "sweep")
    refuse_written(given, "sweep")
    stop = None if until is None else read_until(until)
    finer = None if refine is None else read_refine(refine)
    if stop is not None:
        if finer is not None:
            raise UsageError("until is for random draws and refine for grids: give one of them")
        draws = first_draws(stop, draws)
    plan, recipe = prepare(given, over, compute, draws, options)
    if stop is not None and plan.axes:
        raise UsageError(f'until is for random quantities alone, and "{plan.axes[0].name}" has a list of values')
    study = describe(given, plan, recipe, stop, finer)
    if retry not in ("", "failed"):
        raise UsageError(f'retry is "failed" or empty, found {retry!r}')
    if save is None:
        if retry:
            raise UsageError("retry is for studies that were saved")
        store, folder = None, None
    else:
        folder = folder_of(save)
        store = Store(folder, study)
        store.open()
        study = store.study
    try:
        with Driver(plan, recipe, store, on=on, workers=workers, on_progress=on_progress, on_start=on_start) as driver:

            def gather(plan: Plan) -> Sweep:
                parts = driver.parts if folder is None else read_parts(folder, study, plan)
                return collect(plan, parts, study=study, system=given, folder=folder)

            def grow(plan: Plan) -> None:
                if folder is not None:
                    write_plan(folder, plan, study)

            grow(plan)
            if folder is not None:
                driver.mark_known(read_parts(folder, study, plan), retry)
            if stop is not None:
                return noted(draw_until(driver, plan, stop, gather, grow), driver.plan, recipe)
            if finer is not None:
                return noted(compute_refined(driver, plan, finer, gather), plan, recipe)
            driver.compute(np.arange(plan.size))
            return noted(gather(plan), plan, recipe)
    finally:
        if store is not None:
            store.close()


def first_draws(until: Until, draws: Draws | int | Mapping[str, Any] | None) -> Draws:
    """The draws of the first stage of a study that ends by its accuracy; of those that were given, design and seed.

    Raises:
        UsageError: a number of draws was also given.
    """
    given: Any = {} if draws is None else draws
    if isinstance(given, Draws):
        given = {"design": given.design, "seed": given.seed}
    if not isinstance(given, Mapping) or "count" in given:
        raise UsageError("the number of draws follows from until; draws gives the design and the seed")
    design = given.get("design", "random")
    stage = next_stage(until.goal, design)
    return read_draws({**given, "count": stage.replicates * stage.samples, "replicates": stage.replicates})


def prepare(system: System, over: Any, compute: Any, draws: Any, options: Mapping[str, Any]) -> tuple[Plan, Recipe]:
    """The plan and the recipe of a study.

    Raises:
        UsageError: arguments are wrong; the message lists all that can be found independently of each other.
    """
    problems = Problems()
    asked = plan = recipe = None
    with problems:
        asked = read_compute(compute)
    settings = options_of(asked if asked is not None else tuple(COMPUTATIONS))
    with problems:
        plan = make_plan(Names(system, tuple(settings)), over, draws)
    for name in options:
        if plan is not None and name in plan.kinds:
            problems.add(f'"{name}" is a setting of all cases, and also varies')
    if asked is not None:
        with problems:
            if plan is None:
                refuse_unknown(asked, options)
            else:
                recipe = make_recipe(system, compute, options, plan.kinds)
    problems.raise_any()
    assert plan is not None
    assert recipe is not None
    return plan, recipe


def describe(
    system: System, plan: Plan, recipe: Recipe, until: Until | None = None, refine: Refine | None = None
) -> dict[str, Any]:
    """A study as plain data; ``identity`` is what distinguishes it from others."""
    over = plan.describe()
    if until is not None:
        over["draws"] = {name: over["draws"][name] for name in ("design", "seed")}
    identity = {
        "model": dumps(system.model.as_written),
        "formulation": system.formulation,
        "engine": system.engine,
        "over": over,
        **recipe.describe(),
        "until": None if until is None else until.describe(),
        "refine": None if refine is None else vars(refine).copy(),
    }
    found = {"identity": identity, "symbolic_terms": bool(system.symbolic_terms), "name": system.model.name}
    return {**found, DIGEST: digest_of(found)}


def load_sweep(folder: str | os.PathLike[str], *, system: AnySystem | None = None) -> Sweep:
    """Reads the study in a folder, finished or not, also while it is being computed.

    Args:
        folder: the folder of the study.
        system: its system, model or library name, where it is at hand; default: the one that the folder describes.

    Raises:
        UsageError: there is no study, or a part is damaged (the message names the file).

    Example:
        >>> import tempfile, pendula
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pendula.sweep("pendulum", {"theta": [0.1, 0.2]}, save=folder, on="here", duration=1.0)
        ...     found = load_sweep(folder)
        >>> found.complete, found["end.theta"].shape
        (True, (2,))
    """
    if not isinstance(folder, str | os.PathLike):
        raise UsageError(f"load_sweep takes the folder of a study, found {folder!r:.60}")
    where = folder_of(folder)
    study = read_study(where)
    known = study["identity"]
    if system is None:
        model = loads(known["model"], source=f'the model in "{where}"')
        system = compile_again(
            model, known["formulation"], known["engine"], symbolic_terms=bool(study.get("symbolic_terms"))
        )
    else:
        system = system_of(system, "load_sweep")
        _refuse_other_model(system, known["model"], where)
    plan = read_plan(where, study)
    found = collect(plan, read_parts(where, study, plan), study=study, system=system, folder=where)
    return replace(found, notes=(*found.notes, *(kept_notes(found) or ())))


def _refuse_other_model(system: System, text: str, folder: Path) -> None:
    """Refuses a system that is not that of a study."""
    own = dumps(system.model.as_written)
    if own != text and own != dumps(loads(text, source=f'the model in "{folder}"')):  # the text of an earlier version
        raise UsageError(
            f'the study in "{folder}" is of another model than the system "{system.model.name}" that was given.\n'
            "  Try: leave out system=, and the model in the folder is used."
        )
