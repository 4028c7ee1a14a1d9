"""LLVM text to machine code."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
import threading
from functools import lru_cache
from typing import Any

import llvmlite.binding as llvm

from pendula.model.expressions.functions import PRIMITIVES

_lock = threading.Lock()


@lru_cache(maxsize=1)
def _start() -> tuple[Any, str, str]:
    """Prepares LLVM and makes the C library's functions known to it; the target, its processor and its features."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m"))
    for function in PRIMITIVES.values():
        llvm.add_symbol(function.c, ctypes.cast(getattr(library, function.c), ctypes.c_void_p).value)
    return llvm.Target.from_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def build_module(text: str, effort: int) -> Any:
    """Machine code of a module of LLVM text; ``effort`` is the optimization level of the code generator.

    The result keeps the code alive; ``get_function_address`` gives the address of a function.
    """
    with _lock:
        target, processor, features = _start()
        module = llvm.parse_assembly(text)
        module.verify()
        machine = target.create_target_machine(cpu=processor, features=features, opt=effort, jit=True)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return engine
