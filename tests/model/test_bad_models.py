"""Bad model files are refused at once, with file, element, field and cause, and nothing but ModelError."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

import pendula
from pendula.errors import ModelError, Problem

LONGEST = 5.0  # seconds that a refusal may take (of processor time: other work on the machine does not count)

BASE = """\
name = "double pendulum"
units = "m-kg-s"
gravity = [0, "-g", 0]

[parameters]
g = 9.81
m = 1.5
l = 2.0
k = 10.0
zero = 0

[inputs]
torque = "0.1*sin(t)"

[initial]
shoulder = "90deg"
elbow_dot = 0.5

[[bodies]]
name = "upper"
rod = { mass = "m", length = "l" }
points = { grip = [0, "-l/3", 0] }

[[bodies]]
name = "lower"
mass = "2*m"
com = [0, -1, 0]
inertia = [1, 0.5, 1.2]

[[joints]]
name = "shoulder"
type = "revolute"
axis = [0, 0, 1]
parent = { body = "ground", position = [0, 1, 0] }
child = { body = "upper", at = "top" }

[[joints]]
name = "elbow"
type = "revolute"
parent = { body = "upper", at = "tip" }
child = "lower"

[[forces]]
name = "hinge"
type = "torsion-spring"
joint = "elbow"
stiffness = "k"

[[forces]]
type = "generalized"
coordinate = "shoulder"
value = "torque"
"""


def changed(*changes: str) -> str:
    """The base model with some texts replaced: old, new, old, new, ..."""
    text = BASE
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    return text


def added(text: str, *changes: str) -> str:
    """The base model with more elements at its end."""
    return changed(*changes) + "\n" + text


def parameter(line: str) -> str:
    return changed("zero = 0", f"zero = 0\n{line}")


def force(fields: str) -> str:
    return added(f'[[forces]]\nname = "extra"\n{fields}')


def body(fields: str, joint: str = 'type = "free"') -> str:
    """The base model with one more body and the joint that holds it."""
    return added(
        f'[[bodies]]\nname = "extra"\n{fields}\n[[joints]]\nname = "hold"\nparent = "ground"\nchild = "extra"\n{joint}'
    )


def joint(fields: str) -> str:
    return body("mass = 1\ninertia = [1, 1, 1]", fields)


def turned(rotation: str) -> str:
    """The base model with one more body on a turned frame."""
    return joint('type = "fixed"').replace('"ground"\nchild', f'{{ body = "ground", rotation = {rotation} }}\nchild')


def spring_on(joint_text: str, fields: str = "") -> str:
    """A model with a torsion spring across its joint "hold"."""
    return f'{joint_text}\n[[forces]]\nname = "extra"\ntype = "torsion-spring"\njoint = "hold"\nstiffness = 1\n{fields}'


def initial(line: str, more: str = "") -> str:
    return changed("elbow_dot = 0.5", f"elbow_dot = 0.5\n{line}") + more


BALL = """
[[bodies]]
name = "ball"
sphere = { mass = 1, radius = 0.1 }
[[joints]]
name = "swing"
type = "spherical"
parent = "ground"
child = "ball"
"""
FIXED = """
[[bodies]]
name = "weight"
mass = 1
[[joints]]
name = "weld"
type = "fixed"
parent = "lower"
child = "weight"
"""
PIN = '[[joints]]\nname = "pin"\ntype = "coincident"\nparent = "ground"\nchild = "lower"\n'


@dataclass(frozen=True)
class Bad:
    """A bad model: its text and the one problem that must be reported (``others``: how many besides)."""

    id: str
    text: str
    element: str
    field: str
    cause: str
    advice: str = ""
    others: int = 0


MODEL = "model"
UPPER, LOWER, EXTRA = 'body "upper"', 'body "lower"', 'body "extra"'
SHOULDER, ELBOW, HOLD = 'joint "shoulder"', 'joint "elbow"', 'joint "hold"'
HINGE, FORCE = 'force "hinge"', 'force "extra"'

# A table: one line for each bad model.
# fmt: off
FIELDS = [
    # -- the top of the file
    Bad("empty", "", MODEL, "gravity", "is missing", "add gravity = [0, -9.81, 0]", others=2),
    Bad("no name", changed('name = "double pendulum"', ""), MODEL, "name", "is missing", "add name"),
    Bad("empty name", changed('"double pendulum"', '"  "'), MODEL, "name", "is empty"),
    Bad("number as name", changed('"double pendulum"', "5"), MODEL, "name", "must be text in quotes, found 5"),
    Bad("list as name", changed('"double pendulum"', '["a"]'), MODEL, "name", "found a list of 1"),
    Bad("name with newline", changed('"double pendulum"', r'"a\nb"'), MODEL, "name", r'has "\n" at position 2'),
    Bad("name with escape", changed('"double pendulum"', r'"a\u001b[31m"'), MODEL, "name", r'has "\x1b" at position 2'),
    Bad("name turned round", changed('"double pendulum"', r'"a\u202eb"'), MODEL, "name", r'has "\u202e"'),
    Bad("long name", changed('"double pendulum"', f'"{"x" * 101}"'), MODEL, "name", "has 101 characters, at most 100"),
    Bad("number as description", "description = 2020-01-01\n" + BASE, MODEL, "description", "found the date or time"),
    Bad("bell in description", 'description = "a\\u0007"\n' + BASE, MODEL, "description", r'has "\x07"'),
    Bad("long description", f'description = "{"x" * 5001}"\n' + BASE, MODEL, "description", "at most 5000"),
    Bad("units nonsense", changed('"m-kg-s"', '"metric"'), MODEL, "units", 'found "metric"', '"m-kg-s"'),
    Bad("units of two", changed('"m-kg-s"', '"m-kg"'), MODEL, "units", "must name length, mass and time"),
    Bad("units number", changed('"m-kg-s"', "1"), MODEL, "units", "must be text in quotes, found 1"),
    Bad("units hostile", changed('"m-kg-s"', r'"m-<b>-s"'), MODEL, "units", 'found "m-<b>-s"'),
    Bad("no gravity", changed('gravity = [0, "-g", 0]', ""), MODEL, "gravity", "is missing", "[0, 0, 0] for none"),
    Bad("gravity number", changed('[0, "-g", 0]', "9.81"), MODEL, "gravity", "must be a list of three", ""),
    Bad("gravity text", changed('[0, "-g", 0]', '"down"'), MODEL, "gravity", 'found "down"'),
    Bad("gravity table", changed('[0, "-g", 0]', "{ x = 1, y = 2, z = 3 }"), MODEL, "gravity", "found a table"),
    Bad("gravity of four", changed('[0, "-g", 0]', "[0, 0, 0, 0]"), MODEL, "gravity", "found 4"),
    Bad("gravity nested", changed('[0, "-g", 0]', "[0, [1], 0]"), MODEL, "gravity[1]", "found a list of 1"),
    Bad("gravity bool", changed('[0, "-g", 0]', "[0, true, 0]"), MODEL, "gravity[1]", "found true"),
    Bad("gravity nan", changed('[0, "-g", 0]', "[0, nan, 0]"), MODEL, "gravity[1]", "nan is not a finite number"),
    Bad("gravity inf", changed('[0, "-g", 0]', "[0, -inf, 0]"), MODEL, "gravity[1]", "-inf is not a finite"),
    Bad("gravity overflow", changed('[0, "-g", 0]', "[0, 1e999, 0]"), MODEL, "gravity[1]", "inf is not a finite"),
    Bad("gravity date", changed('[0, "-g", 0]', "[0, 2020-01-01, 0]"), MODEL, "gravity[1]", "the date or time 2020"),
    Bad("gravity unknown", changed('"-g"', '"-gg"'), MODEL, "gravity[1]", '"gg" in "-gg" is not known', '"g"?'),
    Bad("gravity of time", changed('"-g"', '"-g*t"'), MODEL, "gravity[1]", '"t" in "-g*t" cannot be used here'),
    Bad("misspelt top field", "grvity = 3\n" + BASE, MODEL, "grvity", "is not a field known", 'did you mean "gravity"?'),
    Bad("unknown top field", added("[solver]\nstep = 1"), MODEL, "solver", "is not a field known here", "available:"),
    Bad("hostile top field", '"a\\n{x}" = 1\n' + BASE, MODEL, r'"a\n{x}"', "is not a field known here"),
    Bad("bodies number", "bodies = 3", MODEL, "bodies", "must be a list, found 3", "[[bodies]]", others=2),
    Bad("bodies table", "[bodies]\nname = 1", MODEL, "bodies", "found a table", "[[bodies]] in double", others=2),
    Bad("joints text", 'joints = "none"', MODEL, "joints", 'must be a list, found "none"', others=3),
    Bad("forces date", "forces = 12:30:00", MODEL, "forces", "the date or time 12:30:00", others=3),
    Bad("parameters list", "[[parameters]]\ng = 1", MODEL, "parameters", "found a list of 1", "[parameters] in", others=3),
    Bad("initial number", "initial = 4.5", MODEL, "initial", "must be a table of names and values, found 4.5", others=3),
    Bad("inputs bool", "inputs = false", MODEL, "inputs", "must be a table of names and values, found false", others=3),
    Bad("no bodies", 'name = "x"\ngravity = [0, 0]', MODEL, "bodies", "there are no bodies", "add at least one body"),
    Bad("body number", 'name = "x"\ngravity = [0, 0]\nbodies = [1]', "body number 1", "", "must be a table", "[[bodies]]"),
    Bad("joint list", "joints = [[]]\n" + BASE.split("[[joints]]")[0], "joint number 1", "", "found an empty list", others=2),
    # -- parameters and inputs
    Bad("parameter bool", parameter("on = true"), 'parameter "on"', "", "must be a number or an expression in quotes, found true"),
    Bad("parameter list", parameter("x = [1]"), 'parameter "x"', "", "found a list of 1"),
    Bad("parameter table", parameter("x = { a = 1 }"), 'parameter "x"', "", "found a table"),
    Bad("parameter date", parameter("x = 1979-05-27T07:32:00Z"), 'parameter "x"', "", "the date or time 1979-05-27"),
    Bad("parameter nan", parameter("x = nan"), 'parameter "x"', "", "nan is not a finite number"),
    Bad("parameter huge integer", parameter("x = 1" + "0" * 400), 'parameter "x"', "", "is too large"),
    Bad("parameter huge hex", parameter("x = 0x" + "f" * 6000), 'parameter "x"', "", "is too large"),
    Bad("parameter empty text", parameter('x = ""'), 'parameter "x"', "", "the expression is empty"),
    Bad("parameter syntax", parameter('x = "2*"'), 'parameter "x"', "", '"2*"'),
    Bad("parameter power sign", parameter('x = "l^2"'), 'parameter "x"', "", "use ** for powers"),
    Bad("parameter code", parameter("x = \"__import__('os')\""), 'parameter "x"', "", "not allowed"),
    Bad("parameter unknown", parameter('x = "2*ll"'), 'parameter "x"', "", 'uses "ll", which is not a parameter', '"l"?'),
    Bad("parameter of time", parameter('x = "2*t"'), 'parameter "x"', "", "cannot depend on the time"),
    Bad("parameter of coordinate", parameter('x = "elbow"'), 'parameter "x"', "", 'uses "elbow"'),
    Bad("parameter itself", parameter('x = "x + 1"'), 'parameter "x"', "", "circularly: x -> x"),
    Bad("parameter circle", parameter('x = "y"\ny = "x"'), 'parameter "x"', "", "circularly: x -> y -> x"),
    Bad("parameter divides", parameter('x = "l/zero"'), 'parameter "x"', "", "division by zero"),
    Bad("constant divides", parameter('x = "1/0"'), 'parameter "x"', "", "division by zero"),
    Bad("parameter domain", parameter('x = "acos(l)"'), 'parameter "x"', "", "acos is not defined at 2.0"),
    Bad("parameter too long", parameter(f'x = "{"1+" * 1500}1"'), 'parameter "x"', "", "the limit is 2000"),
    Bad("parameter too deep", parameter(f'x = "{"(" * 99}1{")" * 99}"'), 'parameter "x"', "", "levels deep"),
    Bad("reserved parameter", parameter("t = 1"), 'parameter "t"', "name", '"t" is the time', '"t1"'),
    Bad("function as parameter", parameter("sin = 1"), 'parameter "sin"', "name", "is a function of the expression"),
    Bad("python word", parameter("lambda = 1"), 'parameter "lambda"', "name", "is a keyword of Python"),
    Bad("c word", parameter("double = 1"), 'parameter "double"', "name", "is a word of the C language"),
    Bad("rate as parameter", parameter("x_dot = 1"), 'parameter "x_dot"', "name", "reserved for the speeds", '"x_rate"'),
    Bad("parameter with blank", parameter('"a b" = 1'), 'parameter "a b"', "name", 'has " " at position 2', '"a_b"'),
    Bad("parameter nameless", parameter('"" = 1'), 'parameter ""', "name", "is empty"),
    Bad("parameter html", parameter('"<b>" = 1'), 'parameter "<b>"', "name", 'has "<" at position 1'),
    Bad("parameter newline", parameter('"a\\nb" = 1'), r'parameter "a\nb"', "name", r'has "\n"'),
    Bad("parameter braces", parameter('"{0.__class__}" = 1'), 'parameter "{0.__class__}"', "name", 'has "{"'),
    Bad("parameter very long name", parameter(f"{'x' * 500} = 1"), 'parameter "xxx', "name", "has 500 characters"),
    Bad("input unknown", changed("sin(t)", "sin(tt)"), 'input "torque"', "", '"tt" in "0.1*sin(tt)" is not known', '"t"?'),
    Bad("input of input", changed("sin(t)", "sin(torque)"), 'input "torque"', "", '"torque" in "0.1*sin(torque)" cannot be used'),
    Bad("input is a parameter", changed("torque =", 'm = 0\ntorque ='), 'input "m"', "", 'same name as parameter "m"'),
    Bad("joint is a parameter", parameter("elbow = 1"), ELBOW, "name", 'its coordinate "elbow" has the same name as parameter'),
    Bad("joint is an input", changed("torque =", "elbow = 0\ntorque ="), ELBOW, "name", 'same name as input "elbow"'),
    Bad(
        "coordinate is a coordinate",
        joint('type = "planar"\nnames = ["a", "b", "elbow"]'),
        HOLD,
        "names",
        'its coordinate "elbow" has the same name as a coordinate of joint "elbow"',
    ),
    Bad(
        "coordinate twice",
        joint('type = "coordinates"\ncoordinates = ["a", "a"]'),
        HOLD,
        "coordinates",
        'its coordinate "a" has the same name as another coordinate of it',
    ),
    # -- bodies
    Bad("misspelt body field", changed('mass = "2*m"', 'mas = "2*m"'), LOWER, "mas", "is not a field", 'did you mean "mass"?'),
    Bad("misspelt rod field", changed('length = "l"', 'lenght = "l"'), UPPER, "rod.lenght", "is not a field", '"length"?', others=1),
    Bad("nameless body", changed('name = "lower"\n', ""), "body number 2", "name", "is missing", others=1),
    Bad("body name number", changed('name = "lower"', "name = 7"), "body number 2", "name", "must be text in quotes, found 7", others=1),
    Bad("body name empty", changed('name = "lower"', 'name = ""'), "body number 2", "name", "is empty", others=1),
    Bad("body name html", body("mass = 1").replace('name = "extra"', 'name = "<script>"'), 'body "<script>"', "name", 'has "<"', others=1),
    Bad("body name newline", changed('name = "lower"', r'name = "a\nb"'), r'body "a\nb"', "name", r'has "\n" at position 2', others=1),
    Bad("body name control", changed('name = "lower"', r'name = "a\u0000"'), r'body "a\x00"', "name", r'has "\x00"', others=1),
    Bad("body name long", changed('name = "lower"', f'name = "{"n" * 65}"'), 'body "nnn', "name", "has 65 characters", others=1),
    Bad("body called ground", changed('name = "lower"', 'name = "ground"'), 'body "ground"', "name", "always exists", others=1),
    Bad("body twice", added('[[bodies]]\nname = "lower"\nmass = 1'), LOWER, "name", "2 bodies have this name", "rename"),
    Bad("no mass", changed('mass = "2*m"', ""), LOWER, "mass", "is missing", "one of rod, point, disc, box, sphere"),
    Bad("negative mass", changed('mass = "2*m"', "mass = -2"), LOWER, "mass", "must not be negative, found -2"),
    Bad("negative mass by parameter", changed("m = 1.5", "m = -1.5"), LOWER, "mass", "found -3", others=1),
    Bad("negative rod mass", changed('rod = { mass = "m"', "rod = { mass = -1"), UPPER, "rod.mass", "found -1"),
    Bad("mass of time", changed('mass = "2*m"', 'mass = "m*t"'), LOWER, "mass", '"t" in "m*t" cannot be used here'),
    Bad("mass of input", changed('mass = "2*m"', 'mass = "torque"'), LOWER, "mass", '"torque" cannot be used here'),
    Bad("mass unknown", changed('mass = "2*m"', 'mass = "2*mm"'), LOWER, "mass", '"mm" in "2*mm" is not known', '"m"?'),
    Bad("mass bool", changed('mass = "2*m"', "mass = true"), LOWER, "mass", "found true"),
    Bad("mass without value", changed('mass = "2*m"', 'mass = "m/zero"'), LOWER, "mass", "division by zero"),
    Bad("zero rod length", changed('length = "l"', "length = 0"), UPPER, "rod.length", "must be positive, found 0"),
    Bad("negative rod length", changed("l = 2.0", "l = -2"), UPPER, "rod.length", "must be positive, found -2"),
    Bad("zero rod axis", changed('length = "l"', "length = 1, axis = [0, 0]"), UPPER, "rod.axis", "cannot be the zero vector"),
    Bad("rod axis text", changed('length = "l"', 'length = 1, axis = ["m", 0]'), UPPER, "rod.axis", 'must be numbers, not expressions, found "m"'),
    Bad("rod com outside", changed('length = "l"', 'length = "l", com = 3'), UPPER, "rod.com", "must lie between 0 and the length 2, found 3"),
    Bad("rod diameter", changed('length = "l"', 'length = "l", diameter = -1'), UPPER, "rod.diameter", "must not be negative, found -1"),
    Bad("rod is a number", changed('rod = { mass = "m", length = "l" }', "rod = 3"), UPPER, "rod", "must be a table of fields, found 3"),
    Bad("rod is a list", changed('rod = { mass = "m", length = "l" }', "rod = [1, 2]"), UPPER, "rod", "found a list of 2"),
    Bad("two shorthands", changed('length = "l" }', 'length = "l" }\npoint = { mass = 1 }'), UPPER, "point", "by rod and by point"),
    Bad("mass and rod", changed('length = "l" }', 'length = "l" }\nmass = 1'), UPPER, "mass", "is given twice, by mass and by rod"),
    Bad("com and rod", changed('length = "l" }', 'length = "l" }\ncom = [0, 1]'), UPPER, "com", "follows from rod"),
    Bad("inertia and rod", changed('length = "l" }', 'length = "l" }\ninertia = [1, 1, 1]'), UPPER, "inertia", "follows from rod"),
    Bad("com of four", changed("com = [0, -1, 0]", "com = [0, -1, 0, 0]"), LOWER, "com", "found 4"),
    Bad("com number", changed("com = [0, -1, 0]", "com = 1"), LOWER, "com", "must be a list of three numbers"),
    Bad("inertia pair", changed("[1, 0.5, 1.2]", "[3, 1]"), LOWER, "inertia", "must be [Ixx, Iyy, Izz] or a 3 by 3 matrix"),
    Bad("inertia mixed", changed("[1, 0.5, 1.2]", "[[1, 0, 0], 2, [0, 0, 3]]"), LOWER, "inertia", "3 by 3 matrix"),
    Bad("inertia ragged", changed("[1, 0.5, 1.2]", "[[1, 0, 0], [0, 1], [0, 0, 3]]"), LOWER, "inertia", "3 by 3 matrix"),
    Bad("inertia of tables", changed("[1, 0.5, 1.2]", "[{ a = 1 }, { }, { }]"), LOWER, "inertia", "3 by 3 matrix"),
    Bad("inertia nan", changed("[1, 0.5, 1.2]", "[1, 1, nan]"), LOWER, "inertia[2][2]", "nan is not a finite number"),
    Bad("negative inertia", changed("[1, 0.5, 1.2]", "[1, 1, -1]"), LOWER, "inertia", "negative principal value, found -1, 1, 1"),
    Bad("asymmetric inertia", changed("[1, 0.5, 1.2]", "[[1, 0.2, 0], [0.1, 1, 0], [0, 0, 1]]"), LOWER, "inertia", "Ixy is 0.2 and Iyx is 0.1"),
    Bad("impossible inertia", changed("[1, 0.5, 1.2]", "[1, 1, 5]"), LOWER, "inertia", "no body has the principal values 1, 1, 5"),
    Bad(
        "impossible turned inertia",
        changed("[1, 0.5, 1.2]", "[[3, 2, 0], [2, 3, 0], [0, 0, 1]]"),
        LOWER,
        "inertia",
        "no body has the principal values 1, 1, 5",
    ),
    Bad("inertia without mass", changed('mass = "2*m"', "mass = 0"), LOWER, "mass", "is 0 while the inertia is not"),
    Bad("huge inertia", body("box = { mass = 1e200, size = [1e100, 1, 1] }"), EXTRA, "box.inertia", "the result is too large"),
    Bad("negative disc", body("disc = { mass = 1, radius = -1 }"), EXTRA, "disc.radius", "must be positive, found -1"),
    Bad("zero disc normal", body("disc = { mass = 1, radius = 1, normal = [0, 0, 0] }"), EXTRA, "disc.normal", "zero vector"),
    Bad("zero sphere", body("sphere = { mass = 1, radius = 0 }"), EXTRA, "sphere.radius", "must be positive, found 0"),
    Bad("negative box", body("box = { mass = 1, size = [1, -1, 1] }"), EXTRA, "box.size[1]", "must not be negative, found -1"),
    Bad("point named twice", changed("grip =", "tip ="), UPPER, "points.tip", '"tip" is already a point of this body'),
    Bad("point name hostile", changed("grip =", '"a\\n" ='), UPPER, r'points."a\n"', r'has "\n"'),
    Bad("points list", changed('points = { grip = [0, "-l/3", 0] }', "points = [1]"), UPPER, "points", "must be a table"),
    Bad("point unknown parameter", changed('"-l/3"', '"-L/3"'), UPPER, "points.grip[1]", '"L" in "-L/3" is not known'),
    Bad("shape kind", body('mass = 1\nshapes = [{ kind = "sphre" }]'), EXTRA, "shapes[0].kind", 'found "sphre"', '"sphere"?'),
    Bad("shape points", body('mass = 1\nshapes = [{ kind = "rod" }]'), EXTRA, "shapes[0].points", "a rod has a start and an end"),
    Bad("shape normal", body('mass = 1\nshapes = [{ kind = "disc", normal = ["zero", 0] }]'), EXTRA, "shapes[0].normal", "length is 0"),
    Bad("shapes table", body("mass = 1\nshapes = { a = 1 }"), EXTRA, "shapes", "must be a list, found a table"),
    # -- joints
    Bad("no type", changed('type = "revolute"\naxis', "axis"), SHOULDER, "type", "is missing", "fixed, revolute"),
    Bad("type number", changed('type = "revolute"\naxis', "type = 3\naxis"), SHOULDER, "type", "must be text in quotes, found 3"),
    Bad("misspelt type", joint('type = "sperical"'), HOLD, "type", 'there is no joint type "sperical"', '"spherical"?'),
    Bad("rolling", joint('type = "rolling"'), HOLD, "type", 'no joint type "rolling": nonholonomic joints', "available"),
    Bad("hostile type", joint(r'type = "a\n{0}"'), HOLD, "type", r'there is no joint type "a\n{0}"', "available"),
    Bad("misspelt joint field", changed("axis = [0, 0, 1]", "axes = [0, 0, 1]"), SHOULDER, "axes", "is not a field known here", '"axis"?'),
    Bad("joint without parent", changed('parent = { body = "upper", at = "tip" }\n', ""), ELBOW, "parent", "is missing"),
    Bad("joint without child", changed('child = "lower"\n', ""), ELBOW, "child", "is missing"),
    Bad("joint name with blank", joint('type = "free"').replace('"hold"', '"my joint"'), 'joint "my joint"', "name", 'has " "', '"my_joint"'),
    Bad("joint name reserved", joint('type = "free"').replace('"hold"', '"pi"'), 'joint "pi"', "name", "is a constant"),
    Bad("joint twice", joint('type = "free"').replace('"hold"', '"elbow"'), ELBOW, "name", "2 joints have this name"),
    Bad("unknown parent", changed('parent = { body = "upper", at', 'parent = { body = "uper", at'), ELBOW, "parent.body", 'there is no body "uper"', 'did you mean "upper"?'),
    Bad("unknown child", changed('child = "lower"', 'child = "lowr"'), ELBOW, "child.body", 'there is no body "lowr"', 'did you mean "lower"?'),
    Bad("unlike child", joint('type = "fixed"').replace('child = "extra"', 'child = "qqq"'), HOLD, "child.body", 'there is no body "qqq"', "available: extra", others=1),
    Bad("parent number", changed('parent = { body = "upper", at = "tip" }', "parent = 3"), ELBOW, "parent", "must be the name of a body"),
    Bad("parent list", changed('parent = { body = "upper", at = "tip" }', 'parent = ["upper"]'), ELBOW, "parent", "found a list of 1"),
    Bad("parent empty", changed('parent = { body = "upper", at = "tip" }', "parent = {}"), ELBOW, "parent.body", "is missing"),
    Bad("unknown point", changed('at = "tip"', 'at = "tipp"'), ELBOW, "parent.at", 'there is no point "tipp" on "upper"', 'did you mean "tip"?'),
    Bad("point of ground", changed('body = "ground", position = [0, 1, 0]', 'body = "ground", at = "left"'), SHOULDER, "parent.at", 'no point "left" on "ground"', "position = [x, y, z]"),
    Bad("point twice", changed('at = "tip"', 'at = "tip", position = [1, 0]'), ELBOW, "parent.at", "is given twice"),
    Bad("position of time", changed('at = "tip"', 'position = ["t", 0]'), ELBOW, "parent.position[0]", '"t" cannot be used here'),
    Bad("position of state", changed('position = [0, 1, 0]', 'position = ["elbow", 1]'), SHOULDER, "parent.position[0]", '"elbow" cannot be used'),
    Bad("zero axis", changed("axis = [0, 0, 1]", "axis = [0, 0, 0]"), SHOULDER, "axis", "cannot be the zero vector"),
    Bad("vanishing axis", changed("axis = [0, 0, 1]", 'axis = [0, 0, "zero"]'), SHOULDER, "axis", "its length is 0 for the given parameters"),
    Bad("axis text", changed("axis = [0, 0, 1]", 'axis = "z"'), SHOULDER, "axis", 'must be a list of three numbers or expressions, found "z"'),
    Bad("axis of state", changed("axis = [0, 0, 1]", 'axis = [0, "elbow", 1]'), SHOULDER, "axis[1]", '"elbow" cannot be used here'),
    Bad("connected to nothing", added('[[bodies]]\nname = "extra"\nmass = 1'), EXTRA, "", "it is connected to nothing", 'type = "free"'),
    Bad("only closed", added('[[bodies]]\nname = "extra"\nmass = 1\n' + PIN.replace("lower", "extra")), EXTRA, "", "only closing joints connect it"),
    Bad("placed twice", added(PIN.replace("coincident", "revolute")), 'joint "pin"', "child", 'already placed by joint "elbow"', '"coincident"'),
    Bad("ground as child", added(PIN.replace("coincident", "revolute").replace("ground", "upper").replace("lower", "ground")), 'joint "pin"', "child", "ground cannot be the child", "swap"),
    Bad("parent is child", joint('type = "fixed"').replace('parent = "ground"\nchild = "extra"', 'parent = "extra"\nchild = "extra"'), HOLD, "child", 'the same body "extra"'),
    Bad("circle", changed('parent = { body = "ground", position = [0, 1, 0] }', 'parent = "lower"'), SHOULDER, "parent", "shoulder, elbow form a cycle"),
    Bad("closing itself", added(PIN.replace('parent = "ground"', 'parent = "lower"')), 'joint "pin"', "child", 'the same body "lower"'),
    Bad("rotation both", turned('{ axis = [0, 0, 1], angle = 1, sequence = "z", angles = [1] }'), HOLD, "parent.rotation", "is given twice"),
    Bad("rotation neither", turned('{}'), HOLD, "parent.rotation.axis", "is missing"),
    Bad("rotation count", turned('{ sequence = "zyz", angles = [1, 2] }'), HOLD, "parent.rotation.angles", 'sequence "zyz" takes 3 angles, found 2'),
    Bad("rotation xx", turned('{ sequence = "xxy", angles = [1, 2, 3] }'), HOLD, "parent.rotation.sequence", '"xxy" rotates about the same axis twice'),
    Bad("rotation letters", turned('{ sequence = "abc", angles = [1, 2, 3] }'), HOLD, "parent.rotation.sequence", "must be one to three of the letters x, y, z"),
    Bad("rotation without angle", turned('{ axis = [0, 0, 1] }'), HOLD, "parent.rotation.angle", "is missing"),
    Bad("rotation vanishing axis", turned('{ axis = ["zero", 0], angle = 1 }'), HOLD, "parent.rotation.axis", "its length is 0"),
    Bad("rotation of time", turned('{ axis = [0, 0, 1], angle = "t" }'), HOLD, "parent.rotation.angle", '"t" cannot be used here'),
    Bad("measured from ground", joint('type = "revolute"\naxis = [1, 0, 0]\nmeasured_from = "ground"'), HOLD, "measured_from", "only if all rotations before it are about z", '"parent"'),
    Bad("measured from ground later", changed("axis = [0, 0, 1]", "axis = [0, 1, 1]", 'child = "lower"', 'child = "lower"\nmeasured_from = "ground"'), ELBOW, "measured_from", "about z"),
    Bad("measured from wall", joint('type = "revolute"\nmeasured_from = "groud"'), HOLD, "measured_from", 'must be one of parent, ground, found "groud"', '"ground"?'),
    Bad("universal of three", joint('type = "universal"\nsequence = "xyz"'), HOLD, "sequence", "must be two of the letters x, y, z"),
    Bad("universal twice x", joint('type = "universal"\nsequence = "xx"'), HOLD, "sequence", '"xx" rotates about the same axis twice'),
    Bad("loop sequence", added(PIN.replace('"coincident"', '"loop"\nkind = "universal"\nsequence = "q"')), 'joint "pin"', "sequence", 'found "q"'),
    Bad("loop kind", added(PIN.replace('"coincident"', '"loop"\nkind = "revolut"')), 'joint "pin"', "kind", 'found "revolut"', '"revolute"?'),
    Bad("euler of two", joint('type = "spherical"\norientation = "zy"'), HOLD, "orientation", "must be three of the letters x, y, z"),
    Bad("euler number", joint('type = "spherical"\norientation = 313'), HOLD, "orientation", "must be letters in quotes"),
    Bad("quaternion prescribed", joint('type = "spherical"\nmotion = { hold_q0 = "t" }'), HOLD, "motion", "a quaternion cannot be prescribed", 'orientation = "zyz"'),
    Bad("motion unknown", joint('type = "planar"\nmotion = { hold_z = "t" }'), HOLD, "motion", '"hold_z" is not a coordinate of this joint', "hold_x, hold_y"),
    Bad("motion of which", joint('type = "planar"\nmotion = "t"'), HOLD, "motion", "this joint has 3 coordinates", "hold_x, hold_y"),
    Bad("motion of fixed", joint('type = "fixed"\nmotion = "t"'), HOLD, "motion", "this joint has no coordinates"),
    Bad("motion of state", joint('type = "prismatic"\nmotion = "elbow"'), HOLD, "motion", '"elbow" cannot be used here'),
    Bad("motion unknown name", joint('type = "prismatic"\nmotion = "kk*t"'), HOLD, "motion", '"kk" in "kk*t" is not known', '"k"?'),
    Bad("motion list", joint('type = "prismatic"\nmotion = [1]'), HOLD, "motion", "must be one expression of t, or a table by coordinate, found a list"),
    Bad("names count", joint('type = "planar"\nnames = ["a"]'), HOLD, "names", "this joint has 3 coordinates, found 1 name"),
    Bad("names hostile", joint('type = "prismatic"\nnames = ["a;b"]'), HOLD, "names[0]", 'has ";" at position 2'),
    Bad("coordinates missing", joint('type = "coordinates"'), HOLD, "coordinates", "is missing"),
    Bad("coordinates empty", joint('type = "coordinates"\ncoordinates = []'), HOLD, "coordinates", "is empty"),
    Bad("coordinates text", joint('type = "coordinates"\ncoordinates = "x"'), HOLD, "coordinates", "must be a list"),
    Bad("kinds count", joint('type = "coordinates"\ncoordinates = ["a"]\nkinds = ["angle", "angle"]'), HOLD, "kinds", "1 coordinate, found 2 kinds"),
    Bad("kinds unknown", joint('type = "coordinates"\ncoordinates = ["a"]\nkinds = ["angl"]'), HOLD, "kinds[0]", 'found "angl"', '"angle"?'),
    Bad("chart unknown", joint('type = "coordinates"\ncoordinates = ["a"]\nposition = ["b", 0]'), HOLD, "position[0]", '"b" is not known'),
    Bad("chart of others", joint('type = "coordinates"\ncoordinates = ["a"]\nposition = ["elbow", 0]'), HOLD, "position[0]", '"elbow" cannot be used'),
    Bad("chart axis", joint('type = "coordinates"\ncoordinates = ["a"]\nrotation = { axis = ["a", 0], angle = 1 }'), HOLD, "rotation.axis[0]", '"a" cannot be used'),
    Bad("chart named twice", joint('type = "coordinates"\ncoordinates = ["a"]\nnames = ["b"]'), HOLD, "names", "names its coordinates in coordinates"),
    # -- forces
    Bad("force type", force('type = "sprin"'), FORCE, "type", 'there is no force type "sprin"', 'did you mean "spring"?'),
    Bad("nameless force", added('[[forces]]\ntype = "friction"\njoint = "elbow"'), "force number 3 (friction)", "coefficient", "is missing"),
    Bad("force field", force('type = "friction"\njoint = "elbow"\ncoeficient = 1'), FORCE, "coeficient", "is not a field", '"coefficient"?', others=1),
    Bad("unknown joint", changed('joint = "elbow"', 'joint = "elbw"'), HINGE, "joint", 'there is no joint "elbw"', 'did you mean "elbow"?'),
    Bad("friction unknown joint", force('type = "friction"\njoint = "sholder"\ncoefficient = 1'), FORCE, "joint", 'no joint "sholder"', '"shoulder"?'),
    Bad("damper on fixed", added(FIXED + '[[forces]]\ntype = "damper"\njoint = "weld"\ndamping = 1'), "force number 3 (damper)", "joint", 'joint "weld" cannot move'),
    Bad("spring across pin", added(PIN + '[[forces]]\ntype = "spring"\nstiffness = 1\njoint = "pin"'), "force number 3 (spring)", "joint", "closes a loop and has no coordinate"),
    Bad("spring across ball", added(BALL + '[[forces]]\ntype = "torsion-spring"\nstiffness = 1\njoint = "swing"'), "force number 3 (torsion-spring)", "joint", "has a quaternion and no angle to act on"),
    Bad("spring on which", spring_on(joint('type = "universal"')), FORCE, "coordinate", 'is missing: joint "hold" has 2 of them', "hold_1, hold_2"),
    Bad("spring coordinate", spring_on(joint('type = "universal"'), 'coordinate = "hold_3"'), FORCE, "coordinate", 'there is no coordinate "hold_3" in joint "hold"'),
    Bad("spring on angle", force('type = "spring"\nstiffness = 1\njoint = "elbow"'), FORCE, "type", '"elbow" is an angle, not a length', "torsion-spring"),
    Bad("torsion on length", spring_on(joint('type = "prismatic"')), FORCE, "type", '"hold" is a length', '"spring"'),
    Bad("spring nowhere", force('type = "spring"\nstiffness = 1'), FORCE, "joint", "is missing"),
    Bad("spring of nothing", force('type = "torsion-spring"\njoint = "elbow"'), FORCE, "stiffness", "this force would do nothing", "give stiffness, damping, or both"),
    Bad("spring half", force('type = "spring"\nstiffness = 1\nfrom = "upper"'), FORCE, "to", "is missing"),
    Bad("spring both", force('type = "spring"\nstiffness = 1\nfrom = "upper"\nto = "lower"\njoint = "elbow"'), FORCE, "joint", "not both"),
    Bad("damper from unknown", force('type = "damper"\nfrom = "uper"\nto = "lower"\ndamping = 1'), FORCE, "from.body", 'no body "uper"', '"upper"?'),
    Bad("damper to unknown point", force('type = "damper"\nfrom = "lower"\nto = { body = "upper", at = "grap" }\ndamping = 1'), FORCE, "to.at", 'no point "grap"', '"grip"?'),
    Bad("spring end turned", force('type = "spring"\nstiffness = 1\nfrom = { body = "upper", rotation = { axis = [0, 0, 1], angle = 1 } }\nto = "lower"'), FORCE, "from.rotation", "has no rotation"),
    Bad("force on ground", force('type = "force"\nbody = "ground"\nvector = [1, 0]'), FORCE, "body", "a force on ground has no effect"),
    Bad("force on unknown", force('type = "force"\nbody = "lwer"\nvector = [1, 0]'), FORCE, "body", 'no body "lwer"', '"lower"?'),
    Bad("force point twice", force('type = "force"\nbody = "upper"\nat = "tip"\nposition = [1, 0]\nvector = [1, 0]'), FORCE, "at", "is given twice"),
    Bad("force at moving point", force('type = "force"\nbody = "upper"\nposition = ["t", 0]\nvector = [1, 0]'), FORCE, "position[0]", '"t" cannot be used here'),
    Bad("force unknown name", force('type = "force"\nbody = "upper"\nvector = ["trque", 0]'), FORCE, "vector[0]", '"trque" is not known', '"torque"?'),
    Bad("force axes", force('type = "force"\nbody = "upper"\nvector = [1, 0]\naxes = "local"'), FORCE, "axes", 'must be one of world, body, found "local"'),
    Bad("torque without vector", force('type = "torque"\nbody = "upper"'), FORCE, "vector", "is missing"),
    Bad("com friction at origin", body("sphere = { mass = 1, radius = 1 }") + '\n[[forces]]\ntype = "com-friction"\nbody = "extra"\ncoefficient = 1', "force number 3 (com-friction)", "body", 'is the origin of "extra"'),
    Bad("spin drive at origin", force('type = "spin-drive"\nbody = "upper"\nat = "top"\ncoefficient = 1'), FORCE, "at", 'is the origin of "upper"', '"tip"'),
    Bad("generalized unknown", changed('coordinate = "shoulder"', 'coordinate = "sholder"'), "force number 2 (generalized)", "coordinate", 'no coordinate "sholder"', '"shoulder"?'),
    Bad("generalized quaternion", added(BALL + '[[forces]]\nname = "extra"\ntype = "generalized"\ncoordinate = "swing_q0"\nvalue = 1'), FORCE, "coordinate", "is part of a quaternion", "swing_wx"),
    Bad("generalized value", changed('value = "torque"', "value = { a = 1 }"), "force number 2 (generalized)", "value", "found a table"),
    Bad("stiffness divides", changed('stiffness = "k"', 'stiffness = "k/zero"'), HINGE, "stiffness", "division by zero"),
    Bad("rod length divides", changed('"l" }', '"l/zero" }'), UPPER, "rod.length", "division by zero"),
    Bad("inertia divides", changed("[1, 0.5, 1.2]", '["m/zero", 1, 1]'), LOWER, "inertia[0][0]", "division by zero"),
    # -- start
    Bad("initial unknown", initial("elbo = 1"), 'initial "elbo"', "", 'there is no coordinate or speed "elbo"', '"elbow"?'),
    Bad("initial prescribed", initial("hold = 1", "\n" + joint('type = "prismatic"\nmotion = "t"')[len(BASE) :]), 'initial "hold"', "", "its motion is prescribed"),
    Bad("initial speed prescribed", initial("hold_dot = 1", "\n" + joint('type = "prismatic"\nmotion = "t"')[len(BASE) :]), 'initial "hold_dot"', "", "its motion is prescribed"),
    Bad("initial rotation", changed('shoulder = "90deg"', "shoulder = { axis = [0, 0, 1], angle = 1 }"), 'initial "shoulder"', "", "a rotation needs a spherical or free joint"),
    Bad("initial rotation unknown", initial("swng = { axis = [0, 0, 1], angle = 1 }", BALL), 'initial "swng"', "", 'no spherical or free joint "swng"', '"swing"?'),
    Bad("initial rotation bad", initial('swing = { sequence = "zz", angles = [1, 2] }', BALL), 'initial "swing"', "sequence", "rotates about the same axis twice"),
    Bad("initial rotation field", initial("swing = { axis = [0, 0, 1], angel = 1 }", BALL), 'initial "swing"', "angel", "is not a field", '"angle"?'),
    Bad("initial rotation zero", initial('swing = { axis = [0, 0, "zero"], angle = 1 }', BALL), 'initial "swing"', "axis", "its length is 0"),
    Bad("initial rotation twice", initial("swing = { axis = [0, 0, 1], angle = 1 }\nswing_q0 = 1", BALL), 'initial "swing"', "", "is given twice"),
    Bad("initial ball number", initial("swing = 1", BALL), 'initial "swing"', "", "takes a rotation, not a number"),
    Bad("initial quaternion zero", initial("swing_q0 = 0", BALL), 'initial "swing_q0"', "", "is zero, which is not a rotation"),
    Bad("initial bool", changed('shoulder = "90deg"', "shoulder = true"), 'initial "shoulder"', "", "found true"),
    Bad("initial unit", changed('"90deg"', '"90 kg"'), 'initial "shoulder"', "", "is a mass, but an angle [rad] is expected"),
    Bad("initial of time", changed('"90deg"', '"t"'), 'initial "shoulder"', "", '"t" cannot be used here'),
    Bad("initial without value", changed('"90deg"', '"1/zero"'), 'initial "shoulder"', "", "division by zero"),
    Bad("initial hostile", initial('"a\\nb" = 1'), r'initial "a\nb"', "name", r'has "\n"'),
]
# fmt: on


def refused(path: Path | str) -> ModelError:
    """Loads a bad file: it must be refused in time, with a text that fits on a terminal."""
    start = time.process_time()
    with pytest.raises(ModelError) as caught:
        pendula.load(path)
    assert time.process_time() - start < LONGEST
    error = caught.value
    assert all(line.isprintable() for line in str(error).splitlines()), str(error)
    assert error.__cause__ is None
    return error


def matches(problem: Problem, bad: Bad) -> bool:
    same_place = problem.field == bad.field and problem.element.startswith(bad.element)
    return same_place and bad.cause in problem.cause and bad.advice in problem.advice


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    return tmp_path / "my model.toml"


def test_the_base_model_is_good(model_file: Path) -> None:
    model_file.write_text(BASE, encoding="utf-8")
    assert [c.name for c in pendula.load(model_file).coordinates] == ["shoulder", "elbow"]


@pytest.mark.parametrize("bad", FIELDS, ids=lambda bad: bad.id)
def test_bad_model_is_refused_with_element_field_and_cause(bad: Bad, model_file: Path) -> None:
    model_file.write_text(bad.text, encoding="utf-8")
    error = refused(model_file)
    text = str(error)
    assert any(matches(problem, bad) for problem in error.problems), text
    assert len(error.problems) == 1 + bad.others, text
    for part in (model_file.name, bad.element, bad.field, bad.cause, bad.advice):
        assert part in text
    assert text.count(bad.cause) >= 1
    assert ": : " not in text
    assert "pydantic" not in text


@pytest.mark.parametrize(
    ("text", "found", "advice"),
    [
        ('name = "a\nbodies = []\n', "line 1", "is a quote missing?"),
        ('[joints]\ntype = "revolute"\n[joints]\ntype = "revolute"\n', "twice", "write [[joints]]"),
    ],
)
def test_what_toml_refuses_comes_with_advice(text: str, found: str, advice: str) -> None:
    with pytest.raises(ModelError) as caught:
        pendula.loads(text)
    assert found in str(caught.value)
    assert advice in str(caught.value)


def test_two_bodies_of_one_name_are_one_problem() -> None:
    """The rod lost its name to a second cart: what refers to the rod, or places a cart twice, follows from that."""
    rods = '[[bodies]]\nname = "cart"\nrod = { mass = 1, length = 1 }\n' * 2
    joints = """
[[joints]]
name = "x"
type = "prismatic"
axis = [1, 0, 0]
parent = "ground"
child = "cart"
[[joints]]
name = "pin"
type = "revolute"
parent = { body = "cart" }
child = { body = "rod", at = "start" }
[[joints]]
name = "other"
type = "revolute"
parent = "ground"
child = "cart"
"""
    with pytest.raises(ModelError) as caught:
        pendula.loads(f'name = "a"\ngravity = [0, -9.81, 0]\n{rods}{joints}')
    assert [str(p).splitlines()[0] for p in caught.value.problems] == ['body "cart": name: 2 bodies have this name']


def test_signs_and_unknown_names_come_with_advice() -> None:
    text = """
name = "a"
gravity = [0, -9.81, 0]
parameters = { r = 1, L = "2*r + Q" }
bodies = [{ name = "rod", rod = { mass = -1, length = 1 } }]
joints = [{ name = "pin", type = "revolute", child = { body = "rod", at = "start" } }]
"""
    with pytest.raises(ModelError, match=r"(?s)add it to the parameters.*remove the minus sign"):
        pendula.loads(text)
