"""Folders of studies with damaged files: refused by one message, or read as what they were. Seeds say which damage.

Nothing else may happen: no error of another type, no other value, no hang, no gigabytes.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pendula
from pendula.errors import PendulaError, UsageError
from pendula.studies.result import DONE, Sweep
from tests.fuzz.files import damage

STUDIES: dict[str, dict[str, Any]] = {
    "grid": {"over": {"theta": [0.1, 0.2, 0.3], "l": [1.0, 2.0]}},
    "draws": {"over": {"theta": {"uniform": [0, 1]}, "l": [1.0, 2.0]}, "draws": {"count": 6, "seed": 3}},
    "sobol": {
        "over": {"theta": {"normal": [0, 1]}},
        "draws": {"count": 8, "design": "sobol", "replicates": 4},
    },
    "listed": {"over": [{"theta": 0.1}, {"theta": 0.4}], "compute": ["end", "extremes"]},
    "until": {"over": {"theta": {"uniform": [0, 0.5]}}, "until": {"quantity": "end.theta", "half_width": 0.5}},
    "states": {"over": {"theta": [0.1, 0.2], "stepper": ["dop853", "radau"]}, "compute": "states", "samples": 5},
}
SEEDS, MANY = 120, 5000


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Sweep]]:
    folder = tmp_path_factory.mktemp("studies")
    found = {
        name: pendula.sweep("pendulum", **asked, duration=0.5, save=folder / name, on="here")
        for name, asked in STUDIES.items()
    }
    return folder, found


def _same(found: Sweep, wanted: Sweep) -> None:
    """What was computed, and what varied, is what it was."""
    known = np.asarray(found.status) == DONE
    assert found.shape == wanted.shape
    for name in wanted.names if known.any() else ():
        np.testing.assert_array_equal(found[name][known], wanted[name][known])
    for block in wanted.labels:
        np.testing.assert_array_equal(found[block.name], block.values)
    assert str(found)
    assert found.table().kind == "Sweep"


def _check(seeds: range, folder: Path, wanted: dict[str, Sweep], place: Path) -> tuple[int, int]:
    """How many folders were refused and how many were read."""
    messages: dict[Any, str] = {}
    read = 0
    for seed in seeds:
        rng = random.Random(seed)
        name = rng.choice(list(STUDIES))
        one = Path(shutil.copytree(folder / name, place / name))
        told = damage(rng, rng.choice(sorted(p for p in one.rglob("*") if p.is_file() and p.name != "lock")))
        for ask in (
            lambda: pendula.load_sweep(one),  # noqa: B023
            lambda: pendula.sweep("pendulum", **STUDIES[name], duration=0.5, save=one, on="here"),  # noqa: B023
        ):
            try:
                found = ask()
            except PendulaError as error:
                messages[seed, told] = str(error)
                continue
            except Exception as error:
                raise AssertionError(f"seed {seed}: {told}") from error
            _same(found, wanted[name])
            read += 1
        shutil.rmtree(one)
    assert not [said for said in messages.items() if str(place) not in said[1]]
    return len(messages), read


def test_damaged_folders_are_refused_or_read_as_they_were(studies: Any, tmp_path: Path) -> None:
    refused, read = _check(range(SEEDS), *studies, tmp_path)
    assert refused > SEEDS / 3
    assert read > SEEDS / 10


@pytest.mark.slow
def test_thousands_of_damaged_folders(studies: Any, tmp_path: Path) -> None:
    _check(range(SEEDS, MANY), *studies, tmp_path)


FILES = ("study.json", "plan.npz", "parts/000000.npz")


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("what", ["folder", "link to itself", "endless", "pipe"])
def test_what_is_no_file_is_refused(studies: Any, file: str, what: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("pendula.storage.pipes.OPENING", 0.2)
    monkeypatch.setattr("pendula.tables.formats.MOST_FROM_PIPE", 10**6)
    monkeypatch.setattr("pendula.studies.saved.LONGEST", 10**6)
    folder = Path(shutil.copytree(studies[0] / "grid", tmp_path / "s"))
    path = folder / file
    path.unlink()
    {
        "folder": path.mkdir,
        "link to itself": lambda: path.symlink_to(path),
        "endless": lambda: path.symlink_to("/dev/zero"),
        "pipe": lambda: os.mkfifo(path),
    }[what]()
    with pytest.raises(UsageError, match=path.name):
        pendula.load_sweep(folder)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX")
def test_a_lock_that_is_a_link_or_a_pipe_is_refused(studies: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(studies[0] / "grid", tmp_path / "s"))
    lock = folder / "lock"
    for make in (lambda: lock.symlink_to(tmp_path / "elsewhere"), lambda: os.mkfifo(lock)):
        lock.unlink()
        make()
        with pytest.raises(UsageError, match="lock"):
            pendula.sweep("pendulum", **STUDIES["grid"], duration=0.5, save=folder, on="here")
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_with_a_name_that_no_file_has_is_refused() -> None:
    for save in ("a\0b", "", 3):
        with pytest.raises(UsageError, match="a study has a folder, given by its path"):
            pendula.sweep("pendulum", {"theta": [0.1]}, save=save, on="here")
    with pytest.raises(UsageError, match="a study has a folder, given by its path"):
        pendula.load_sweep("a\0b")
