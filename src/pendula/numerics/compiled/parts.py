"""Two shortcuts through numba's compiler, which together save a third of the compile time of a kernel.

Functions that only compiled code calls (:func:`pendula.numerics.compiled.jit.compiled_part`) need no machine code:
their callers link them in and optimize the whole. Numba would optimize and assemble each of them first. Functions that
Python calls, too, get machine code only for that (:func:`called_as_part`).

For every product ``a * b`` of two scalars in a kernel, numba determines the type again, by trying each overload of the
operator that any package has defined. Here the answer is cached.

This is the only module that changes numba's pipeline. If a release of numba lacks something that it needs,
:data:`PIPELINE` is empty and numba compiles everything in its usual way, only slower; a test detects this.
"""

from __future__ import annotations

from typing import Any

from numba.core import types

PIPELINE: dict[str, Any] = {}
"""options for ``numba.njit`` of a part"""


def _part_compiler() -> Any:
    """A compiler that stops before it emits machine code."""
    from numba import _dynfunc
    from numba.core import compiler
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_machinery import PassManager, register_pass
    from numba.core.typed_passes import NativeLowering

    class PartLibrary(JITCodeLibrary):
        """LLVM code that callers link in."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

    def entry(library: Any, fndesc: Any, env: Any) -> Any:
        """The object by which numba identifies the part; it has no address."""
        name = fndesc.qualname.split(".")[-1]
        return _dynfunc.make_function(fndesc.lookup_module(), name, "", 0, env, (library,))

    @register_pass(mutates_CFG=True, analysis_only=False)
    class LowerPart(NativeLowering):
        _name = "lower_part"

        def run_pass(self, state: Any) -> Any:
            state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            state.targetctx = state.targetctx.subtarget(get_executable=entry)
            return super().run_pass(state)

    class PartCompiler(compiler.CompilerBase):
        def define_pipelines(self) -> list[Any]:
            usual = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
            made = PassManager("part")
            for step, description in usual.passes:
                made.add_pass(LowerPart if step is NativeLowering else step, description)
            made.finalize()
            return [made]

    return PartCompiler


def _remember_scalar_calls() -> None:
    """Makes numba cache the result types of functions of scalars."""
    usual = types.Function.get_call_type
    answers: dict[int, tuple[Any, dict[Any, Any]]] = {}  # by the id of the function, which the entry keeps alive

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        plain = (isinstance(a, types.Number | types.Boolean) or getattr(a, "is_scalar", False) for a in args)
        if kws or not all(plain):
            return usual(self, context, args, kws)
        known = answers.setdefault(id(self), (self, {}))[1]
        if args not in known:
            known[args] = usual(self, context, args, kws)
        return known[args]

    types.Function.get_call_type = get_call_type  # type: ignore[method-assign]


def called_as_part(made: Any, part: Any) -> Any:
    """A function that numba made for Python, of which compiled code uses another version, a part."""
    made.get_call_template, made.get_overload = part.get_call_template, part.get_overload
    return made


try:
    PIPELINE["pipeline_class"] = _part_compiler()
    _remember_scalar_calls()
except (ImportError, AttributeError):  # a release of numba with another pipeline
    PIPELINE.clear()
