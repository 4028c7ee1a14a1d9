"""The oracle is not only agreed with: ten mistakes planted in it are noticed by its closed forms, or by a row of the net."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crossings.array import plainest
from tests.crossings.planting.planted import FOLDER, REPOSITORY, ask, copied_source, run_python

pytestmark = pytest.mark.slow

TESTS = "tests/crossings/oracle/test_closed_forms.py"
MUTATIONS: dict[str, tuple[str, str, str, dict[str, str] | None]] = {
    "a sign in the cross product": ("frames", "r * x - p * z, p * y", "p * z - r * x, p * y", None),
    "transposed rotations": ("frames", "+ s * skew(axis)", "- s * skew(axis)", None),
    "no gyroscopic term": ("mechanism", " + cross(frame.w, I @ frame.w)", "", None),
    "no Coriolis acceleration in slides": ("frames", " + 2 * cross(self.w, d)", "", None),
    "damping of springs that drives": ("loads", "(stiffness * stretch + drag)", "(stiffness * stretch - drag)", None),
    "damping across joints that drives": (
        "loads",
        'k, drag = self._field("stiffness", scene), self._field("damping", scene) * x.d',
        'k, drag = self._field("stiffness", scene), -self._field("damping", scene) * x.d',
        {"load": "damper", "question": "accelerations"},
    ),
    "no armature": (
        "mechanism", "if any(joint.armature)", "if not joint.armature", {"load": "armature", "question": "accelerations"},
    ),
    "second derivative of products": ("jets", "2 * a.d * b.d + a.x", "a.d * b.d + a.x", None),
    "angular velocity of quaternions": ("charts", "s * np.eye(3) - skew(u)", "s * np.eye(3) + skew(u)", None),
    "torques of closing joints": ("closures", "cross(child.R @ b, parent.R @ a)", "parent.R @ a", None),
}  # fmt: skip
"""mistake: file, text, what stands there instead, and the row that notices it; None: the closed forms do"""


def _asked(folder: Path, changed: dict[str, str], row: dict[str, str] | None) -> tuple[bool, str]:
    """Whether the closed forms hold, or a row passes, with some files of the tests changed; and what was said."""
    copied_source(folder / "tests" / "crossings", changed, "tests/crossings")
    if row is None:
        process = run_python(
            "pytest", [folder], arguments=["-x", "-q", "--noconftest", "-p", "no:cacheprovider", str(folder / TESTS)]
        )
        said = process.communicate(timeout=60)[0]
        assert process.returncode in (0, 1), said
        return process.returncode == 0, said
    answer = ask([folder], [(0, plainest(row), (11, 0))])
    assert answer.ending in ("survived", "wrong"), answer
    return answer.ending == "survived", answer.detail


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mistake_in_the_oracle_is_noticed(name, tmp_path):
    FOLDER.mkdir(exist_ok=True, mode=0o700)
    file, before, after, row = MUTATIONS[name]
    text = (REPOSITORY / "tests/crossings/oracle" / f"{file}.py").read_text(encoding="utf-8")
    assert text.count(before) == 1
    passed, said = _asked(tmp_path, {f"oracle/{file}.py": text.replace(before, after)}, row)
    assert not passed, said


def test_a_copy_without_a_mistake_passes(tmp_path):
    FOLDER.mkdir(exist_ok=True, mode=0o700)
    passed, said = _asked(tmp_path, {}, MUTATIONS["no armature"][3])
    assert passed, said
