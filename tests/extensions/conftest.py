"""The extensions of this folder are loaded by the tests beside them only, not while tests are collected."""

collect_ignore = ["energy_command.py", "leapfrog.py", "screw_joint.py", "tension_cable.py"]
