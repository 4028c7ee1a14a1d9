"""Compiles LLVM text to machine code."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
import threading
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from pendula.interrupts import uninterrupted
from pendula.model.expressions.functions import PRIMITIVES

_lock = threading.Lock()


@lru_cache(maxsize=1)
def _start() -> tuple[Any, str, str]:
    """Initializes LLVM and registers the C library's functions; returns the target, its processor and its features."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m"))
    for function in PRIMITIVES.values():
        llvm.add_symbol(function.c, ctypes.cast(getattr(library, function.c), ctypes.c_void_p).value)
    return llvm.Target.from_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def build_module(text: str, optimization: int) -> Any:
    """Machine code of a module of LLVM text; ``optimization`` is the level of the code generator (0 to 3).

    The result keeps the code alive; its ``get_function_address`` returns the address of a function.
    """
    with _lock, uninterrupted():  # with an interrupt in the middle, two owners would free a module
        target, processor, features = _start()
        module = llvm.parse_assembly(text)
        module.verify()
        machine = target.create_target_machine(cpu=processor, features=features, opt=optimization, jit=True)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return engine
