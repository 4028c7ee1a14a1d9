"""Importing present is cheap."""

from __future__ import annotations

import subprocess
import sys

import pendula.present


def test_importing_loads_neither_numpy_nor_matplotlib():
    code = "import pendula.present, sys; print([m for m in ('numpy', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in pendula.present.__all__:
        assert getattr(pendula.present, name).__doc__
    assert sorted(pendula.present.__all__) == dir(pendula.present)
