"""Reads a robot in any format that is known, by the content of the file."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pendula.errors import UsageError
from pendula.exchange.robots.draft import Imported, existing
from pendula.exchange.robots.mjcf import load_mjcf
from pendula.exchange.robots.urdf import load_urdf

READERS: dict[str, Callable[..., Imported]] = {"mujoco": load_mjcf, "robot": load_urdf}
"""Functions that read a file, by the name of its root element."""

_ROOT = re.compile(rb"<\s*([A-Za-z_][\w.:-]*)")


def load_robot(path: str | Path, **options: Any) -> Imported:
    """The model of a URDF or MJCF file; its content tells which it is.

    Args:
        path: the file.
        options: those of :func:`load_urdf` or :func:`load_mjcf`.

    Raises:
        UsageError: there is no such file, it is neither, or the reader has no such option.

    Example:
        >>> import tempfile, pathlib, pendula
        >>> text = '<robot name="one link"><link name="base"/></robot>'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "one.urdf"
        ...     _ = file.write_text(text)
        ...     pendula.exchange.load_robot(file).model.name
        'one link'
    """
    file = existing(path, "load_robot")
    with file.open("rb") as opened:
        head = re.sub(rb"<!--.*?(-->|$)|<\?.*?\?>", b"", opened.read(200_000), flags=re.DOTALL)
    root = found.group(1).decode() if (found := _ROOT.search(head)) else ""
    if root not in READERS:
        what = f'its root element is "{root}"' if root else "it is not XML"
        raise UsageError(f"{file}: neither URDF nor MJCF: {what}")
    read = READERS[root]
    known = {n for n, x in inspect.signature(read).parameters.items() if x.kind is x.KEYWORD_ONLY}
    for option in options:
        if option not in known:
            raise UsageError(
                f'{file}: {read.__name__} has no option "{option}"; its options are: {", ".join(sorted(known))}'
            )
    return read(file, **options)
