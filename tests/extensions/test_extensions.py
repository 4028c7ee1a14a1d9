"""Extensions are loaded because a person asked for them, never because of a model file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pendula import extensions
from pendula.errors import UsageError
from pendula.registry import Registry

SHAPE = (
    "from pendula.registry import Registry\nSHAPES = Registry('shape')\nSHAPES.register('disc', 1, summary='round')\n"
)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing loaded so far, and nothing left behind."""
    monkeypatch.setattr(extensions, "_loaded", {})
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def _run(code: str, folder: Path, **environment: str) -> str:
    """What a separate process prints, with ``folder`` on its path."""
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=given, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.usefixtures("fresh")
def test_a_file_is_loaded_once_and_remembered(tmp_path: Path) -> None:
    path = tmp_path / "shape_extension.py"
    path.write_text(SHAPE)
    module = extensions.load_extension(path)
    assert list(module.SHAPES) == ["disc"]
    assert extensions.load_extension(str(path)) is module
    assert [e.module for e in extensions.loaded()] == ["shape_extension"]
    assert extensions.sources() == (path.resolve(),)


@pytest.mark.usefixtures("fresh")
def test_a_file_named_like_a_module_that_is_loaded_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "json.py"
    path.write_text(SHAPE)
    with pytest.raises(UsageError, match='a module called "json" is already loaded; rename the file'):
        extensions.load_extension(path)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("absent.py", None, "there is no such file"),
        ("broken.py", "import no_such_module_at_all", "No module named 'no_such_module_at_all'"),
        ("wrong.py", "1 +", "invalid syntax"),
    ],
)
def test_what_cannot_be_loaded_is_named(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        extensions.load_extension(path)
    assert name in str(caught.value)
    assert path.stem not in sys.modules
    assert extensions.loaded() == ()


def test_installed_packages_announce_extensions_by_entry_point(tmp_path: Path) -> None:
    (tmp_path / "shape_package.py").write_text("print('loaded')\n")
    announced = tmp_path / "shape_package-1.0.dist-info"
    announced.mkdir()
    (announced / "METADATA").write_text("Metadata-Version: 2.1\nName: shape-package\nVersion: 1.0\n")
    (announced / "entry_points.txt").write_text("[pendula]\nshape = shape_package\n")
    code = "from pendula import extensions as e; e.load_installed(); e.load_installed(); print(e.loaded()[0].module)"
    assert _run(code, tmp_path) == "loaded\nshape_package"


def test_the_environment_names_extensions(tmp_path: Path) -> None:
    path = tmp_path / "shape_extension.py"
    path.write_text("print('loaded')\n")
    code = "from pendula import extensions as e; e.load_installed(); print(e.loaded()[0].path)"
    assert _run(code, tmp_path, PENDULA_EXTENSIONS=str(path)) == f"loaded\n{path}"


def test_another_process_loads_the_same_extensions(tmp_path: Path) -> None:
    path = tmp_path / "shape_extension.py"
    path.write_text(SHAPE)
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing as mp\n"
        "from pendula import extensions as e\n"
        "if __name__ == '__main__':\n"
        f"    e.load_extension({str(path)!r})\n"
        "    with mp.get_context('spawn').Pool(1) as pool:\n"
        "        pool.apply(e.load_again, (e.loaded(),))\n"
        "        print([x.module for x in pool.apply(e.loaded)])\n"
    )
    code = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    assert _run(code, tmp_path) == "['shape_extension']"


def test_a_name_is_taken_once() -> None:
    shapes: Registry[int] = Registry("shape")
    shapes.register("disc", 1)
    with pytest.raises(UsageError, match='shape "disc" is already registered by'):
        exec("shapes.register('disc', 2)", {"shapes": shapes, "__name__": "elsewhere"})
    shapes.register("disc", 3)  # the same module, loaded again
    assert shapes["disc"] == 3
    assert shapes.remove("disc") == 3
    assert "disc" not in shapes


def test_built_in_values_are_imported_when_they_are_first_used() -> None:
    from fractions import Fraction

    things: Registry[object] = Registry("thing")
    things.register("fraction", "fractions:Fraction", summary="a ratio")
    assert things.entry("fraction").value == "fractions:Fraction"
    assert things["fraction"] is Fraction
    assert things.values() == (Fraction,)


def test_an_unknown_name_is_answered_with_what_is_known() -> None:
    shapes: Registry[int] = Registry("shape")
    shapes.register("disc", 1)
    shapes.register("rod", 2)
    with pytest.raises(UsageError, match='there is no shape "zzz"; available: disc, rod'):
        shapes["zzz"]
