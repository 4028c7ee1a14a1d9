"""Everything that writes files, each as a function of a folder, and what makes a file whole."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import io
import json
import os
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pendula
from pendula import formats
from pendula.errors import PendulaError, UsageError
from pendula.tables.formats import FORMATS

MODEL = "double-pendulum"


@dataclass(frozen=True)
class Writer:
    """One way to write a file.

    Attributes:
        name: says what is written.
        target: name of the file in a folder.
        write: writes it; it takes the folder.
        whole: whether a file is whole; default: it has the content of one that was written undisturbed.
        slow: seconds rather than fractions of one.
        quiet: a file that cannot be written is no error (caches).
    """

    name: str
    target: str
    write: Callable[[Path], object]
    whole: Callable[[Path], bool] | None = None
    slow: bool = False
    quiet: bool = False


class CommandFailed(PendulaError):
    """A command ended with another exit code than 0 or 1; the message is what it printed."""


# -- what is written -----------------------------------------------------------------------------------


@functools.cache
def run():
    return pendula.simulate(MODEL, 5.0, samples=2000, tol=1e-8)


@functools.cache
def system():
    return pendula.compile_system(pendula.library.mechanisms()[MODEL].make())


@functools.cache
def model():
    return pendula.library.mechanisms()[MODEL].make()


def many(**settings):
    q = np.random.default_rng(1).uniform(-1.0, 1.0, (600, 2))
    return pendula.simulate_many(system(), 1.0, (q, None), samples=20, tol=1e-7, **settings)


@functools.cache
def ensemble():
    return many(workers=1)


@functools.cache
def figure():
    return pendula.plot(run())


@functools.cache
def page():
    return pendula.play("pendulum")


@functools.cache
def story():
    return pendula.explain("pendulum")


@functools.cache
def findings():
    from pendula.papers.run import recompute

    return recompute(["000"], parts=["gravity"], use_cache=False)


def command(*arguments):
    """Runs a command in this process."""
    from pendula.app.main import main

    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            if ended.code not in (0, 1):
                raise CommandFailed(said.getvalue().strip()) from None


def write_kernel(folder):
    """Machine code that was compiled before, saved once more."""
    from pendula.numerics.compiled.kernel_files import KernelFiles, _digest

    payload = bytes(range(256)) * 400

    def function():
        """Has no code of its own."""

    noted = []
    files = KernelFiles(function, folder, {}, noted.append)
    files._write(folder / "kernel.kernel", _digest(payload) + payload)


def write_finding(folder):
    """The cache of the papers."""
    from pendula.papers import cache

    one = findings()[0]
    before = os.environ.get("PENDULA_CACHE_DIR")
    os.environ["PENDULA_CACHE_DIR"] = str(folder)
    try:
        cache.keep(one.paper, one.parts[0].part, one.parts[0].finding, 1.0)
        for file in cache.file_of(one.paper, one.parts[0].part).parent.glob("*.json"):
            os.replace(file, folder / "finding.json")  # the key depends on the sources
    finally:
        if before is None:
            del os.environ["PENDULA_CACHE_DIR"]
        else:
            os.environ["PENDULA_CACHE_DIR"] = before


def studio_job(kind, options):
    """A job of the studio, which stores its result."""

    class Silent:
        """Takes all progress."""

        def __getattr__(self, name):
            return lambda *arguments: None

    def write(folder):
        from pendula.app.studio.work import perform
        from pendula.model.files import dumps

        for old in folder.glob("*-run*.csv"):
            old.unlink()
        request = {
            "id": "1", "kind": kind, "text": dumps(model()), "options": options, "title": "x", "created": 0.0,
            "folder": str(folder), "file": str(folder / "result.json"),
        }  # fmt: skip
        perform(request, Silent())

    return write


def write_model_in_studio(folder):
    from pendula.app.studio.folder import Folder
    from pendula.app.studio.guard import Refused
    from pendula.model.files import dumps

    try:
        Folder(folder).write_model("studio.toml", dumps(model()))
    except Refused as error:
        raise UsageError(str(error)) from None


def write_summary(folder):
    """The command of the papers, with what it keeps in a folder that is not watched."""
    command("papers", "000", "--part", "gravity", "-o", folder / "page.html", "--summary", folder / "summary.json")


def write_paper_figures(folder):
    from pendula.papers.page import _write
    from pendula.present.pictures.curves import Chart, Curve

    _write(Chart("a", "b", "x", "y", (Curve("c", (0.0, 1.0), (0.0, 1.0)),)), folder / "chart")


# -- what is whole -------------------------------------------------------------------------------------


def whole_archive(path):
    with zipfile.ZipFile(path) as archive:
        if archive.testzip() is not None:
            return False
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as found:
            return all(found[name].size >= 0 for name in found.files)
    return True


def whole_json(path):
    json.loads(path.read_text(encoding="utf-8"))
    return True


def whole_table(path):
    return len(pendula.load_run(path).t) > 0


def whole_page(path):
    return path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def whole_picture(path):
    content = path.read_bytes()
    if path.suffix == ".svg":
        ElementTree.fromstring(content)
        return True
    return content.rstrip().endswith(b"%%EOF") if path.suffix == ".pdf" else content.endswith(b"IEND\xaeB`\x82")


# -- all of them ---------------------------------------------------------------------------------------


def writers() -> dict[str, Writer]:
    """Every writer by name; those whose packages are missing are left out."""
    found: list[Writer] = []
    for ending, entry in ((ending, FORMATS[ending]) for ending in FORMATS):
        if all(importlib.util.find_spec(package) for package in entry.needs):
            found.append(
                Writer(
                    f"run{ending}", f"run{ending}", lambda folder, e=ending: run().save(folder / f"run{e}"), whole_table
                )
            )
    found += [
        Writer("model file", "m.toml", lambda folder: pendula.save(model(), folder / "m.toml")),
        Writer("ensemble in memory", "e.npz", lambda folder: ensemble().save(folder / "e.npz"), whole_archive),
        Writer("streamed ensemble", "s.npz", lambda folder: many(workers=1, save=folder / "s.npz"), whole_table),
        Writer("ensemble by workers", "w.npz", lambda folder: many(workers=2, save=folder / "w.npz"), whole_table),
        Writer("live page", "live.html", lambda folder: pendula.play("pendulum", folder / "live.html"), whole_page),
        Writer("page of a notebook", "note.html", lambda folder: page().save(folder / "note.html"), whole_page),
        Writer("player", "player.html", lambda folder: pendula.animate(run(), folder / "player.html"), whole_page),
        Writer("derivation", "story.html", lambda folder: formats.write(story(), folder / "story.html"), whole_page),
        Writer("report", "r.html", lambda folder: pendula.report("pendulum", folder / "r.html"), whole_page, slow=True),
        Writer("kernel cache", "kernel.kernel", write_kernel),
        Writer("cache of papers", "finding.json", write_finding, quiet=True),
        Writer("studio model", "studio.toml", write_model_in_studio),
        Writer("studio result", "result.json", studio_job("linear", {}), whole_json, slow=True),
        Writer("studio data", "result.json", studio_job("data", {"duration": 1.0}), whole_json, slow=True),
        Writer("simulate -o", "c.csv", lambda folder: command("simulate", MODEL, "-o", folder / "c.csv"), whole_table),
        Writer(
            "ensemble -o", "ce.npz",
            lambda folder: command(
                "ensemble", MODEL, "--runs", 600, "--for", 1, "--vary", "theta1=-1:1", "-o", folder / "ce.npz",
                "--samples", 20,
            ),
            whole_table, slow=True,
        ),
        Writer("derive -o", "eq.txt", lambda folder: command("derive", "pendulum", "-o", folder / "eq.txt")),
        Writer("linearize -o", "l.npz", lambda folder: command("linearize", "pendulum", "-o", folder / "l.npz"), whole_archive),
        Writer("schema -o", "schema.json", lambda folder: command("schema", "-o", folder / "schema.json")),
        Writer("new -o", "new.toml", lambda folder: command("new", MODEL, "--force", "-o", folder / "new.toml")),
        Writer(
            "bench -o", "b.json",
            lambda folder: command(
                "bench", "linearization", "--executions", 1, "--case", "angles", "-o", folder / "b.json"
            ),
            whole_json, slow=True,
        ),
        Writer("papers", "summary.json", write_summary, whole_json, slow=True),
        *(
            Writer(f"export {ending}", f"x{ending}", lambda folder, e=ending: pendula.exchange.export("pendulum", folder / f"x{e}"))
            for ending in (".c", ".py", ".m", ".jl", ".urdf")
        ),
    ]  # fmt: skip
    if importlib.util.find_spec("matplotlib"):
        for ending in (".png", ".svg", ".pdf"):

            def draw(folder, e=ending):
                pendula.plot(run(), folder / f"f{e}")

            found.append(Writer(f"figure{ending}", f"f{ending}", draw, whole_picture))
        found.append(Writer("gallery", "index.html", lambda folder: gallery(folder), whole_page, slow=True))
        found.append(Writer("figures of papers", "chart.svg", write_paper_figures, whole_picture))
    if importlib.util.find_spec("PIL"):
        short = functools.cache(lambda: pendula.simulate("pendulum", 0.3, samples=8))
        found.append(Writer("film", "f.gif", lambda folder: pendula.animate(short(), folder / "f.gif"), slow=True))
    if compiler():
        found.append(
            Writer(
                "unit",
                "u.fmu",
                lambda folder: pendula.exchange.export("pendulum", folder / "u.fmu"),
                whole_archive,
                slow=True,
            )
        )
    return {writer.name: writer for writer in found}


def gallery(folder):
    from pendula.present.live.gallery import write_gallery

    return write_gallery(folder, ["pendulum"])


def compiler() -> bool:
    """Whether there is a C compiler."""
    import shutil

    return any(shutil.which(name) for name in ("cc", "gcc", "clang"))


def digest(path: Path) -> str:
    """Of the content of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Known:
    """What a writer writes when nothing disturbs it."""

    def __init__(self, writer: Writer, folder: Path) -> None:
        self.writer, self.path = writer, folder / writer.target
        writer.write(folder)
        first, self.bytes = digest(self.path), self.path.stat().st_size
        writer.write(folder)
        self.digests = {first, digest(self.path)}

    def fault(self) -> str:
        """What is wrong with the file now; empty if it is whole."""
        if not self.path.exists():
            return "the old file is lost"
        if digest(self.path) in self.digests:
            return ""
        if self.writer.whole is None:
            return "it differs from what is written undisturbed"
        try:
            return "" if self.writer.whole(self.path) else "it is half-written"
        except Exception as error:
            return f"it cannot be read: {type(error).__name__}: {error}"
