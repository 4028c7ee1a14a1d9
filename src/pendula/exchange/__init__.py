"""Exchange with other tools: models and equations as files and as objects of other packages.

Example:
    >>> import pendula
    >>> "javascript" in pendula.exchange.exporters()
    True
"""

from pendula.lazy import attach

NAMES = {
    "pendula.exchange.exporting": "Exported export exporters",
}
"""Every public name of this module, by the module that defines it."""

__getattr__, __dir__, __all__ = attach(__name__, globals(), NAMES)
