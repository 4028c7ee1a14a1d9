"""Changes of a TOML text that leave everything else as it is: comments, order, spaces, and how numbers are written.

A form changes one value of a model at a time. :func:`edited` finds what differs between the data of a text and new
data, changes only these places of the text, and reads the result again: it returns a text whose data are the new ones,
or None if it found no such text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pendula.app.studio.text.toml_places import Path, Statement, find, statements
from pendula.model.files import data_text, key_text, value_text

MOST_WORK = 5_000_000
"""Most characters that one edit reads; if it needs more, the whole text is rewritten."""
EXACT = 2**53
"""Integers up to this size pass through a page unchanged."""

_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)+")


@dataclass(frozen=True)
class Change:
    """One difference: a value that was set, added, removed or renamed.

    Attributes:
        what: "set", "add", "insert" (into a list, before the item at this place), "remove" or "rename".
        path: of the value; of "rename", before it.
        value: the new value, or the new name.
    """

    what: str
    path: Path
    value: Any = None


def edited(text: str, old: Any, new: Any, read: Callable[[str], Any]) -> str | None:
    """A text with new data, changed as little as possible; None if that failed.

    Args:
        text: valid TOML.
        old: its data.
        new: the data that are wanted.
        read: the data of a text, or None if it is not TOML.

    Example:
        >>> import tomllib
        >>> text = "g = 9.81  # on Earth\\n# the arm\\n[arm]\\nl = 2.0\\n"
        >>> print(edited(text, tomllib.loads(text), {"g": 1.62, "arm": {"l": 2}}, tomllib.loads), end="")
        g = 1.62  # on Earth
        # the arm
        [arm]
        l = 2.0
    """
    changes = list(differences(old, new))
    if len(text) * (len(changes) + 1) > MOST_WORK:
        return None
    try:
        for change in changes:
            text = _ACTS[change.what](text, change.path, change.value)
        found = read(text)
    except (ValueError, RecursionError):
        return None
    return text if is_same(found, new) else None


# --- what differs -----------------------------------------------------------------------------------------


def is_same(a: Any, b: Any) -> bool:
    """Whether data are equal; 2 equals 2.0, and integers that a page cannot hold exactly equal their nearest."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int) and isinstance(b, (int, float)) and abs(a) > EXACT:
        try:
            return float(a) == float(b)
        except OverflowError:
            return a == b
    return bool(type(a) is type(b) and a == b) or (_is_number(a) and _is_number(b) and a == b)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def differences(old: Any, new: Any, path: Path = ()) -> Iterator[Change]:
    """What to change in order, so that old data become new ones."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _in_tables(old, new, path)
    elif _are_tables(old) and _are_tables(new):
        yield from _in_lists(old, new, path)
    elif is_same(old, new):
        return
    elif isinstance(old, list) and isinstance(new, list) and old and len(old) == len(new):
        for k, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, (*path, k))
    elif path and (_are_tables(old) or _are_tables(new)) and (old == [] or new == []):
        yield Change("remove", path)
        yield Change("add", path, new)
    else:
        yield Change("set", path, new)


def _in_tables(old: Mapping[str, Any], new: Mapping[str, Any], path: Path) -> Iterator[Change]:
    gone, fresh = [key for key in old if key not in new], [key for key in new if key not in old]
    in_place = len(gone) == 1 == len(fresh) and list(old).index(gone[0]) == list(new).index(fresh[0])
    if in_place and is_same(old[gone[0]], new[fresh[0]]):
        yield Change("rename", (*path, gone[0]), fresh[0])
        gone, fresh = [], []
    for key in gone:
        yield Change("remove", (*path, key))
    for key, value in old.items():
        if key in new:
            yield from differences(value, new[key], (*path, key))
    for key in fresh:
        yield Change("add", (*path, key), new[key])


def _in_lists(old: list[Any], new: list[Any], path: Path) -> Iterator[Change]:
    """Differences of lists of tables: equal items at both ends keep their places."""
    first, most = 0, min(len(old), len(new))
    while first < most and is_same(old[first], new[first]):
        first += 1
    last = 0
    while last < most - first and is_same(old[-1 - last], new[-1 - last]):
        last += 1
    left, right = old[first : len(old) - last], new[first : len(new) - last]
    both = min(len(left), len(right))
    for k in range(both):
        yield from differences(left[k], right[k], (*path, first + k))
    for k in reversed(range(both, len(left))):
        yield Change("remove", (*path, first + k))
    for k in range(both, len(right)):
        yield Change("insert", (*path, first + k), right[k])


# --- changes of a text ------------------------------------------------------------------------------------


def _put(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _set(text: str, path: Path, value: Any) -> str:
    entry, _ = find(path, statements(text))
    if entry is None:
        raise ValueError("the value is not at one place")
    return _put(text, entry.value.start, entry.value.end, value_text(value))


def _rename(text: str, path: Path, name: str) -> str:
    found = statements(text)
    entry, _ = find(path, found)
    if entry is None or len([one for one in found if one.path[: len(path)] == path]) > 1:
        raise ValueError("the key is not at one place")
    return _put(text, entry.key.start, entry.key.end, key_text(name))


def _add(text: str, path: Path, value: Any) -> str:
    found, name = statements(text), str(path[-1])
    if len(path) == 1 and (isinstance(value, Mapping) or _are_tables(value)):
        return _with_section(text, len(text), name, value)
    line = f"{key_text(name)} = {value_text(value)}"
    holder, _ = find(path[:-1], found) if len(path) > 1 else (None, ())
    if holder is not None:  # an inline table
        inside = holder.value.inside
        if holder.value.kind != "table":
            raise ValueError("there is no table")
        if not inside:
            return _put(text, holder.value.start, holder.value.end, f"{{ {line} }}")
        at = inside[-1].value.end
        return _put(text, at, at, f", {line}")
    own = [(one, one.entry) for one in found if one.entry is not None and one.path[:-1] == path[:-1]]
    if own:
        last, entry = own[-1]
        indent = text[last.start : entry.key.start - len(entry.prefix)]
        return _with_line(text, last.end, f"{indent}{entry.prefix}{line}")
    headers = [one for one in found if one.entry is None and one.path == path[:-1]]
    if headers:
        return _with_line(text, headers[0].end, line)
    if len(path) > 1:
        raise ValueError("the table is not at one place")
    return _with_line(text, _attached(text, found[0].start) if found else len(text), line)


def _with_line(text: str, at: int, line: str) -> str:
    end = _newline(text)
    before = end if at and text[at - 1] != "\n" else ""
    return _put(text, at, at, f"{before}{line}{end}")


def _with_section(text: str, at: int, name: str, value: Any) -> str:
    """A section ``[name]`` or sections ``[[name]]``, with an empty line before, and after if something follows."""
    end = _newline(text)
    section = data_text({name: value}).strip("\n").replace("\n", end) + end
    before = "" if not at else end if text[at - 1] == "\n" else 2 * end
    after = end if text[at:].strip("\r\n") and not text[at:].startswith(("\n", "\r\n")) else ""
    return _put(text, at, at, f"{before}{section}{after}")


def _insert(text: str, path: Path, value: Any) -> str:
    found, index = statements(text), int(path[-1])
    holder, _ = find(path[:-1], found)
    if holder is not None:  # an array
        items = holder.value.inside
        if holder.value.kind != "array" or not items:
            raise ValueError("there is no item beside it")
        at = items[index - 1].value.end if index else items[0].value.start
        return _put(text, at, at, f", {value_text(value)}" if index else f"{value_text(value)}, ")
    before = [one for one in found if one.path[: len(path)] == (*path[:-1], index - 1)]
    if len(path) != 2 or not before:
        raise ValueError("there is no section before it")
    return _with_section(text, before[-1].end, str(path[0]), [value])


def _remove(text: str, path: Path, value: Any) -> str:
    found = statements(text)
    own = [k for k, one in enumerate(found) if one.path[: len(path)] == path]
    if own:
        if own != list(range(own[0], own[-1] + 1)):
            raise ValueError("the section is not at one place")
        return _without(text, found[own[0]], found[own[-1]])
    entry, around = find(path, found)
    if entry is None:
        raise ValueError("the value is not at one place")
    siblings = around[-1].inside
    k = siblings.index(entry)
    start = entry.key.start - len(entry.prefix)
    if k + 1 < len(siblings):
        after = siblings[k + 1]
        return _put(text, start, after.key.start - len(after.prefix), "")
    return _put(text, siblings[k - 1].value.end if k else start, entry.value.end, "")


def _without(text: str, first: Statement, last: Statement) -> str:
    """A text without some statements, and without the comment right above them if they are a section."""
    start, end = first.start, last.end
    if first.entry is None:
        start = _attached(text, start) or start  # a comment at the top of the file is about the file
        following = _BLANK_LINES.match(text, end)
        end = following.end() if following else end
    return _put(text, start, end, "")


def _attached(text: str, start: int) -> int:
    """Where the comment right above a line begins; the line itself if there is none."""
    while start:
        before = text.rfind("\n", 0, start - 1) + 1
        if not text[before:start].lstrip(" \t").startswith("#"):
            break
        start = before
    return start


_ACTS: dict[str, Callable[[str, Path, Any], str]] = {
    "set": _set, "rename": _rename, "add": _add, "insert": _insert, "remove": _remove,
}  # fmt: skip
