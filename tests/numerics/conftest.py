"""Lets the tests of this folder import ``ode_problems`` under every import mode of pytest."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
