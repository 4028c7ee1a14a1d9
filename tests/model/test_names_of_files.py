"""A path where the name of a library mechanism is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

import pendula
from pendula.errors import UsageError


@pytest.mark.parametrize("name", ["trolley.toml", "models/arm.TOML"])
def test_a_path_is_answered_with_what_reads_it(name: str) -> None:
    with pytest.raises(UsageError, match=rf'read the model file: pendula\.load\("{name}"\)$'):
        pendula.simulate(name, 4)


def test_robots_and_files_without_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r'pendula\.exchange\.load_robot\("arm\.urdf"\)'):
        pendula.derive("arm.urdf")
    Path("trolley").write_text("")
    with pytest.raises(UsageError, match=r'pendula\.load\("trolley"\)'):
        pendula.derive("trolley")
    with pytest.raises(UsageError, match="did you mean"):
        pendula.derive("cart-pol")
