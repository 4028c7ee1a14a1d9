"""Folders of studies of an earlier version: read, known to be finished, and continued where they were killed."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError
from tests.earlier import cases
from tests.earlier.cases import DATA, STUDIES
from tests.earlier.test_files import AGREE, NUMBERS, model_of

SAME_RUN = 1e-12
"""the same run on another processor: rounding, which these short runs do not magnify"""


def _copy(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(DATA / "studies" / name, folder / name))


@pytest.mark.parametrize("name", STUDIES)
def test_studies_are_read_to_the_last_bit(name: str, tmp_path: Path) -> None:
    found, wanted = pendula.load_sweep(_copy(name, tmp_path)), NUMBERS["studies"][name]
    assert list(found.dims) == wanted["dims"]
    assert found.finished == wanted["finished"]
    assert found.complete == (name != "interrupted")
    known = np.asarray(found.status) == 1
    assert known.sum() == wanted["finished"]
    for key, values in wanted["values"].items():
        np.testing.assert_array_equal(found[key][known], np.array(values)[known], err_msg=key)


@pytest.mark.parametrize("name", [name for name in STUDIES if name != "interrupted"])
def test_finished_studies_compute_nothing_again(name: str, tmp_path: Path) -> None:
    folder, told = _copy(name, tmp_path), []
    parts = {path.name: path.read_bytes() for path in (folder / "parts").iterdir()}
    again = cases.swept(name, model_of(STUDIES[name]["model"]), save=folder, on_start=told.append)
    assert not told
    assert {path.name: path.read_bytes() for path in (folder / "parts").iterdir()} == parts
    assert again.complete


@pytest.mark.parametrize("name", STUDIES)
def test_computed_anew_they_are_the_same(name: str) -> None:
    again = cases.swept(name, model_of(STUDIES[name]["model"]))
    for key, values in NUMBERS["studies"][name]["values"].items():
        if key.startswith("end."):
            np.testing.assert_allclose(again[key], np.array(values), rtol=AGREE, atol=AGREE, err_msg=key)


def test_a_study_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = _copy("interrupted", tmp_path)
    before = {path.name: path.read_bytes() for path in (folder / "parts").iterdir()}
    whole = cases.swept("interrupted", model_of(STUDIES["interrupted"]["model"]), save=folder)
    after = {path.name: path.read_bytes() for path in (folder / "parts").iterdir()}
    assert {name: after[name] for name in before} == before  # nothing was computed twice
    assert after.keys() > before.keys()
    assert whole.complete
    assert not whole.failures
    for key, values in NUMBERS["studies"]["interrupted"]["values"].items():
        if key.startswith("end."):
            np.testing.assert_allclose(whole[key], np.array(values), rtol=AGREE, atol=AGREE, err_msg=key)


def test_another_study_is_refused_with_what_differs(tmp_path: Path) -> None:
    folder = _copy("plain", tmp_path)
    model = model_of("plane")
    other = model.with_changes(parameters={**model.parameters, "k1": 900.0})
    with pytest.raises(UsageError, match=r"another study.*\bmodel\b"):
        cases.swept("plain", other, save=folder)
