"""Folders whose files come from elsewhere: what is in a folder is the study that it describes, or it is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError

OVER, OTHER = {"theta": [0.1, 0.2, 0.3]}, {"theta": [1.1, 1.2, 1.3]}
DRAWN = {"theta": {"uniform": [0.1, 0.3]}}
STUDIES = {
    "own": {"over": OVER, "duration": 1.0},
    "other values": {"over": OTHER, "duration": 1.0},
    "other duration": {"over": OVER, "duration": 2.0},
    "other result": {"over": OVER, "duration": 1.0, "compute": "extremes"},
    "drawn": {"over": DRAWN, "duration": 1.0, "draws": {"count": 3, "seed": 1}},
    "drawn otherwise": {"over": DRAWN, "duration": 1.0, "draws": {"count": 3, "seed": 2}},
}


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    for name, asked in STUDIES.items():
        pendula.sweep("pendulum", **asked, save=folder / name, on="here")
    return folder


def _mixed(studies: Path, own: str, other: str, file: str, folder: Path) -> Path:
    """The folder of a study with a file of another one."""
    shutil.copytree(studies / own, folder)
    if file == "parts":
        shutil.rmtree(folder / file)
        shutil.copytree(studies / other / file, folder / file)
    else:
        shutil.copy(studies / other / file, folder / file)
    return folder


def _as_earlier(folder: Path) -> None:
    """Takes away what earlier versions did not write: the mark of its study in every file."""
    told = json.loads((folder / "study.json").read_text())
    told.pop("digest")
    (folder / "study.json").write_text(json.dumps(told))
    for path in (folder / "plan.npz", *(folder / "parts").iterdir()):
        with np.load(path) as archive:
            arrays = dict(archive)
        head = json.loads(str(arrays["account"]))
        head.pop("study")
        np.savez(path, **{**arrays, "account": np.array(json.dumps(head))})


MIXED = [
    (own, other, file, False)
    for own, other in (
        ("own", "other values"), ("own", "other duration"), ("own", "other result"), ("drawn", "drawn otherwise"),
    )
    for file in ("plan.npz", "parts", "study.json")
]  # fmt: skip
EARLIER = [("own", "other values", file, True) for file in ("plan.npz", "parts")]
"""files of earlier versions do not say to which study they belong, but their values do"""


@pytest.mark.parametrize(("own", "other", "file", "earlier"), MIXED + EARLIER)
def test_files_of_another_study_are_refused(
    studies: Path, own: str, other: str, file: str, earlier: bool, tmp_path: Path
) -> None:
    folder = _mixed(studies, own, other, file, tmp_path / "s")
    if earlier:
        _as_earlier(folder)
    named = "plan.npz" if file == "study.json" else "000000.npz" if file == "parts" else file
    with pytest.raises(UsageError, match=f"{named}.* does not belong to the study in its folder"):
        pendula.load_sweep(folder)
    asked = STUDIES[other if file == "study.json" else own]
    with pytest.raises(UsageError, match=f"{named}.* does not belong to the study in its folder"):
        pendula.sweep("pendulum", **asked, save=folder, on="here")


def test_folders_of_earlier_versions_are_read(studies: Path, tmp_path: Path) -> None:
    for name in ("own", "drawn"):
        folder = Path(shutil.copytree(studies / name, tmp_path / name))
        _as_earlier(folder)
        assert np.array_equal(pendula.load_sweep(folder)["end.theta"], pendula.load_sweep(studies / name)["end.theta"])
        assert pendula.sweep("pendulum", **STUDIES[name], save=folder, on="here").complete


def test_notes_of_another_study_are_left_out(studies: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(studies / "own", tmp_path / "s"))
    notes = folder / "predictability.json"
    told = json.loads(notes.read_text())
    notes.write_text(json.dumps({**told, "notes": ["of this study"]}))
    assert pendula.load_sweep(folder).notes == ("of this study",)
    other = json.loads((studies / "other values" / notes.name).read_text())
    notes.write_text(json.dumps({**other, "notes": ["of the other study"]}))
    assert pendula.load_sweep(folder).notes == ()


def test_a_description_that_was_changed_is_refused(studies: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(studies / "own", tmp_path / "s"))
    path = folder / "study.json"
    path.write_text(path.read_text().replace('"duration": 1.0', '"duration": 9.0'))
    with pytest.raises(UsageError, match=r"study\.json.* has been changed since it was written"):
        pendula.load_sweep(folder)


def test_the_system_of_another_model_is_refused(studies: Path) -> None:
    assert pendula.load_sweep(studies / "own", system="pendulum").complete
    with pytest.raises(UsageError, match='another model than the system "cart-pole"'):
        pendula.load_sweep(studies / "own", system="cart-pole")
