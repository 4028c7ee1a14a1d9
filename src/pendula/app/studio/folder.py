"""The folder that the studio works in: plain names only, nothing outside, files whole or not at all."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pendula.app.studio.guard import Refused
from pendula.app.studio.limits import FILE_BYTES, LISTED
from pendula.errors import UsageError
from pendula.storage.files import UNFINISHED, cannot_write, give_name, write_text
from pendula.storage.inside import alone, open_inside

RESULTS = "studio-results"
"""The folder of finished results inside the studio's folder."""
MODEL = ".toml"
RUN = ".npz"
EXPORTS = (MODEL, RUN, ".html", ".png", ".svg", ".csv", ".py", ".json", ".tex", ".c", ".js", ".txt")
"""Endings of the files that a page may download."""
LONGEST_NAME = 120
LARGEST_MODEL = 2_000_000
ABANDONED = 3600.0  # seconds after which nobody writes to an unfinished file any more

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]*")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # of Windows


def checked_name(name: str, endings: tuple[str, ...]) -> str:
    """A name if it is a plain one with a known ending.

    Raises:
        Refused: it is not; the message says what a name may be.

    Example:
        >>> checked_name("cart 2.toml", (".toml",))
        'cart 2.toml'
        >>> checked_name("../cart.toml", (".toml",))
        Traceback (most recent call last):
        pendula.app.studio.guard.Refused: ...
    """
    if not (_NAME.fullmatch(name) and len(name) <= LONGEST_NAME and name[-1] not in ". ") or _RESERVED.fullmatch(name):
        raise Refused(
            400,
            "a file name consists of letters, digits, spaces, dots, hyphens and underscores, begins with a letter, "
            f"a digit or an underscore, and has {LONGEST_NAME} characters at most",
        )
    if not name.lower().endswith(endings):
        raise Refused(400, f'the name of the file must end in {" or ".join(endings)}, found "{name}"')
    return name


def plain_name(text: str) -> str:
    """The name of a model as the name of a file, without ending.

    Example:
        >>> plain_name('Über <b>"cart"</b>')
        'ber-b-cart-b'
    """
    kept = re.sub("[^A-Za-z0-9_]+", "-", text).strip("-_")[:60]
    return kept or "model"


class Folder:
    """The files of one studio.

    Args:
        path: the folder; it exists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.results = self.path / RESULTS
        self._saving = threading.Lock()

    def prepare(self) -> None:
        """Makes the folder of results.

        Raises:
            UsageError: it cannot be made, or it is a link that leads elsewhere.
        """
        try:
            self.results.mkdir(exist_ok=True)
            if self.results.is_symlink() or not self.results.is_dir():
                raise UsageError(f'"{self.results}" must be a folder, not a link or a file')
            self._remove_unfinished()
        except OSError as error:
            raise UsageError(f'"{self.results}" cannot be made: {error.strerror or error}') from None

    def _remove_unfinished(self) -> None:
        """Removes unfinished files that killed processes left behind."""
        for place in (self.path, self.results):
            for path in place.glob(f".*{UNFINISHED}*"):
                about = path.lstat()
                if stat.S_ISREG(about.st_mode) and time.time() - about.st_mtime > ABANDONED:
                    path.unlink(missing_ok=True)

    def listing(self) -> dict[str, list[dict[str, Any]]]:
        """Models, runs and other files by name with size and time, newest first."""
        found: dict[str, list[dict[str, Any]]] = {"models": [], "runs": [], "exports": []}
        for entry in os.scandir(self.path):
            name = entry.name
            if not (_NAME.fullmatch(name) and name.lower().endswith(EXPORTS) and len(name) <= LONGEST_NAME):
                continue
            if not entry.is_file(follow_symlinks=False):
                continue
            about = entry.stat(follow_symlinks=False)
            kind = {MODEL: "models", RUN: "runs"}.get(Path(name).suffix.lower(), "exports")
            found[kind].append({"name": name, "bytes": about.st_size, "changed": about.st_mtime})
        return {kind: sorted(each, key=lambda f: -f["changed"])[:LISTED] for kind, each in found.items()}

    def read_model(self, name: str) -> str:
        """The text of a model file.

        Raises:
            Refused: there is none of this name, or it is not a text file of moderate size.
        """
        content = self.content(checked_name(name, (MODEL,)), LARGEST_MODEL)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Refused(422, f'"{name}" is not UTF-8 text') from None

    def write_model(self, name: str, text: str, version: str | None = None) -> str:
        """Writes a model file whole or not at all, and returns its new version.

        Args:
            name: of the file.
            text: its content; also one that is not a valid model yet.
            version: if given, the version that this one replaces: if the file holds another one, and not this text
                already, nothing is written.
        """
        target = self.path / checked_name(name, (MODEL,))
        self._refuse_other_than_file(target)
        expected = (version, version_of(text))
        try:
            with self._saving, alone(self.path):
                if version is not None and target.exists() and version_of(self.read_model(name)) not in expected:
                    raise Refused(409, f'"{name}" was changed elsewhere since it was read here')
                write_text(target, text, follow=False)
        except UnicodeEncodeError:
            raise Refused(400, "the text contains characters that UTF-8 cannot write") from None
        except BlockingIOError:
            raise Refused(503, "another program has locked the folder; try again") from None
        except UsageError as error:
            raise Refused(507, str(error)) from None
        return version_of(text)

    def content(self, name: str, most: int) -> bytes:
        """What a file of the folder holds."""
        with open(self.opened(name, most), "rb") as file:
            return file.read(most)

    def opened(self, name: str, most: int = FILE_BYTES) -> int:
        """A descriptor of a regular file of the folder, opened to be read; links are not followed."""
        try:
            handle = open_inside(self.path, name)
        except OSError:
            raise Refused(404, f'there is no file "{name}" here') from None
        about = os.fstat(handle)
        if about.st_size > most:
            os.close(handle)
            raise Refused(413, f'"{name}" is too large')
        return handle

    def add(self, stem: str, ending: str, write: Callable[[Path], Any]) -> str:
        """Writes a file that takes a name which no other has, also if several are written at once; returns the name.

        Args:
            stem: how the name begins.
            ending: how it ends.
            write: writes a file.

        Raises:
            UsageError: the file would be too large, or cannot be written.
        """
        made = self.path / f".{secrets.token_hex(8)}{UNFINISHED}{ending}"
        try:
            write(made)
            if made.stat().st_size > FILE_BYTES:
                raise UsageError(f"the file would be larger than the {FILE_BYTES} bytes that are allowed")
            while True:
                name = self.free_name(stem, ending)
                try:
                    give_name(made, self.path / name)
                    return name
                except FileExistsError:  # another one took the name
                    continue
                except OSError as error:
                    raise cannot_write(self.path / name, error) from None
        finally:
            made.unlink(missing_ok=True)

    def free_name(self, stem: str, ending: str) -> str:
        """A name that no file has yet, such as ``cart-2.npz``."""
        first = f"{stem}{ending}"
        if not os.path.lexists(self.path / first):
            return first
        for number in range(2, 10_000):
            name = f"{stem}-{number}{ending}"
            if not os.path.lexists(self.path / name):
                return name
        return f"{stem}-{time.time_ns()}{ending}"

    def _refuse_other_than_file(self, target: Path) -> None:
        if target.is_symlink() or (target.exists() and not target.is_file()):
            raise Refused(400, f'"{target.name}" is a link or not a file, so it is not written')


def version_of(text: str) -> str:
    """A short digest of a text, which reveals changes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
