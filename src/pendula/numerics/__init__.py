"""Steppers, Newton's method and linear solvers, independent of mechanics.

Everything here works on plain arrays and on native functions given by their address. So a right-hand side from any
source (generated machine code, a hand-written recursive kernel) runs in the same compiled loops.
"""
