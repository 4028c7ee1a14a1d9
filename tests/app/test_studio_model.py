"""Models in the studio: text and form are two views of one thing, problems have places, files are whole."""

from __future__ import annotations

import json
import os
import threading
import tomllib
from functools import partial

import pytest

from pendula import library
from pendula.app.studio.asking import Options
from pendula.app.studio.folder import Folder, checked_name, plain_name
from pendula.app.studio.guard import Refused
from pendula.app.studio.text.model_text import check_data, check_text, line_of
from pendula.app.studio.work import Job, perform, read_result
from pendula.errors import UsageError
from pendula.library import mechanisms
from pendula.model.files import dumps, loads
from pendula.storage.files import writing
from tests.app.studio_server import PENDULUM

BROKEN = """\
name = "broken"
gravity = [0, "-g", 0]

[parameters]
m = "q + 1"
g = 9.81

[[bodies]]
name = "rod"
mass = "m"
inertia = [0, 0, 0]

[[bodies]]
name = "other"
mass = -3

[[joints]]
name = "theta"
type = "revolute"
parent = { body = "nobody" }
child = { body = "rod" }

[[joints]]
name = "phi"
type = "revoloot"
parent = { body = "rod" }
child = { body = "other" }

[[forces]]
type = "spring"
stiffness = "k"

[initial]
psi = 3
"""


def at(data, path):
    for part in path:
        data = data[part]
    return data


@pytest.mark.parametrize("name", list(mechanisms()))
def test_form_and_text_are_two_views_of_one_model(name):
    model = mechanisms()[name].make()
    by_text = check_text(dumps(model))
    assert by_text["ok"]
    by_data = check_data(by_text["data"])
    assert by_data["ok"]
    assert loads(by_data["text"]) == model
    assert by_data["about"] == by_text["about"]
    assert [c["name"] for c in by_text["about"]["coordinates"]] == [c.name for c in model.coordinates]


def test_every_problem_has_its_path_and_its_line():
    found = check_text(BROKEN)
    assert not found["ok"]
    lines = BROKEN.splitlines()
    by_path = {tuple(problem["path"]): problem for problem in found["problems"]}
    assert ("joints", 0, "parent", "body") in by_path
    assert ("joints", 1, "type") in by_path
    assert ("parameters", "m") in by_path
    assert lines[by_path["joints", 0, "parent", "body"]["line"] - 1].startswith("parent")
    assert lines[by_path["joints", 1, "type"]["line"] - 1] == 'type = "revoloot"'
    assert lines[by_path["parameters", "m"]["line"] - 1] == 'm = "q + 1"'
    for problem in found["problems"]:
        assert problem["message"]
        assert 1 <= problem["line"] <= len(lines)
        # A path leads to something in the data, but for a field that is missing.
        try:
            at(found["data"], problem["path"])
        except KeyError:
            assert "missing" in problem["message"]


def test_an_error_of_syntax_has_its_line_and_no_data():
    found = check_text(PENDULUM.replace("gravity = [", "gravity = ["[:-2]))
    assert found["data"] is None
    assert [p["line"] for p in found["problems"]] == [2]


def test_the_text_stays_as_it_was_written():
    text = "# my model\n" + PENDULUM.replace("m = 1.0", "m   = 1.0   # heavy")
    assert check_text(text)["text"] == text


def test_a_form_that_is_not_complete_yet_becomes_text_all_the_same():
    data = {
        "name": "new",
        "gravity": [0, -9.81, 0],
        "bodies": [{"name": "a", "mass": None}],
        "joints": [],
        "forces": None,
    }
    found = check_data(data)
    assert not found["ok"]
    assert tomllib.loads(found["text"]) == {
        "name": "new",
        "gravity": [0, -9.81, 0],
        "bodies": [{"name": "a"}],
        "joints": [],
    }


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>",
        "quote \" and ' and \\",
        "right\u202eto left",
        "line\nbreak",
        "\x00",
        "💥",
        "../../etc",
        "",
    ],
)
def test_hostile_names_survive_both_conversions_as_data(name):
    data = {
        "name": name,
        "gravity": [0, 0, 0],
        "parameters": {name: 1},
        "bodies": [{"name": name, "mass": name}],
        name: {name: [name]},
    }
    found = check_data(data)
    assert tomllib.loads(found["text"]) == data
    assert check_text(found["text"])["data"] == data
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('touch {0}')",
        "().__class__.__bases__",
        "open('{0}', 'w')",
        "exec('x')",
        "lambda: 0",
        "m.real",
    ],
)
def test_expressions_are_never_executed(tmp_path, expression):
    touched = tmp_path / "touched"
    hostile = expression.format(touched)
    for field in ("m = 1.0", "l = 2.0", 'theta = "20deg"'):
        text = PENDULUM.replace(field, f"{field.split()[0]} = {json.dumps(hostile)}")
        found = check_text(text)
        assert not found["ok"]
        assert found["problems"][0]["path"][-1] == field.split()[0]
    assert not touched.exists()


def test_values_that_json_cannot_hold_become_text():
    found = check_text(PENDULUM + "big = inf\nday = 2020-01-01\n")
    assert found["data"]["initial"]["big"] == "inf"
    assert found["data"]["initial"]["day"] == "2020-01-01"
    json.dumps(found, allow_nan=False)


def test_a_line_is_found_only_where_it_is():
    assert line_of([], PENDULUM) is None
    assert line_of(["nothing"], PENDULUM) is None
    assert PENDULUM.splitlines()[line_of(["joints", 0, "child", "body"], PENDULUM) - 1].startswith("child")
    assert PENDULUM.splitlines()[line_of(["joints", 0, "axis"], PENDULUM) - 1] == "[[joints]]"


# --- the folder -------------------------------------------------------------------------------------------


def test_a_model_is_saved_whole_and_read_back(tmp_path):
    folder = Folder(tmp_path)
    first = folder.write_model("a model.toml", PENDULUM)
    assert folder.read_model("a model.toml") == PENDULUM
    assert [file["name"] for file in folder.listing()["models"]] == ["a model.toml"]
    assert folder.write_model("a model.toml", "new", first) != first
    with pytest.raises(Refused) as refused:
        folder.write_model("a model.toml", "mine", first)
    assert refused.value.status == 409
    assert folder.read_model("a model.toml") == "new"
    assert folder.write_model("a model.toml", "new", first) == folder.write_model("a model.toml", "new")  # once more
    assert sorted(os.listdir(tmp_path)) == ["a model.toml"]


def test_a_disk_that_refuses_keeps_the_old_model(tmp_path, monkeypatch):
    folder = Folder(tmp_path)
    folder.write_model("a.toml", "old")

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Refused, match="No space left"):
        folder.write_model("a.toml", "new")
    assert folder.read_model("a.toml") == "old"
    assert os.listdir(tmp_path) == ["a.toml"]


@pytest.mark.parametrize(
    "name",
    [
        "a/b.toml",
        "..toml",
        ".toml",
        "a\n.toml",
        "a.toml\n",
        "-a.toml",
        "ä.toml",
        "nul.toml",
        "a" * 200 + ".toml",
        "a.txt",
    ],
)
def test_names_that_are_not_plain_are_refused(name):
    with pytest.raises(Refused):
        checked_name(name, (".toml",))


def test_names_of_models_become_plain_names():
    for name in ("<script>", "../..", "a\u202eb", "con", "x" * 500, "", "..."):
        made = plain_name(name) + "-run.npz"
        assert checked_name(made, (".npz",)) == made


def test_other_than_text_is_refused(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Refused, match="UTF-8"):
        Folder(tmp_path).read_model("a.toml")


def test_free_names_replace_nothing(tmp_path):
    folder = Folder(tmp_path)
    for expected in ("a.npz", "a-2.npz", "a-3.npz"):
        assert folder.free_name("a", ".npz") == expected
        (tmp_path / expected).symlink_to("nowhere")  # also a link that leads nowhere counts


def test_what_a_killed_process_left_is_removed(tmp_path):
    folder = Folder(tmp_path)
    folder.prepare()
    old, new = folder.results / ".a.json.0123.part", folder.results / ".b.json.0123.part"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (1, 1))
    folder.prepare()
    assert not old.exists()
    assert new.exists()


def test_results_are_not_written_through_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    (home / "studio-results").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="link"):
        Folder(home).prepare()


class Silent:
    """Receives the progress of work."""

    def say(self, text):
        pass

    def done(self, so_far, planned):
        pass


def test_results_are_not_written_through_a_folder_that_became_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    folder = Folder(home)
    folder.prepare()
    request = {
        "id": "x", "kind": "equations", "title": "", "created": 0.0, "text": PENDULUM, "options": {"format": "latex"},
        "folder": str(home), "file": str(folder.results / "x.json"),
    }  # fmt: skip
    perform(request, Silent())
    assert read_result(folder, "x")["result"]["text"]
    folder.results.rename(tmp_path / "elsewhere" / "old")
    folder.results.symlink_to(tmp_path / "elsewhere" / "old")
    (tmp_path / "elsewhere" / "old" / "y.json").write_text("{}")
    with pytest.raises(UsageError, match="cannot be written"):
        perform({**request, "id": "z", "file": str(folder.results / "z.json")}, Silent())
    with pytest.raises(UsageError, match="no result"):
        read_result(folder, "y")
    assert sorted(path.name for path in (tmp_path / "elsewhere" / "old").iterdir()) == ["x.json", "y.json"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="folders are held open on Linux")
def test_a_folder_that_is_exchanged_while_a_file_is_written_gets_nothing(tmp_path):
    folder, other, kept = (tmp_path / name for name in ("results", "other", "kept"))
    for path in (folder, other):
        path.mkdir()
    (other / "a.json").write_text("precious")
    with writing(folder / "a.json", follow=False) as file:
        file.write(b"new")
        folder.rename(kept)
        folder.symlink_to(other)
    assert (other / "a.json").read_text() == "precious"
    assert (kept / "a.json").read_text() == "new"
    (kept / "a.json").unlink()
    (kept / "a.json").symlink_to(other / "a.json")
    with pytest.raises(UsageError, match="link"), writing(kept / "a.json", follow=False) as file:
        file.write(b"new")
    assert (other / "a.json").read_text() == "precious"


def at_once(*works):
    """The results of works that all begin at the same time, in threads; of one that raises, the error."""
    start, found = threading.Barrier(len(works)), [None] * len(works)

    def run(k, work):
        start.wait()
        try:
            found[k] = work()
        except Refused as error:
            found[k] = error

    threads = [threading.Thread(target=run, args=(k, work)) for k, work in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_files_that_are_written_at_once_get_different_names(tmp_path):
    together = threading.Barrier(8)

    def work(k):
        def write(path):
            together.wait(30)
            path.write_text(f"run {k}")

        return lambda: Job("", Options({}), Silent(), Folder(tmp_path)).write("swing-run", ".txt", write)

    names = at_once(*(work(k) for k in range(8)))
    assert {*names} == {"swing-run.txt", *(f"swing-run-{k}.txt" for k in range(2, 9))} == {*os.listdir(tmp_path)}
    assert [(tmp_path / name).read_text() for name in names] == [f"run {k}" for k in range(8)]


def test_a_file_that_cannot_be_finished_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("pendula.app.studio.folder.FILE_BYTES", 10)
    job = Job("", Options({}), Silent(), Folder(tmp_path))
    with pytest.raises(UsageError, match="larger than"):
        job.write("a", ".txt", lambda path: path.write_text("x" * 11))
    with pytest.raises(ZeroDivisionError):
        job.write("a", ".txt", lambda path: 1 / 0)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("studios", [1, 2])
def test_of_two_pages_that_save_at_once_one_is_told_that_it_was_too_late(tmp_path, studios):
    one = Folder(tmp_path)
    other = one if studios == 1 else Folder(tmp_path)
    for k in range(40):
        version = one.write_model("a.toml", f"common {k}")
        texts = [f"first {k}", f"second {k}"]
        found = at_once(
            partial(one.write_model, "a.toml", texts[0], version),
            partial(other.write_model, "a.toml", texts[1], version),
        )
        late = [k for k, one_found in enumerate(found) if isinstance(one_found, Refused)]
        assert len(late) == 1
        assert found[late[0]].status == 409
        assert one.read_model("a.toml") == texts[1 - late[0]]


def test_about_agrees_with_the_model():
    about = check_text(dumps(library.cart_pole()))["about"]
    model = library.cart_pole()
    assert {p["name"]: p["value"] for p in about["parameters"]} == model.parameter_values
    assert about["inputs"] == list(model.inputs)
    assert about["bodies"] == [b.name for b in model.bodies]
