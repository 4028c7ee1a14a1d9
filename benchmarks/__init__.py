"""Few benchmarks, each named for a question: ``python -m benchmarks [names...] [--with jax,octave] [--quick]``.

Every benchmark measures both sides in the same run, states a goal and says whether it is met. Timings
decide nothing: a goal that is missed does not fail the run.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # on one core, threads of NumPy would only wait for each other
