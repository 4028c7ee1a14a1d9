"""The installation: versions, processor, cache of compiled code, optional packages."""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from pendula import __version__

NEEDED = ("numpy", "scipy", "symengine", "sympy", "numba", "llvmlite", "pydantic", "click", "rich")
"""packages that every installation has"""

PURPOSES = {
    "plot": "plots as PNG, SVG or PDF, and pictures in notebooks",
    "video": "films for slides (.gif, .mp4)",
    "control": "linear models as objects of python-control",
    "data": "results as tables and labelled arrays",
    "netcdf": "results as NetCDF files (.nc)",
    "parquet": "results as Parquet files (.parquet)",
    "units": 'quantities such as "0.5 ft" in model files',
    "cluster": "studies on Dask clusters",
    "robots": "models from MJCF files, by MuJoCo's compiler",
    "casadi": "equations as CasADi functions",
    "fmu": "a C compiler (Zig) for FMUs",
    "studio": "the studio in the browser",
}
"""what each extra of the package adds; an extra that is missing here is for developers"""


@dataclass(frozen=True)
class OptionalPart:
    """An extra of the package: what it adds, and which of its packages are here (None: missing)."""

    extra: str
    purpose: str
    packages: dict[str, str | None]

    @property
    def installed(self) -> bool:
        """Whether all its packages are here."""
        return None not in self.packages.values()

    @property
    def missing(self) -> list[str]:
        """Its packages that are not here."""
        return [name for name, version in self.packages.items() if version is None]


@dataclass(frozen=True)
class KernelCache:
    """The folder of compiled kernels: how full it is, and why nothing is kept there, if so."""

    folder: str
    kernels: int
    megabytes: float
    problem: str


@dataclass(frozen=True)
class Installation:
    """Versions and places that a report about a problem needs."""

    version: str
    python: str
    system: str
    processor: str
    cores: int
    place: str
    packages: dict[str, str | None]
    optional: list[OptionalPart]
    cache: KernelCache

    @property
    def missing(self) -> list[str]:
        """Needed packages that are not installed under their names."""
        return [name for name, version in self.packages.items() if version is None]


def version_of(package: str) -> str | None:
    """The installed version of a package, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def examine() -> Installation:
    """The installation in which this process runs."""
    from pendula.numerics.compiled import jit

    return Installation(
        version=__version__,
        python=f"{platform.python_implementation()} {platform.python_version()}",
        system=f"{platform.system()} {platform.release()} ({platform.machine()})",
        processor=jit.processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        place=str(Path(sys.modules["pendula"].__file__ or "").parent),
        packages={name: version_of(name) for name in NEEDED},
        optional=optional_parts(metadata.requires("pendula") or [] if version_of("pendula") else []),
        cache=kernel_cache(),
    )


def optional_parts(requirements: list[str]) -> list[OptionalPart]:
    """The extras in the requirements of a distribution, with what is installed of them.

    Example:
        >>> [part.extra for part in optional_parts(["numpy>=1", 'matplotlib>=3.8; extra == "plot"'])]
        ['plot']
    """
    found: dict[str, dict[str, str | None]] = {}
    for requirement in requirements:
        extra = re.search(r"""extra == ['"]([\w-]+)['"]""", requirement)
        name = re.match(r"[\w.-]+", requirement)
        if extra and name and extra[1] in PURPOSES:
            found.setdefault(extra[1], {})[name[0]] = version_of(name[0])
    return [OptionalPart(extra, PURPOSES[extra], found[extra]) for extra in PURPOSES if extra in found]


def kernel_cache() -> KernelCache:
    """The cache of compiled kernels of this version on this processor."""
    from pendula.numerics.compiled import jit
    from pendula.storage.files import cache_root

    folder = Path(jit.cache_directory) if jit.cache_directory else cache_root()
    files = [path for path in folder.glob("*") if path.is_file()] if jit.cache_directory else []
    size = sum(path.stat().st_size for path in files)
    return KernelCache(str(folder), len(files), size / 1e6, jit.cache_note)
