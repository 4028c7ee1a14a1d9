"""A part that is known to the model and to nothing else is refused by name wherever it would have to be computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest

import pendula
from pendula import Model
from pendula.errors import NotSupported
from pendula.model.base import Scalar
from pendula.model.joints import JOINTS, ClosingJoint, TreeJoint, register_joint
from pendula.model.joints.steps import Slide, Step


class JointGhost(TreeJoint):
    """Has a coordinate, and no template of its motion."""

    type: Literal["ghost"] = "ghost"
    strength: Scalar = 1
    freedoms = (("", "angle"),)


class JointVeil(ClosingJoint):
    """Closes a loop, and has no template of its rows."""

    type: Literal["veil"] = "veil"


class JointTypo(TreeJoint):
    """Its template uses a name that is not there."""

    type: Literal["typo"] = "typo"
    freedoms = (("", "length"),)

    def steps(self) -> tuple[Step, ...]:
        return (Slide((1, 0, 0), "2*distance"),)


@pytest.fixture(autouse=True, scope="module")
def _types() -> Iterator[None]:
    for joint in (JointGhost, JointVeil, JointTypo):
        register_joint(joint)
    yield
    for name in ("ghost", "veil", "typo"):
        JOINTS.remove(name)


def rod(kind: str) -> Model:
    """A rod on such a joint, or a pendulum whose tip such a joint closes."""
    closing = JOINTS[kind].closing
    joints = [{"name": "j", "type": "revolute" if closing else kind, "parent": "ground", "child": "rod"}]
    if closing:
        joints.append({"name": "j2", "type": kind, "parent": "ground", "child": "rod"})
    bodies = [{"name": "rod", "rod": {"mass": 1, "length": 1}}]
    return Model(name="unknown", gravity=[0, -9.81, 0], bodies=bodies, joints=joints)


@pytest.mark.parametrize("kind", ["ghost", "veil", "typo"])
def test_the_model_reads_and_writes_it(kind: str) -> None:
    assert pendula.loads(pendula.dumps(rod(kind))) == rod(kind)


@pytest.mark.parametrize("kind", ["ghost", "veil", "typo"])
@pytest.mark.parametrize("formulation", pendula.derivation.formulations())
def test_every_formulation_refuses_it_by_name(kind: str, formulation: str) -> None:
    with pytest.raises(NotSupported, match=f'type "{kind}"'):
        pendula.derive(rod(kind), formulation)
    with pytest.raises(NotSupported, match=f'type "{kind}"'):
        pendula.compile_system(rod(kind), formulation)


@pytest.mark.parametrize("kind", ["ghost", "veil", "typo"])
@pytest.mark.parametrize("engine", ["auto", "symbolic", "recursive"])
def test_every_engine_refuses_it_by_name(kind: str, engine: str) -> None:
    with pytest.raises(NotSupported, match=f'type "{kind}"'):
        pendula.compile_system(rod(kind), engine=engine)
