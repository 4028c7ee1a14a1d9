"""What reading and writing robots, as URDF or MJCF, refuses."""

from __future__ import annotations

from pendula.refusals import Refusal, Why


def _unheld(id: str, features: tuple[str, ...], what: str, why: Why = Why.OUTSIDE) -> Refusal:
    """A part of a model that the format cannot hold, or for which Pendula does not use what the format offers."""
    sentence = f"{{element}}: {what}, which {{format}} cannot hold"
    return Refusal(f"export-robot/{id}", "export of robots", features, sentence, why)


EXPRESSION = _unheld("expression", ("expressions",), '{field} is "{value}", an expression')
LIMIT_OF_FREE = _unheld("limit-of-free-joint", ("joint limit", "free joint"), "it limits a coordinate of a free joint")
PRESCRIBED = _unheld("prescribed-motion", ("prescribed motion",), "its motion is prescribed")
FROM_GROUND = _unheld(
    "angle-from-ground",
    ("angle measured from ground",),
    'it has measured_from = "ground" instead of "parent"',
    Why.NOT_DONE,
)
ANGLES = _unheld(
    "angles", ("orientation by angles",), "its orientation has other coordinates than a quaternion", Why.NOT_DONE
)
STEPS_BY_EXPRESSION = _unheld("motion-by-expressions", ("own joint type",), "its motion is given by expressions")
STEP = _unheld("joint-step", ("own joint type",), "it has a step of type {step}")
AMOUNT = _unheld("joint-amount", ("own joint type",), 'it moves by "{amount}"')

URDF_LIMITS = _unheld("urdf-limits", ("URDF", "joint limit"), '"{name}" has other limits')
URDF_FRICTION = _unheld("urdf-friction", ("URDF", "friction"), "it is not viscous friction in a joint")
URDF_BALL_FRICTION = _unheld("urdf-ball-friction", ("URDF", "friction", "ball joint"), "it is friction in a ball")
URDF_LOOP = _unheld("urdf-closed-loop", ("URDF", "closed loop"), "it closes a loop")
URDF_ARMATURE = _unheld("urdf-armature", ("URDF", "armature"), "it has armature")
URDF_BALL = _unheld("urdf-ball-joint", ("URDF", "ball joint"), "it is a ball joint")

MJCF_MASSLESS_END = _unheld(
    "mjcf-massless-parent", ("MJCF", "massless body"), "it has no mass, and no body with the same axes follows"
)
MJCF_MASSLESS = _unheld("mjcf-massless", ("MJCF", "massless body"), "it moves and has no mass")
MJCF_FREE = _unheld(
    "mjcf-free-joint", ("MJCF", "free joint"), "it is a free joint that does not start at the origin of ground"
)
MJCF_ARMATURE = _unheld("mjcf-armature", ("MJCF", "armature", "free joint"), "its entries of armature differ")
MJCF_BALL = _unheld("mjcf-ball-joint", ("MJCF", "ball joint"), "it is a ball joint whose child side is rotated")
MJCF_FORCE = _unheld("mjcf-force", ("MJCF", "force type"), 'it is of type "{type}"')
MJCF_BALL_SPRING = _unheld("mjcf-ball-spring", ("MJCF", "ball joint"), "it is a spring of a ball joint")
MJCF_FREE_DAMPER = _unheld("mjcf-free-damper", ("MJCF", "free joint"), "it damps one coordinate of a free joint")
MJCF_SPRINGS = _unheld("mjcf-springs", ("MJCF", "several springs in one joint"), '"{name}" has another spring')
MJCF_LIMITS = _unheld("mjcf-limits", ("MJCF", "joint limit"), '"{name}" has other limits')
MJCF_HELD = _unheld(
    "mjcf-massless-between", ("MJCF", "massless body"), 'it holds "{body}", a massless body between joints'
)
MJCF_INPUT = _unheld("mjcf-input", ("MJCF", "expressions"), 'its value "{value}" is not a multiple of an input')
MJCF_LOOP = _unheld("mjcf-closing-joint", ("MJCF", "closed loop"), 'it is of type "{type}"')

NO_COUNTERPART = Refusal(
    "import-robot/no-counterpart",
    "import of robots",
    ("part without a counterpart",),
    "{source}: {what}, which a model cannot hold, and the motion depends on it.\n"
    '  Try: without=("{kind}",), which leaves it out.',
    Why.NOT_DONE,
)
