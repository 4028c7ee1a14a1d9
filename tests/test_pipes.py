"""Pipes in place of files: they work where a program is at the other end, and nothing waits for ever where none is."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

import pendula
from pendula.errors import ModelError, UsageError
from pendula.storage import pipes
from pendula.storage.files import check_writable, write_text

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")


@pytest.fixture
def fifo(tmp_path, monkeypatch) -> Path:
    """A named pipe that nobody has opened; patience is short."""
    monkeypatch.setattr(pipes, "OPENING", 0.2)
    monkeypatch.setattr(pipes, "SILENCE", 0.3)
    path = tmp_path / "model.toml"
    os.mkfifo(path)
    return path


def test_a_model_from_a_pipe_that_nobody_writes_is_refused(fifo):
    with pytest.raises(ModelError, match=r"it is a pipe, and no program wrote to it within 0\.2 s"):
        pendula.load(fifo)


def test_a_model_from_a_pipe_whose_writer_is_silent_is_refused(fifo):
    with open(os.open(fifo, os.O_RDWR), "wb"), pytest.raises(ModelError, match=r"wrote nothing for 0\.3 s"):
        pendula.load(fifo)


def test_a_model_is_read_from_a_pipe_with_a_writer_who_pauses(fifo):
    text = pendula.dumps(pendula.library.chain(links=40)).encode()
    assert len(text) > 5000

    def write() -> None:
        with open(fifo, "wb") as file:
            for k in range(0, len(text), 2000):
                file.write(text[k : k + 2000])
                file.flush()
                time.sleep(0.01)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    assert pendula.load(fifo) == pendula.library.chain(links=40)
    writer.join()


def test_an_output_that_is_a_pipe_without_reader_is_refused(fifo):
    check_writable(fifo)
    with pytest.raises(UsageError, match=r"no program began to read from it within 0\.2 s"):
        write_text(fifo, "text")


def test_an_output_that_is_a_pipe_with_a_reader_is_written(fifo):
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(fifo.read_bytes()), daemon=True)
    reader.start()
    content = "all of it\n" * 20_000  # more than a pipe holds at once
    write_text(fifo, content)
    reader.join()
    assert found == [content.encode()]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd on this system")
def test_an_anonymous_pipe_is_written_and_read_by_its_number(monkeypatch):
    end, begin = os.pipe()
    path = Path(f"/dev/fd/{begin}")  # as in: pendula schema -o >(less)
    check_writable(path)
    write_text(path, pendula.dumps(pendula.library.pendulum()))
    os.close(begin)
    assert pendula.load(f"/dev/fd/{end}") == pendula.library.pendulum()
    os.close(end)
