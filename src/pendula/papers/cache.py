"""Findings kept on disk, keyed by the inputs of their part and by the source code of the package.

A finding is read again only if no source file that it can depend on has changed since it was written: all of the
package but the command line, the page, and the folders of other papers. The files are in the folder ``papers`` of the
per-user cache; a file that is damaged, or a folder that cannot be written, costs only time.
"""

from __future__ import annotations

import hashlib
import json
import time
from functools import lru_cache
from pathlib import Path

from pendula.errors import PendulaError
from pendula.papers.types import Finding, Paper, Part
from pendula.storage.files import cache_root, write_text

UNUSED_DAYS = 30


WITHOUT_EFFECT = ("app/", "papers/page.py", "papers/registry.py")
"""sources that no finding depends on: nothing that computes imports them"""


@lru_cache
def code_version(module: str) -> str:
    """Digest of the source files that the parts of a paper can depend on, and of the versions of what computes.

    Args:
        module: the module of the paper; folders of other papers are left out.
    """
    from importlib import metadata

    digest = hashlib.sha256()
    package = Path(__file__).resolve().parents[1]
    own = module.rpartition(".")[2]
    others = tuple(f"papers/{x.name}/" for x in (package / "papers").iterdir() if x.is_dir() and x.name != own)
    for file in sorted(package.rglob("*")):
        if file.suffix == ".py" and not file.relative_to(package).as_posix().startswith((*WITHOUT_EFFECT, *others)):
            digest.update(str(file.relative_to(package)).encode())
            digest.update(file.read_bytes())
    for name in ("numpy", "scipy", "numba", "symengine", "sympy"):
        digest.update(f"{name} {metadata.version(name)}".encode())
    return digest.hexdigest()


def key_of(paper: Paper, part: Part) -> str:
    """Digest of what the finding of a part depends on."""
    inputs = json.dumps(dict(part.inputs), sort_keys=True)
    return hashlib.sha256(
        "\n".join((code_version(paper.module), paper.number, part.name, inputs)).encode()
    ).hexdigest()[:32]


def file_of(paper: Paper, part: Part) -> Path:
    """Where the finding of a part is kept."""
    return cache_root() / "papers" / f"{paper.number}-{part.name}-{key_of(paper, part)}.json"


def kept(paper: Paper, part: Part) -> tuple[Finding, float] | None:
    """The finding of a part and the seconds that it took, if it is kept and whole."""
    try:
        seconds, _, text = file_of(paper, part).read_text(encoding="utf-8").partition("\n")
        return Finding.from_json(text), float(seconds)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(paper: Paper, part: Part, finding: Finding, seconds: float) -> None:
    """Keeps a finding, and removes those of other versions that are old."""
    file = file_of(paper, part)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(file, f"{seconds:.3f}\n{finding.as_text()}")
        oldest = time.time() - UNUSED_DAYS * 86400
        for other in file.parent.glob(f"{paper.number}-{part.name}-*.json"):
            if other != file and other.stat().st_mtime < oldest:
                other.unlink(missing_ok=True)
    except (OSError, PendulaError):
        return
