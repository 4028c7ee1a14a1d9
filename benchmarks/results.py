"""Figures on disk: one JSON file for every benchmark, with the machine it ran on."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from pendula.storage.files import write_text

FOLDER = Path(__file__).resolve().parent / "results"
QUICK = FOLDER / "quick"


def save(folder: Path, name: str, environment: dict[str, Any], figures: dict[str, Any]) -> Path:
    """Writes the figures of one benchmark over those of its last run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    content = finite({"name": name, "environment": environment, "figures": figures})
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")
    return path


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """All that was measured, by name."""
    found = (json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json")))
    return {content["name"]: content for content in found}


def finite(value: Any) -> Any:
    """The same without what JSON cannot say: not a number and infinity become null."""
    if isinstance(value, dict):
        return {str(key): finite(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [finite(x) for x in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
