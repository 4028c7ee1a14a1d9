"""Optional packages, which extras of Pendula install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pendula import refusals
from pendula.errors import NotSupported

EXTRAS = {
    "pandas": "data", "xarray": "data", "h5netcdf": "netcdf", "h5py": "netcdf", "pyarrow": "parquet",
    "casadi": "casadi", "mujoco": "robots", "distributed": "cluster",
}  # fmt: skip
"""the extra of Pendula that installs a package; packages without one are installed by their names"""


def needed(name: str, what: str) -> Any:
    """An optional package, or a module of one.

    Raises:
        NotSupported: it is not installed; the message says what needs it, and how to install it.

    Example:
        >>> needed("nosuchpackage", "a picture")
        Traceback (most recent call last):
        pendula.errors.NotSupported: a picture needs the package nosuchpackage, which is not installed.
          Try: pip install nosuchpackage
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        wanted = f'"pendula[{EXTRAS[package]}]"' if package in EXTRAS else package
        raise NotSupported(refusals.NOT_INSTALLED, what=what, package=package, wanted=wanted) from None
