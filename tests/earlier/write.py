"""Writes the files of ``data/``, as the version at COMMIT does:

    git worktree add ../earlier 2e03ad71 && make -C ../earlier setup
    ../earlier/.venv/bin/python -m tests.earlier.write

Those files are what users have kept since then, so newer code never writes them: the script refuses to. Beside them
``numbers.json`` holds the same results as plain numbers, taken from memory before anything was saved.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import pendula
from tests.earlier import cases
from tests.earlier.cases import DATA, DURATION, FORMATS, LATER, SAMPLES

COMMIT = "2e03ad71af9f083bbc80fc56d87ca4ed94a5032c"
SAFE = 1e-12
"""tolerance of runs that those of the usual tolerance are compared with"""


def main() -> None:
    """Writes everything anew, or only the interrupted study (which ends this process)."""
    _refuse_other_versions()
    if sys.argv[1:] == ["interrupted"]:
        _interrupted()
    shutil.rmtree(DATA, ignore_errors=True)
    for folder in ("models", "runs", "studies", "fmus", "pickles"):
        (DATA / folder).mkdir(parents=True)
    numbers = {"commit": COMMIT, "version": pendula.__version__} | {
        kind: {name: write(name) for name in names}
        for kind, names, write in (
            ("models", cases.MODELS, _model),
            ("runs", cases.RUNS, _run),
            ("others", cases.OTHERS, _other),
            ("studies", cases.STUDIES, _study),
            ("fmus", cases.FMUS, _fmu),
            ("pickles", cases.PICKLES, _pickle),
        )
    }
    (DATA / "numbers.json").write_text(json.dumps(numbers, indent=0) + "\n")


def _refuse_other_versions() -> None:
    where = Path(pendula.__file__).parent
    asked = (["rev-parse", "HEAD"], ["status", "--porcelain", "--", "."])
    found, changed = (
        subprocess.run(["git", "-C", where, *words], capture_output=True, text=True, check=True).stdout.strip()
        for words in asked
    )
    if found != COMMIT or changed:
        sys.exit(f"{where} is at {found}{' with changes' if changed else ''}; these files are those of {COMMIT}")


def _model(name: str) -> dict[str, Any]:
    model = cases.MODELS[name]()
    (DATA / f"models/{name}.toml").write_text(pendula.dumps(model))
    system = pendula.compile_system(model)
    state = system.initial_state()
    found = system.accelerations(state.q, state.v, 0.0)
    values = np.concatenate([state.q, state.v, found])
    return {"names": [*system.layout.coordinates, *system.layout.speeds], "values": values.tolist()}


def _run(name: str) -> dict[str, Any]:
    case = cases.RUNS[name]
    model = cases.MODELS[case.model]()
    run = cases.simulated(case, model, DURATION, samples=SAMPLES)
    later = cases.simulated(case, model, DURATION + LATER, samples=2, tol=SAFE)
    numbers = {
        "t": run.t.tolist(),
        "states": [*run.layout.coordinates, *run.layout.speeds],
        "values": cases.numbers_of(run),
        "outcome": str(run.outcome),
        "tolerance": run.tolerance,
        "energy_drift": run.energy_drift,
        "events": {event: found.t.tolist() for event, found in run.events.items()},
        "later": {key: values[-1] for key, values in cases.numbers_of(later).items()},
    }
    for ending in FORMATS:
        run.save(DATA / f"runs/{name}.{ending}")
    return numbers


def _other(name: str) -> dict[str, Any]:
    found = cases.OTHERS[name]()
    numbers = {
        column.name: column.values.tolist() for column in found.table().columns() if column.values.dtype.kind == "f"
    }
    for ending in FORMATS:
        found.save(DATA / f"runs/{name}.{ending}")
    return numbers


def _study(name: str) -> dict[str, Any]:
    model = cases.MODELS[cases.STUDIES[name]["model"]]()
    whole = cases.swept(name, model)
    folder = DATA / "studies" / name
    if name == "interrupted":
        done = subprocess.run([sys.executable, "-m", "tests.earlier.write", name], check=False)
        assert done.returncode == -signal.SIGKILL
        assert 0 < pendula.load_sweep(folder).finished < whole.finished
    else:
        cases.swept(name, model, save=folder)
    (folder / "lock").unlink(missing_ok=True)
    values = {key: whole[key].tolist() for key in whole.names if whole[key].dtype.kind == "f"}
    return {"dims": list(whole.dims), "finished": pendula.load_sweep(folder).finished, "values": values}


def _interrupted() -> None:
    """A study that is killed after its first task."""
    model = cases.MODELS[cases.STUDIES["interrupted"]["model"]]()

    def ended(done: int, of: int) -> None:
        if 0 < done < of:
            os.kill(os.getpid(), signal.SIGKILL)

    cases.swept("interrupted", model, save=DATA / "studies/interrupted", on_progress=ended)


def _fmu(name: str) -> dict[str, Any]:
    from pendula.exchange.exporting import export
    from pendula.exchange.fmu import write

    write.find_compiler = lambda: None  # sources only: for every machine
    model = cases.MODELS[cases.FMUS[name]]()
    export(model, DATA / f"fmus/{name}.fmu")
    run = pendula.simulate(model, DURATION, samples=SAMPLES, tol=SAFE)
    return {"t": run.t.tolist(), "values": np.hstack([run.q, run.v]).tolist()}


def _pickle(name: str) -> dict[str, Any]:
    case = cases.PICKLES[name]
    found = case.make()
    numbers = {key: np.asarray(values, dtype=float).tolist() for key, values in case.numbers(found).items()}
    (DATA / f"pickles/{name}.pickle").write_bytes(pickle.dumps(case.make(), protocol=4))
    return numbers


if __name__ == "__main__":
    main()
