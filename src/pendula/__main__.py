"""The program ``pendula``, which ``python -m pendula`` starts too."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys


def run() -> None:
    """Runs the command line in this process, with a quick start and a quick end.

    A command is short and its matrices are small, so three defaults of Python cost more than they bring (measured:
    a quarter of the processor time of ``pendula simulate``): threads for linear algebra (set ``OPENBLAS_NUM_THREADS``
    to have them), garbage collection while modules load, and freeing every object one by one before the end.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(100_000, 20, 20)
    from pendula.app.main import main

    try:
        main()
    except SystemExit as end:
        _leave(end.code if isinstance(end.code, int) else 0)


def _leave(code: int) -> None:
    """Ends the process at once; what was to be done at the end is done, and all output is written."""
    atexit._run_exitfuncs()
    try:
        if sys.stdout is not None:  # None: it was closed before the start
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has what it wanted
        pass
    except OSError as error:
        print(f"error: the output could not be written: {error.strerror}", file=sys.stderr)
        code = 2
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
