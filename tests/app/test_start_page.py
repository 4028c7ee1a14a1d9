"""The page for beginners shows outputs: they are what the commands print."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "start.md").read_text(encoding="utf-8")
MODELS = dict(re.findall(r"```toml\n# file: (\S+)\n(.*?)```", PAGE, re.S))
SHOWN = re.findall(r"```console\n\$ pendula ([^\n]*)\n```\n+(?:[^`\n]*\n\n)?```text\n(.*?)```", PAGE, re.S)


def test_four_commands_show_their_output() -> None:
    assert [command.split()[0] for command, _ in SHOWN] == ["simulate", "show", "equilibria", "modes"]


@pytest.mark.parametrize(("command", "shown"), SHOWN)
def test_the_page_shows_what_commands_print(pendula, command: str, shown: str) -> None:
    for name, text in MODELS.items():
        Path(name).write_text(text, encoding="utf-8")
    asked, _, remark = command.partition("#")
    found = pendula(*re.sub(r" --(plot|animate|mode) \S+", "", asked).split())
    assert found.code == (2 if "exits with 2" in remark else 0), found.err
    printed = [_plain(line) for line in (found.out + found.err).splitlines()]
    for line in filter(None, map(_plain, shown.splitlines())):
        assert line in printed, line


def _plain(line: str) -> list[str]:
    """Words of a line; numbers of the size of rounding are zero, and widths of rules do not count."""
    return [re.sub(r"^-+$", "--", "0" if re.fullmatch(r"[\d.]+e-1\d", word) else word) for word in line.split()]


def test_the_frequencies_shown_are_those_of_the_closed_form() -> None:
    M, m, half, k, g = 2.0, 1.0, 0.4, 30.0, 9.81
    mass = np.array([[M + m, m * half], [m * half, m * (2 * half) ** 2 / 3]])
    own = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(mass, np.diag([k, m * g * half]))).real))
    table = dict(SHOWN)[next(command for command, _ in SHOWN if command.startswith("modes"))].splitlines()[2:]
    assert np.allclose([float(row.split()[1]) for row in table], own, rtol=3e-6)
