"""Names of units for outputs. Numbers are used as they are, in any consistent set; ``quantities.py`` reads "5 cm"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pendula.model.names import quote

_FORCE = {("m", "kg", "s"): "N", ("ft", "slug", "s"): "lb", ("mm", "t", "s"): "N", ("mm", "kg", "ms"): "kN"}
_ENERGY = {"N": {"m": "J"}}


@dataclass(frozen=True)
class Units:
    """Unit names that follow from a label such as ``m-kg-s`` or ``ft-slug-s``.

    Example:
        >>> Units.from_label("ft-slug-s").force
        'lb'
    """

    length: str
    mass: str
    time: str

    @classmethod
    def from_label(cls, label: str) -> Units:
        """Splits ``length-mass-time``; raises ValueError for anything else."""
        parts = label.split("-")
        if len(label) > 40 or len(parts) != 3 or not all(p.isalpha() for p in parts):
            cause = f"must name length, mass and time, found {quote(label)}"
            raise ValueError(f'{cause}; try: "m-kg-s" or "ft-slug-s"')
        return cls(*parts)

    @property
    def force(self) -> str:
        """Unit of force."""
        return _FORCE.get((self.length, self.mass, self.time), f"{self.mass} {self.length}/{self.time}^2")

    @property
    def energy(self) -> str:
        """Unit of energy."""
        named = self.torque if self.force in ("N", "kN") else f"{self.length} {self.force}"
        return _ENERGY.get(self.force, {}).get(self.length, named)

    @property
    def torque(self) -> str:
        """Unit of torque."""
        return f"{self.force} {self.length}" if self.force in ("N", "kN") else f"{self.length}-{self.force}"

    def formal(self, text: str) -> str:
        """A unit in the notation of unit packages: products with ``*``, pounds of force as ``lbf``.

        Example:
            >>> Units.from_label("m-kg-s").formal("N m"), Units.from_label("ft-slug-s").formal("ft-lb/s")
            ('N*m', 'ft*lbf/s')
        """
        joined = text.replace(" ", "*").replace("-", "*")
        return re.sub(r"\blb\b", "lbf", joined) if self.mass == "slug" else joined

    def coordinate(self, kind: str) -> str:
        """Unit of a coordinate of the given kind; empty for dimensionless ones."""
        return {"angle": "rad", "rotation": "rad", "length": self.length}.get(kind, "")

    def speed(self, kind: str) -> str:
        """Unit of the speed of a coordinate of the given kind."""
        known = {"angle": f"rad/{self.time}", "length": f"{self.length}/{self.time}"}
        return known.get(kind, f"1/{self.time}")

    def acceleration(self, kind: str) -> str:
        """Unit of the acceleration of a coordinate of the given kind.

        Example:
            >>> Units.from_label("m-kg-s").acceleration("angle")
            'rad/s^2'
        """
        return f"{self.speed(kind)}^2"
