"""The machine that computed a result: host, processor, versions. Equal processors and versions give equal bits."""

from __future__ import annotations

import hashlib
import platform
from functools import lru_cache

import llvmlite
import llvmlite.binding
import numba
import numpy as np
import scipy

BITS = ("processor", "pendula", "numpy", "scipy", "numba", "llvmlite")
"""what determines the last bits of results"""


@lru_cache(maxsize=1)
def machine() -> dict[str, str]:
    """Where a result was computed.

    Example:
        >>> sorted(machine())[:3]
        ['host', 'llvmlite', 'numba']
    """
    from pendula import __version__

    features = llvmlite.binding.get_host_cpu_features().flatten()
    return {
        "host": platform.node(),
        "processor": f"{llvmlite.binding.get_host_cpu_name()} {hashlib.sha256(features.encode()).hexdigest()[:12]}",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "pendula": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
    }
