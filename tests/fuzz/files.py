"""Files that were damaged, exchanged or made up: seeds choose a file of a folder, a place in it, and what comes there."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.hostile import NAMES, NUMBERS, OTHERS

DEEP = 100_000
"""lists within lists"""
VALUES: tuple[Any, ...] = (None, *NAMES, *NUMBERS, *(x for x in OTHERS if not hasattr(x, "isoformat")), [[[0]]] * 3)


def damage(rng: random.Random, path: Path) -> str:
    """Damages a file, and says how."""
    content = path.read_bytes()
    kinds = [_cut, _bytes, _emptied, _foreign]
    if path.suffix == ".json":
        kinds += [_node] * 8
    if path.suffix == ".npz":
        kinds += [_array] * 6 + [_head] * 8
    if path.suffix == ".csv":
        kinds += [_last_line] * 8
    how = rng.choice(kinds)
    try:
        path.write_bytes(how(rng, content))
    except (ValueError, KeyError, TypeError, OverflowError):  # what NumPy or JSON would not write
        path.write_bytes(_bytes(rng, content))
    return f"{path.name}: {how.__name__.strip('_')}"


def _cut(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content))]


def _bytes(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 30))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _emptied(rng: random.Random, content: bytes) -> bytes:
    return b""


def _foreign(rng: random.Random, content: bytes) -> bytes:
    return rng.choice((
        b"<!DOCTYPE html><html></html>", b"\x00" * 1000, b"[1, 2]", b"{}", b"PK\x05\x06" + bytes(18), b"\x89HDF\r\n\x1a\n",
        b"[" * DEEP, b'{"a":' * DEEP, b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'shape': (9" + b"0" * 12 + b",), }",
    ))  # fmt: skip


def _changed(rng: random.Random, data: Any) -> Any:
    """Plain data with one value exchanged, one field missing, or one too many."""
    if isinstance(data, dict) and data and rng.random() < 0.85:
        name = rng.choice(list(data))
        way = rng.random()
        if way < 0.1:
            return {k: v for k, v in data.items() if k != name}
        if way < 0.15:
            return {**data, str(rng.choice(NAMES)): rng.choice(VALUES)}
        return {**data, name: _changed(rng, data[name])}
    if isinstance(data, list) and data and rng.random() < 0.7:
        k = rng.randrange(len(data))
        return [*data[:k], _changed(rng, data[k]), *data[k + 1 :]] if rng.random() < 0.8 else data[:k] + data[k + 1 :]
    return object() if rng.random() < 0.05 else rng.choice(VALUES)


def _text(data: Any) -> str:
    deep = "[" * 900 + "]" * 900  # a reader follows it, what handles the data may not
    return json.dumps(data, default=lambda x: "DEEP").replace('"DEEP"', deep)


def _node(rng: random.Random, content: bytes) -> bytes:
    return _text(_changed(rng, json.loads(content))).encode()


def _last_line(rng: random.Random, content: bytes) -> bytes:
    begin, mark, head = content.decode().rpartition("# pendula: ")
    return (begin + mark + _text(_changed(rng, json.loads(head))) + "\n").encode()


def _archive(content: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    with np.load(io.BytesIO(content)) as archive:
        arrays = dict(archive)
    change(arrays)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _head(rng: random.Random, content: bytes) -> bytes:
    def change(arrays: dict[str, Any]) -> None:
        arrays["account"] = np.array(_text(_changed(rng, json.loads(str(arrays["account"])))))

    return _archive(content, change)


def _array(rng: random.Random, content: bytes) -> bytes:
    def change(arrays: dict[str, Any]) -> None:
        name = rng.choice([one for one in arrays if one != "account"])
        old = arrays[name]
        arrays[name] = rng.choice((
            lambda: old[:-1], lambda: np.concatenate([old, old]), lambda: old.astype(str), lambda: old.astype(np.complex128),
            lambda: old[..., None], lambda: np.float64(1), lambda: np.zeros(0), lambda: old.astype("M8[s]"),
            lambda: np.roll(old, 1), lambda: np.full(old.shape, np.nan), lambda: np.full(old.shape, 2**62),
            lambda: -np.ones(old.shape, int), lambda: old.astype("S8"), lambda: np.zeros(old.shape, [("a", "f8")]),
        ))()  # fmt: skip
        if rng.random() < 0.1:
            del arrays[name]
        if rng.random() < 0.1:
            arrays[rng.choice(("a", "value.x", "file", "q_values"))] = old

    return _archive(content, change)
