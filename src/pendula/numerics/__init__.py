"""Steppers, Newton iterations and dense solvers that know nothing of mechanics.

Everything here works on plain arrays and on native functions given by their address, so that a
right-hand side from any source (generated machine code, a hand-written recursive kernel) runs in
the same compiled loops. Import from the modules: ``stepping``, ``newton``, ``linear``, ``native``,
``jit``, ``tableaus``.
"""
