"""Files of public robots in installed packages: none is part of this repository."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest


def public_file(package: str, path: str) -> Path:
    """A file of an installed package, found without importing it; skips the test if the package is missing."""
    try:
        files = importlib.metadata.distribution(package).files or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"the package {package} is not installed")
    for file in files:
        if str(file).endswith(path):
            return Path(str(file.locate()))
    pytest.fail(f"{package} has no file {path}")
