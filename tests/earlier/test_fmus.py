"""FMUs of an earlier version, as models of users hold them: they move as newer code does, and newer ones fit in their place."""

from __future__ import annotations

import platform
import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from pendula.exchange.exporting import export
from pendula.exchange.fmu import write as fmu_write
from tests.earlier.cases import DATA, DURATION, FMUS, SAMPLES
from tests.earlier.test_files import NUMBERS, model_of

SAME = 1e-6
"""co-simulation at its tolerance of 1e-8, as for new FMUs"""
DRIVER = Path(__file__).parents[1] / "exchange/driver.c"


def variables(path: Path) -> dict[str, tuple[str | None, ...]]:
    """What a tool connects: name, causality, variability, start value, unit."""
    with zipfile.ZipFile(path) as archive:
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
    found = {}
    for variable in root.iterfind("ModelVariables/ScalarVariable"):
        (real,) = (x for x in variable if x.tag == "Real")
        fields = [variable.get(x) for x in ("causality", "variability", "initial", "valueReference")]
        found[variable.attrib["name"]] = (*fields, real.get("start"), real.get("unit"))
    return found


@pytest.mark.parametrize("name", FMUS)
def test_new_fmus_have_the_variables_of_old_ones(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that refers to names, and starts from stored values, need not be told."""
    monkeypatch.setattr(fmu_write, "find_compiler", lambda: None)
    new = variables(export(model_of(FMUS[name]), tmp_path / f"{name}.fmu").path)
    old = variables(DATA / f"fmus/{name}.fmu")
    assert {key: new.get(key) for key in old} == old


@pytest.mark.skipif(platform.system() != "Linux" or shutil.which("cc") is None, reason="compiles with cc on Linux")
@pytest.mark.parametrize("name", FMUS)
def test_old_fmus_move_as_before(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(DATA / f"fmus/{name}.fmu") as archive:
        archive.extractall(tmp_path)
        guid = ElementTree.fromstring(archive.read("modelDescription.xml")).attrib["guid"]
    library, driver = tmp_path / "model.so", tmp_path / "driver"
    build = ["cc", "-O1", "-shared", "-fPIC", str(tmp_path / "sources/model.c"), "-o", str(library), "-lm"]
    subprocess.run(build, check=True, capture_output=True)
    subprocess.run(["cc", str(DRIVER), "-o", str(driver), "-ldl"], check=True)
    wanted = NUMBERS["fmus"][name]
    values = np.array(wanted["values"])
    words = [str(driver), str(library), guid, str(DURATION), str(SAMPLES - 1), str(values.shape[1])]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    np.testing.assert_allclose(rows[:, 0], wanted["t"], atol=1e-12)
    np.testing.assert_allclose(rows[:, 1:], values, rtol=0, atol=SAME * max(1.0, np.abs(values).max()))
