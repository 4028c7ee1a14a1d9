"""Kinematics of planar hinges for many states at once, with NumPy arrays instead of compiled kernels.

This is fast enough for occasional evaluations (energies along a run, poses for a picture), and a first run
need not wait for the spatial kernels to compile.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pendula.system.layout import Array
from pendula.system.recursion.columns import REVOLUTE
from pendula.system.recursion.plane import planar as pl


@dataclass(frozen=True)
class PlaneMotion:
    """Angles, positions, velocities and accelerations of all hinges, ground first; shape (rows, hinges + 1)."""

    theta: Array
    x: Array
    y: Array
    omega: Array
    vx: Array
    vy: Array
    alpha: Array
    ax: Array
    ay: Array
    stretch: Array
    """relative coordinate between the two sides of each hinge"""
    sin: Array
    cos: Array
    """of the angles"""

    @classmethod
    def of(cls, hinges: Array, plane: Array, q: Array, v: Array, a: Array, drives: Array) -> PlaneMotion:
        """Motion for rows of q, v and v'; ``drives``: position, rate and acceleration of prescribed motions."""
        found = cls(*(np.zeros((len(hinges) + 1, len(q))).T for _ in range(12)))  # a hinge at a time
        found.cos[:, 0] = 1.0
        for i, (hinge, p) in enumerate(zip(hinges, plane, strict=True), start=1):
            k = hinge["drive"]
            own = (q[:, hinge["q"]], v[:, hinge["v"]], a[:, hinge["v"]]) if k < 0 else drives[:, 3 * k : 3 * k + 3].T
            found._place(i, hinge, p, *own)
        return found

    def _place(self, i: int, hinge: Array, p: Array, at: Array, rate: Array, more: Array) -> None:
        up = hinge["parent"]
        before, omega, alpha = self.theta[:, up] + p[pl.TURN], self.omega[:, up], self.alpha[:, up]
        s, c = self.sin[:, up], self.cos[:, up]
        rx, ry = c * p[pl.SX] - s * p[pl.SY], s * p[pl.SX] + c * p[pl.SY]
        slide, slide_rate = np.zeros((2, len(at))), np.zeros((2, len(at)))
        if hinge["kind"] == REVOLUTE:
            base = (0.0, 0.0, 0.0) if hinge["absolute"] == 1 else (before, omega, alpha)
            sense = p[pl.SENSE]
            turned = [b + sense * x for b, x in zip(base, (at, rate, more), strict=True)]
            self.stretch[:, i] = sense * (turned[0] - before)
        else:
            turned = [before, omega, alpha]
            s, c = np.sin(before), np.cos(before)
            d = np.array([c * p[pl.AX] - s * p[pl.AY], s * p[pl.AX] + c * p[pl.AY]])
            rx, ry = rx + d[0] * at, ry + d[1] * at
            slide, slide_rate = d * rate, d * more
            self.stretch[:, i] = at
        self.theta[:, i], self.omega[:, i], self.alpha[:, i] = turned
        np.sin(turned[0], out=self.sin[:, i])
        np.cos(turned[0], out=self.cos[:, i])
        self.x[:, i], self.y[:, i] = self.x[:, up] + rx, self.y[:, up] + ry
        self.vx[:, i] = self.vx[:, up] - omega * ry + slide[0]
        self.vy[:, i] = self.vy[:, up] + omega * rx + slide[1]
        self.ax[:, i] = self.ax[:, up] - alpha * ry - omega**2 * rx - 2 * omega * slide[1] + slide_rate[0]
        self.ay[:, i] = self.ay[:, up] + alpha * rx - omega**2 * ry + 2 * omega * slide[0] + slide_rate[1]

    def energies(self, plane: Array, gravity: Array) -> tuple[Array, Array]:
        """Kinetic and potential energy of every row; the energy of springs in hinges omits a constant."""
        m, J = plane[:, pl.MASS], plane[:, pl.INERTIA]
        s, c = self.sin[:, 1:], self.cos[:, 1:]
        hx, hy = c * plane[:, pl.HX] - s * plane[:, pl.HY], s * plane[:, pl.HX] + c * plane[:, pl.HY]
        w, vx, vy = self.omega[:, 1:], self.vx[:, 1:], self.vy[:, 1:]
        kinetic = 0.5 * (m * (vx * vx + vy * vy) + J * (w * w)) + w * (vy * hx - vx * hy)
        potential = -gravity[0] * (m * self.x[:, 1:] + hx) - gravity[1] * (m * self.y[:, 1:] + hy)
        stretch = self.stretch[:, 1:]
        potential = potential + (0.5 * plane[:, pl.STIFFNESS] * stretch - plane[:, pl.PULL]) * stretch
        return kinetic.sum(axis=1), potential.sum(axis=1)

    def rows(self) -> Array:
        """The motion in the columns of the spatial kernel (from ``columns.MOTION_R`` on)."""
        zero = np.zeros_like(self.x)
        s, c, one = self.sin, self.cos, zero + 1.0
        columns = [c, -s, zero, s, c, zero, zero, zero, one, self.x, self.y, zero, self.vx, self.vy, zero]
        columns += [zero, zero, self.omega, self.ax, self.ay, zero, zero, zero, self.alpha]
        return np.stack(columns, axis=-1)
