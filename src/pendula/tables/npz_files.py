"""NPZ: one array of NumPy for each block, and the head of the table as the array ``account``.

Names of columns are arrays too: ``coordinates`` of ``q``, ``speeds`` of ``v``, for others ``NAME_columns``. The archive
has a checksum of every array.
"""

from __future__ import annotations

import zipfile
import zlib
from typing import BinaryIO

import numpy as np

from pendula.storage.files import pack_arrays
from pendula.storage.room import refuse_large
from pendula.tables.formats import TableFormat
from pendula.tables.head import assemble_table, read_head, write_head
from pendula.tables.table import Table

HEAD = "account"
_ZIP = b"PK\x03\x04"
NAMES = {"q": "coordinates", "v": "speeds"}


def write(table: Table, file: BinaryIO) -> None:
    """Writes a table as an archive of arrays."""
    pack_arrays(file, arrays_of(table), compressed=table.compress)


def arrays_of(table: Table) -> dict[str, np.ndarray]:
    """The arrays of the archive by name."""
    arrays = {HEAD: np.array(write_head(table, digest=False))}
    for block in table.blocks:
        arrays[_key(block.name)] = block.values
        if block.columns is not None:
            arrays[NAMES.get(block.name, f"{block.name}_columns")] = np.array(block.columns, dtype=str)
    return arrays


def _key(name: str) -> str:
    return name if name not in (HEAD, "file", *NAMES.values()) else f"{name}_values"


def read(file: BinaryIO) -> Table:
    """Reads a table from an archive of arrays.

    Raises:
        ValueError: it is foreign, truncated or damaged.
    """
    if file.read(len(_ZIP)) != _ZIP:
        raise ValueError("it is truncated, or no archive of arrays")
    file.seek(0)
    try:
        with np.load(file, allow_pickle=False) as archive:
            refuse_large(sum(member.file_size for member in archive.zip.infolist()))
            if HEAD not in archive.files:
                raise ValueError("it holds no table of Pendula")
            text = str(archive[HEAD])
            if '"pendula_table"' not in text[:200] and text.startswith('{"model"'):
                raise ValueError(
                    "version 0.1.0 or earlier wrote it, without the model, so the run cannot be restored: numpy.load "
                    "reads its arrays"
                )
            head = read_head(text)
            found = {name: archive[_key(name)] for name in (one["name"] for one in head["blocks"])}
    except (zipfile.BadZipFile, zlib.error, EOFError, AttributeError):
        raise ValueError("it is truncated, or no archive of arrays") from None
    except (KeyError, TypeError) as error:
        raise ValueError(f"its description of the table is damaged ({error})") from None
    except ValueError as error:
        if "allow_pickle" in str(error):  # NumPy's advice would execute what is in the file
            raise ValueError("an array in it holds neither numbers nor words but objects, which are not read") from None
        raise
    except (OSError, MemoryError):
        raise
    except Exception as error:  # readers of archives and of headers raise many types for damaged bytes
        raise ValueError(f"it is damaged ({type(error).__name__}: {error})") from None
    return assemble_table(head, found)


FORMAT = TableFormat(".npz", write, read)
