"""Where the keys and values of a TOML text are: headers, assignments, and what is inside inline tables and arrays.

The text must be valid TOML: ``tomllib`` has read it. The places let :mod:`pendula.app.studio.text.toml_edit` change one
value and leave every other character as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Path = tuple[int | str, ...]

_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")  # also over lines and comments
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\]|\\.)*"')
_LITERAL = re.compile(r"'[^']*'")
_BASIC_LINES = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL)
_LITERAL_LINES = re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL)
_OTHER = re.compile(r"[^,\]}#\r\n]*")
_TO_LINE_END = re.compile(r"[^\n]*\n?")


@dataclass(frozen=True)
class Span:
    """A part of the text, from ``start`` up to ``end``."""

    start: int
    end: int


@dataclass(frozen=True)
class Value:
    """A value from ``start`` up to ``end``.

    Attributes:
        inside: entries of an inline table, or items of an array, with paths relative to it.
        kind: ``"table"``, ``"array"`` or ``""``.
    """

    start: int
    end: int
    inside: tuple[Entry, ...] = ()
    kind: str = ""


@dataclass(frozen=True)
class Entry:
    """A key with its value, or an item of an array.

    Attributes:
        path: of the value; in a value, relative to it.
        key: the last part of the key in the text; empty for an item.
        prefix: the text before it, if the key is dotted, such as ``rod.``.
        value: the value.
    """

    path: Path
    key: Span
    prefix: str
    value: Value


@dataclass(frozen=True)
class Statement:
    """A header or an assignment, with its whole lines.

    Attributes:
        path: of the table or the value.
        entry: the assignment; None for a header.
    """

    start: int
    end: int
    path: Path
    entry: Entry | None = None


@dataclass
class _Reader:
    """Reads a text from its beginning to its end."""

    text: str
    at: int = 0
    counts: dict[Path, int] = field(default_factory=dict)

    def statements(self) -> Iterator[Statement]:
        table: Path = ()
        while True:
            self._skip(_GAP)
            if self.at >= len(self.text):
                return
            line = self.text.rfind("\n", 0, self.at) + 1
            if self.text[self.at] == "[":
                table = self._header()
                yield Statement(line, self._line_end(), table)
            else:
                entry = self._entry()
                entry = Entry(table + entry.path, entry.key, entry.prefix, entry.value)
                yield Statement(line, self._line_end(), entry.path, entry)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _line_end(self) -> int:
        self._skip(_TO_LINE_END)
        return self.at

    def _header(self) -> Path:
        many = self.text.startswith("[[", self.at)
        self.at += 1 + many
        parts, _, _ = self._key()
        self.at += 1 + many
        path: Path = ()
        for number, part in enumerate(parts, start=1):
            path += (part,)
            if many and number == len(parts):
                self.counts[path] = self.counts.get(path, -1) + 1
            if path in self.counts:
                path += (self.counts[path],)
        return path

    def _key(self) -> tuple[Path, Span, str]:
        """The parts of a key, the span of the last one, and the text before that."""
        self._skip(_SPACE)
        begin, parts = self.at, []
        while True:
            start = self.at
            for pattern in (_BARE_KEY, _BASIC, _LITERAL):
                if found := pattern.match(self.text, self.at):
                    self.at = found.end()
                    break
            else:
                raise ValueError("there is no key")
            last = Span(start, self.at)
            parts.append(_name(self.text[start : self.at]))
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return tuple(parts), last, self.text[begin : last.start]
            self.at += 1
            self._skip(_SPACE)

    def _entry(self) -> Entry:
        path, key, prefix = self._key()
        self.at += 1  # =
        self._skip(_SPACE)
        return Entry(path, key, prefix, self._value())

    def _value(self) -> Value:
        start, first = self.at, self.text[self.at]
        if first == "[":
            return self._array(start)
        if first == "{":
            return self._table(start)
        patterns = {'"': (_BASIC_LINES, _BASIC), "'": (_LITERAL_LINES, _LITERAL)}.get(first, (_OTHER,))
        if len(patterns) == 2 and not self.text.startswith(3 * first, start):
            patterns = patterns[1:]
        found = patterns[0].match(self.text, start)
        if found is None:
            raise ValueError("there is no value")
        self.at = start + len(found[0].rstrip(" \t") if patterns == (_OTHER,) else found[0])
        return Value(start, self.at)

    def _array(self, start: int) -> Value:
        items: list[Entry] = []
        self.at += 1
        while True:
            self._skip(_GAP)
            if self.text[self.at] == "]":
                self.at += 1
                return Value(start, self.at, tuple(items), "array")
            items.append(Entry((len(items),), Span(self.at, self.at), "", self._value()))
            self._skip(_GAP)
            self.at += self.text[self.at] == ","

    def _table(self, start: int) -> Value:
        entries: list[Entry] = []
        self.at += 1
        while True:
            self._skip(_GAP)
            if self.text[self.at] == "}":
                self.at += 1
                return Value(start, self.at, tuple(entries), "table")
            entries.append(self._entry())
            self._skip(_GAP)
            self.at += self.text[self.at] == ","


def _name(part: str) -> str:
    """A part of a key without its quotes."""
    if part.startswith("'"):
        return part[1:-1]
    if not part.startswith('"'):
        return part
    wide = re.sub(r"\\U([0-9A-Fa-f]{8})", lambda found: chr(int(found[1], 16)), part)
    name: Any = json.loads(wide, strict=False)
    return str(name)


def statements(text: str) -> list[Statement]:
    """All headers and assignments of a text, in their order.

    Raises:
        ValueError: the text is not TOML as this module knows it.

    Example:
        >>> text = "[[bodies]] # one\\nname = 'rod'\\nrod = { mass = 1 }\\n"
        >>> [found.path for found in statements(text)]
        [('bodies', 0), ('bodies', 0, 'name'), ('bodies', 0, 'rod')]
        >>> place = statements(text)[2].entry.value.inside[0].value
        >>> text[place.start : place.end]
        '1'
    """
    try:
        return list(_Reader(text).statements())
    except IndexError:
        raise ValueError("the text ends within a value") from None


def find(path: Path, among: list[Statement]) -> tuple[Entry | None, tuple[Value, ...]]:
    """The entry at a path, and the values that contain it, outermost first; no entry if there is none."""
    for statement in among:
        if statement.entry is not None and path[: len(statement.path)] == statement.path:
            return _within(statement.entry, path[len(statement.path) :], ())
    return None, ()


def _within(entry: Entry, rest: Path, around: tuple[Value, ...]) -> tuple[Entry | None, tuple[Value, ...]]:
    if not rest:
        return entry, around
    around += (entry.value,)
    for inner in entry.value.inside:
        if rest[: len(inner.path)] == inner.path:
            return _within(inner, rest[len(inner.path) :], around)
    return None, around
