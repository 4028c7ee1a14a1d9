"""Moves a library of FMI 2.0 for co-simulation, in a process of its own that can be ended: nothing of Pendula is here."""

from __future__ import annotations

import ctypes
import json
import sys

STEPS = 4
LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


class Callbacks(ctypes.Structure):
    """fmi2CallbackFunctions."""

    _fields_ = (("logger", LOG), *((name, ctypes.c_void_p) for name in ("a", "b", "c", "environment")))


def moved(
    path: str, guid: str, references: dict[str, int], values: dict[str, float], t: float, until: float
) -> dict[str, float]:
    """States at a time, from given ones at another."""
    library, real, size = ctypes.CDLL(path), ctypes.c_double, ctypes.c_size_t(1)
    library.fmi2Instantiate.restype = ctypes.c_void_p
    told: list[str] = []
    callbacks = Callbacks(LOG(lambda e, name, status, category, text: told.append(text.decode())))
    me = ctypes.c_void_p(library.fmi2Instantiate(b"one", 1, guid.encode(), b"", ctypes.byref(callbacks), 0, 0))

    def do(name: str, *given: object) -> None:
        status = getattr(library, name)(me, *given)
        if status > 1:
            sys.exit(f"{name} ends with status {status}: {told}")

    known = {name: ctypes.c_uint(references[name]) for name in values if name in references}
    do("fmi2SetupExperiment", 1, real(1e-10), real(t), 0, real(0.0))
    for name, place in known.items():
        do("fmi2SetReal", ctypes.byref(place), size, ctypes.byref(real(values[name])))
    do("fmi2EnterInitializationMode")
    do("fmi2ExitInitializationMode")
    for k in range(STEPS):
        do("fmi2DoStep", real(t + k * (until - t) / STEPS), real((until - t) / STEPS), 1)
    found = {}
    for name, place in known.items():
        value = real()
        do("fmi2GetReal", ctypes.byref(place), size, ctypes.byref(value))
        found[name] = value.value
    return found


if __name__ == "__main__":
    print(json.dumps(moved(*json.loads(sys.argv[1]))))
