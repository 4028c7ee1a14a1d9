"""The sweep command: files of studies, resuming, estimates, messages."""

import json
from pathlib import Path

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError
from pendula.studies.estimate import estimate_sweep
from pendula.studies.study_file import read_study_file
from tests.app.conftest import run_command as run_result


def run_command(*words):
    """Exit code, output and messages of a command."""
    found = run_result(*map(str, words))
    return found.code, found.out, found.err


STUDY = """
model = "pendulum"
compute = "end"
duration = 1.0

[over]
theta = "0.1:1:7"
l = [0.5, 1.0]
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "swings.toml"
    path.write_text(STUDY)
    return path


def test_a_study_from_a_file_equals_the_call(study):
    code, out, _ = run_command("sweep", study, "--on", "here", "--json")
    data = json.loads(out)
    assert code == 0
    assert data["complete"]
    assert data["cases"] == 14
    found = pendula.load_sweep(study.with_suffix(".study"))
    call = pendula.sweep("pendulum", {"theta": "0.1:1:7", "l": [0.5, 1.0]}, duration=1.0, on="here")
    assert np.array_equal(found["end.theta"], call["end.theta"])
    assert data["quantities"]["end.theta"]["largest"] == call["end.theta"].max()


def test_again_and_show_and_files(study, tmp_path):
    first = run_command("sweep", study, "--on", "here", "--plot", tmp_path / "a.png", "-o", tmp_path / "a.csv")
    assert first[0] == 0
    assert "14 cases" in first[1]
    assert "all computed" in first[1]
    parts = sorted(study.with_suffix(".study").joinpath("parts").iterdir())
    code, out, _ = run_command("sweep", study, "--show")
    assert code == 0
    assert "all computed" in out
    run_command("sweep", study, "--on", "here")
    assert sorted(study.with_suffix(".study").joinpath("parts").iterdir()) == parts
    assert pendula.load_run(tmp_path / "a.csv")["end.theta"].shape == (7, 2)
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_an_estimate_computes_nothing_that_stays(study):
    code, out, _ = run_command("sweep", study, "--dry-run")
    assert code == 0
    assert "14 cases" in out
    assert "disk:" in out
    assert not study.with_suffix(".study").exists()
    cost = estimate_sweep(
        "pendulum", {"theta": "0:1:10000", "l": "1:2:10000"}, "states", samples=10000, save=study.parent
    )
    assert not cost.fits  # terabytes
    assert "does not fit" in str(cost)


def test_new_writes_a_study_that_runs(tmp_path):
    path = tmp_path / "flips.toml"
    assert run_command("sweep", path, "--new")[0] == 0
    asked = read_study_file(path)
    assert asked.compute == "first"
    path.write_text(path.read_text().replace(":60", ":5").replace("duration = 10", "duration = 1"))
    code, out, _ = run_command("sweep", path, "--on", "here")
    assert code == 0, out
    code, _, err = run_command("sweep", path, "--new")
    assert code == 2
    assert "exists" in err


def test_parameters_and_model_files(tmp_path):
    pendula.save(pendula.library.chain(links=2), tmp_path / "rope.toml")
    path = tmp_path / "study.toml"
    path.write_text('model = "rope.toml"\nduration = 0.5\n[over]\ntheta1 = [0.1, 0.2]\n')
    code, out, _ = run_command("sweep", path, "-p", "g=1.62", "--on", "here", "--json")
    assert code == 0
    moon = pendula.load_sweep(tmp_path / "study.study").system.model.parameter_values["g"]
    assert moon == 1.62
    code, _, err = run_command("sweep", path, "-p", "g=9.81", "--on", "here")
    assert code == 2
    assert "holds another study" in err
    assert json.loads(out)["failed"] == 0


def test_failures_exit_with_1(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text('model = "pendulum"\nduration = 0.5\n[over]\nl = [1.0, -1.0]\n')
    code, out, _ = run_command("sweep", path, "--on", "here")
    assert code == 1
    assert "1 failure" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", '"model" names'),
        ('model = "pendulum"', "give [over]"),
        ('model = "pendulum"\n[over]\nthet = [1]', 'did you mean "theta"'),
        ('model = "pendulum"\ncompute = 3\n[over]\ntheta = [1]', '"compute" is the name'),
        ('model = "pendulum"\ncompute = "nothing"\n[over]\ntheta = [1]', 'no computation "nothing"'),
        ('model = "pendulum"\nduraton = 3\n[over]\ntheta = [1]', '"duraton" is not a setting'),
        ('model = "pendulum"\ndraws = "many"\n[over]\ntheta = [1]', '"draws" is a number or a table'),
        ('model = "pendulum"\nover = 3', "[over] is a table"),
        ('model = "pendlum"\n[over]\ntheta = [1]', "pendlum"),
        ("model = ", "TOML"),
        ('model = "pendulum"\n[over]\ntheta = { uniform = [0, 1] }', "give the number of draws"),
        ('model = "pendulum"\nsave = "a\\u0000b"\n[over]\ntheta = [1]', "a study has a folder, given by its path"),
        ('model = "pendulum"\nstepper = "rk99"\n[over]\ntheta = [1]', "rk99"),
    ],
)
def test_mistakes_in_files_are_named(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    code, _, err = run_command("sweep", path, "--on", "here")
    assert code == 2, err
    assert message in err


def test_a_missing_file_and_other_mistakes(tmp_path, study):
    assert run_command("sweep", tmp_path / "none.toml")[0] == 2
    code, _, err = run_command("sweep", study, "--on", "moon", "--save", tmp_path / "x")
    assert code == 2
    assert "on is" in err
    with pytest.raises(UsageError, match="not the folder of a study"):
        pendula.load_sweep(Path(tmp_path / "nowhere"))


def test_all_mistakes_of_a_study_are_listed_at_once(tmp_path):
    path = tmp_path / "bad.toml"
    text = 'model = "pendulum"\nduraton = 3\nengine = 4\ntolerance = 1\n[over]\nthet = "0:1:3"\nl = "0:1"\n'
    path.write_text(text)
    code, _, err = run_command("sweep", path)
    assert code == 2
    assert "5 problems in the study" in err
    for word in ("duraton", "engine", "tolerance", "thet", '"l"'):
        assert word in err
    with pytest.raises(UsageError, match="3 problems") as caught:  # those that need no model
        read_study_file(path)
    assert str(path) in str(caught.value)
    with pytest.raises(UsageError, match="3 problems"):
        pendula.sweep("pendulum", {"thet": [1.0], "l": "0:1"}, "end", tolerance=1e-9)


def test_a_study_that_is_not_there_and_one_of_other_options(study, tmp_path):
    code, _, err = run_command("sweep", tmp_path / "nothere.toml")
    assert code == 2
    assert "--new" in err
    assert run_command("sweep", study, "--on", "here")[0] == 0
    study.write_text(study.read_text().replace("duration = 1.0", "duration = 2.0"))
    code, _, err = run_command("sweep", study)
    assert code == 2
    assert "its options differ in duration" in err
