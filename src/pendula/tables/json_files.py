"""JSON: the head of a table with all its arrays as lists."""

from __future__ import annotations

import json
from typing import BinaryIO

from pendula.tables.formats import TableFormat
from pendula.tables.head import assemble_table, from_plain, read_head, to_plain, write_head
from pendula.tables.table import Table


def write(table: Table, file: BinaryIO) -> None:
    """Writes a table as JSON: the fields of the head, and ``values`` by name of the array."""
    file.write(write_head(table)[:-1].encode())
    file.write(b',\n"values": {')
    for k, block in enumerate(table.blocks):
        text = json.dumps(to_plain(block.values), allow_nan=False, separators=(",", ":"))
        file.write(f"{',' if k else ''}\n{json.dumps(block.name)}: {text}".encode())
    file.write(b"\n}}\n")


def read(file: BinaryIO) -> Table:
    """Reads a table from JSON.

    Raises:
        ValueError: it is foreign, truncated or damaged.
    """
    head = read_head(file.read())
    values = head.pop("values", {})
    found = {}
    for one in head["blocks"]:
        name = one["name"]
        if not isinstance(values, dict) or name not in values:
            raise ValueError(f'"{name}" is missing')
        found[name] = from_plain(values[name], one)
    return assemble_table(head, found)


FORMAT = TableFormat(".json", write, read)
