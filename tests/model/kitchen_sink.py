"""Models that use every type of joint and force and every field at least once."""

from __future__ import annotations

PLANE = """
name = "everything in the plane: 100 % <b>μ</b>"
description = \"\"\"Two lines,
the second with {braces} and "quotes".\"\"\"
units = "mm-t-s"
gravity = ["0", "-g", 0]

[parameters]
g = "9810"
m = 1
l = "2*half"
half = 1.0
zero = 0
rate = "30deg"
big = 123456789012345678901234567890
tiny = 1e-300

[inputs]
push = 0
pull = "m*sin(rate*t) if t < 3 else 0"

[[bodies]]
name = "arm 1"
rod = { mass = "m", length = "l", axis = [1, 0], com = "l/3", inertia = "m*l**2/9", diameter = 0.01 }
points = { "grip no. 2" = ["l/2", 0.1], hole = [0.2, 0, 0] }

[[bodies]]
name = "slider"
box = { mass = 2, size = [0.4, 0.2, 0], at = [0.1, 0, 0] }

[[bodies]]
name = "wheel"
disc = { mass = 1.5, radius = "half", normal = [0, 0, -1], thickness = 0.05, at = [0, 0.1] }

[[bodies]]
name = "plate"
mass = 3
com = [0.1, 0.2]
inertia = [[1, 0.1, 0], [0.1, 1.2, 0], [0, 0, "2.2"]]
shapes = [
  { kind = "rod", points = [[0, 0], [1, 0]], radius = 0.1 },
  { kind = "polyline", points = [[0, 0], [1, 0], [1, 1, 0]] },
  { kind = "ring", radius = "half", normal = [0, 1, 0] },
  { kind = "box", points = [[0, 0, 0]], size = [1, 2, 3] },
]

[[bodies]]
name = "bob"
point = { mass = 1, at = [0, "-half"] }

[[bodies]]
name = "carrier"
mass = 0

[[bodies]]
name = "coupler"
mass = 1

[[joints]]
name = "theta"
type = "revolute"
parent = { body = "ground", position = ["0.1*sin(rate*t)", 0], rotation = { axis = [0, 0, 1], angle = "rate" } }
child = { body = "arm 1", at = "start", rotation = { sequence = "z", angles = ["-rate"] } }
measured_from = "ground"

[[joints]]
name = "s"
type = "prismatic"
axis = ["1", "zero"]
parent = { body = "arm 1", position = ["l/2", 0, 0] }
child = "slider"

[[joints]]
name = "hub"
type = "planar"
parent = "ground"
child = "wheel"
names = ["hub_east", "hub_north", "spin"]
armature = [0, "m", "0.1*m"]
motion = { spin = "rate*t", hub_east = 0 }

[[joints]]
name = "weld"
type = "fixed"
parent = { body = "wheel", rotation = { axis = [0, 0, 1], angle = "90deg" } }
child = "plate"

[[joints]]
name = "wire"
type = "coordinates"
coordinates = ["u", "w"]
kinds = ["length", "other"]
position = ["u", "u**2 + 0.1*sin(t)", "0*w"]
rotation = { axis = [0, 0, 1], angle = "w" }
parent = "ground"
child = "bob"

[[joints]]
name = "drive"
type = "revolute"
axis = [0, 0, -1]
armature = "m/3"
parent = "ground"
child = "carrier"
motion = "rate*t"

[[joints]]
name = "last"
type = "prismatic"
parent = { body = "carrier" }
child = "coupler"

[[joints]]
name = "pin"
type = "coincident"
parent = { body = "arm 1", at = "tip" }
child = { body = "plate", position = [1, 1] }

[[joints]]
name = "rail"
type = "point-on-line"
axis = [0, 1]
parent = { body = "wheel", rotation = { sequence = "z", angles = [0.1] } }
child = { body = "bob", at = "com" }

[[joints]]
name = "belt"
type = "coupling"
value = "last - 2*l*u + 0*zero"
parent = "carrier"
child = "bob"

[[joints]]
name = "ring"
type = "loop"
kind = "prismatic"
axis = [1, 0, 0]
parent = "slider"
child = { body = "coupler", at = "origin" }

[[forces]]
name = "coil 1"
type = "torsion-spring"
joint = "theta"
stiffness = "10*m"
damping = "0.1"
rest = "10deg"

[[forces]]
type = "spring"
joint = "s"
stiffness = "5 + m**2"
damping = 0.1
length = "half"

[[forces]]
name = "band"
type = "spring"
from = { body = "ground", position = ["0.1*t", 0] }
to = { body = "bob", at = "com" }
stiffness = 3
length = 0.5

[[forces]]
type = "damper"
joint = "hub"
coordinate = "hub_north"
damping = 0.3

[[forces]]
type = "damper"
from = "ground"
to = "slider"
damping = "half"

[[forces]]
type = "friction"
joint = "wire"
coefficient = 0.01

[[forces]]
type = "joint-limit"
joint = "wire"
coordinate = "u"
lower = -40.0
upper = "50*half"
stiffness = "half"
dissipation = 0.1

[[forces]]
type = "com-friction"
body = "arm 1"
coefficient = 0.02

[[forces]]
type = "spin-drive"
body = "arm 1"
at = "tip"
coefficient = 0.03

[[forces]]
type = "spin-drive"
body = "plate"
position = [1, 0]
coefficient = "0.03*spin_dot"

[[forces]]
type = "force"
body = "slider"
at = "origin"
vector = ["push", "pull*cos(theta)", 0]
axes = "body"

[[forces]]
type = "force"
body = "bob"
position = ["half", 0, 0]
vector = ["-u_dot", 0]

[[forces]]
type = "torque"
body = "wheel"
vector = [0, 0, "-0.1*sign(spin_dot)"]
axes = "body"

[[forces]]
type = "generalized"
coordinate = "w"
value = "-w - 0.1*w_dot"

[initial]
theta = "90deg"
s = 0.1
theta_dot = -1
u = "half/2"
"""

SPACE = """
name = "everything in space"
gravity = [0, 0, -9.81]

[parameters]
a = 0.3

[[bodies]]
name = "ball"
sphere = { mass = 1, radius = "a", at = [0, 0, "-a"] }

[[bodies]]
name = "kite"
mass = 1
inertia = ["a", 0.4, 0.5]

[[bodies]]
name = "cross"
mass = 1
com = [0, 0, 1]
inertia = [1, 1, 1]

[[bodies]]
name = "rotor"
disc = { mass = 1, radius = 0.2, normal = [1, 1, 0] }

[[bodies]]
name = "tool"
rod = { mass = 1, length = 1, axis = [0, 3, 4] }

[[bodies]]
name = "gimbal"
mass = 1
inertia = [1, 1, 1]

[[joints]]
name = "swing"
type = "spherical"
parent = { body = "ground", rotation = { sequence = "zyx", angles = [0.1, "a", 0] } }
child = "ball"

[[joints]]
name = "flight"
type = "free"
parent = "ground"
child = "kite"

[[joints]]
name = "universal_1"
type = "universal"
sequence = "zx"
parent = { body = "ball", at = "com" }
child = "cross"

[[joints]]
name = "tumble"
type = "spherical"
orientation = "zyz"
speeds = "rates"
names = ["phi", "theta", "psi"]
parent = "cross"
child = "rotor"

[[joints]]
name = "hand"
type = "free"
orientation = "xyz"
speeds = "rates"
parent = "kite"
child = "tool"
motion = { hand_z = "a*t**2" }

[[joints]]
name = "tilt"
type = "revolute"
axis = ["a", 0, 1]
parent = "ground"
child = "gimbal"

[[joints]]
name = "closure"
type = "loop"
kind = "universal"
sequence = "yz"
parent = { body = "tool", at = "tip" }
child = "gimbal"

[[forces]]
type = "friction"
joint = "swing"
coefficient = 0.1

[[forces]]
type = "generalized"
coordinate = "flight_wx"
value = "-0.1*flight_wx"

[[forces]]
type = "spring"
joint = "flight"
coordinate = "flight_x"
stiffness = 2

[[forces]]
type = "torsion-spring"
joint = "tumble"
coordinate = "psi"
stiffness = 2

[initial]
swing = { sequence = "zyz", angles = [0.1, "a", "20deg"] }
swing_wz = 3
flight_q0 = 0.8
flight_q1 = 0.6
flight_x_dot = 1
theta = 1.0
hand_1 = 0.2
"""

ALL = {"plane": PLANE, "space": SPACE}
