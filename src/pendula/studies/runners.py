"""Where tasks are computed: in this process, in processes of this machine, by any executor, or by a Dask cluster.

All of them have the same small interface, so that the driver of a study does not know which one it uses.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from concurrent.futures import TimeoutError as NotYet
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

from pendula.errors import ComputationError, NotSupported, PendulaError, UsageError, WorkerDied
from pendula.extensions import load_again
from pendula.extras import needed
from pendula.interrupts import note_interrupt
from pendula.parallel.children import VARIABLE, safe_path
from pendula.parallel.processes import Done, Processes, available_cores
from pendula.studies import refusals
from pendula.studies.batch import silent
from pendula.studies.recipe import Part, Recipe, Task, Work
from pendula.words import counted

CONNECT = 5.0
"""seconds to wait for a Dask scheduler"""
GATHER = 60.0
"""seconds to wait for the result of a finished task"""
MOST_LOSSES = 20
"""how often in a row a cluster may lose its work before a study gives up"""


class Runner(Protocol):
    """What computes tasks; :class:`~pendula.parallel.processes.Processes` does so on the cores of this machine."""

    @property
    def workers(self) -> int:
        """Number of tasks that are computed at the same time."""

    @property
    def words(self) -> str:
        """Where it computes, in words."""

    def submit(self, key: int, task: Task) -> None:
        """Adds a task."""

    def wait(self, timeout: float) -> list[Done]:
        """What finished since the last call; waits for at least one, up to ``timeout`` seconds."""

    @property
    def waiting(self) -> int:
        """Tasks that were submitted and that ``wait`` has not returned."""

    @property
    def ended(self) -> int:
        """Cases that have ended, including those of unfinished tasks, as far as it is known."""

    @property
    def interrupted(self) -> bool:
        """Whether a keyboard interrupt came."""

    def close(self) -> None:
        """Ends what it started."""


class Here:
    """Computes tasks in this process, one after the other."""

    workers, words = 1, "in this process"

    def __init__(self, work: Work) -> None:
        self._work = work
        self._tasks: deque[tuple[int, Task]] = deque()
        self.ended, self.interrupted = 0, False
        self._before = 0

    def submit(self, key: int, task: Task) -> None:
        """Adds a task."""
        self._tasks.append((key, task))

    @property
    def waiting(self) -> int:
        """Tasks that are not computed yet."""
        return len(self._tasks)

    def wait(self, timeout: float) -> list[Done]:
        """Computes the next task."""
        key, task = self._tasks.popleft()
        try:
            found = self._work(task, self._tell)
        except KeyboardInterrupt:
            note_interrupt()
            self.interrupted = True
            self._tasks.clear()
            return []
        except Exception as error:
            return [Done(key, None, error)]
        finally:
            self._before += len(task)
            self.ended = self._before
        return [Done(key, found, None, found.seconds, os.getpid())]

    def _tell(self, ended: int, of: int) -> None:
        self.ended = self._before + ended

    def close(self) -> None:
        """Nothing was started."""


_made: dict[bytes, Work] = {}
_making = threading.Lock()


def compute_task(recipe: bytes, task: Task) -> Part:
    """Computes a task in any process: the recipe comes with every task, and each process prepares it only once."""
    with _making:
        work = _made.get(recipe)
        if work is None:
            _made.clear()  # one study at a time
            extensions, content = pickle.loads(recipe)
            load_again(extensions)  # before what may be made of them
            work = _made[recipe] = Work(pickle.loads(content))
    return work(task, silent)


class Futures:
    """Computes tasks by any executor of ``concurrent.futures``, which stays open."""

    def __init__(self, executor: Executor, recipe: Recipe, workers: int | None) -> None:
        self._executor, self._recipe = executor, _pickled(recipe)
        self._futures: dict[Future[Part], tuple[int, int]] = {}
        self.workers = workers or getattr(executor, "_max_workers", None) or available_cores()
        self.words = f"by a {type(executor).__name__} with {counted(self.workers, 'worker')}"
        self.ended, self.interrupted = 0, False

    def submit(self, key: int, task: Task) -> None:
        """Adds a task."""
        try:
            self._futures[self._executor.submit(compute_task, self._recipe, task)] = key, len(task)
        except (BrokenExecutor, RuntimeError) as error:
            raise ComputationError(f"the executor takes no more tasks: {error}") from None

    @property
    def waiting(self) -> int:
        """Tasks that are not returned yet."""
        return len(self._futures)

    def wait(self, timeout: float) -> list[Done]:
        """What finished since the last call."""
        done, _ = wait(self._futures, timeout, FIRST_COMPLETED)
        found = []
        for future in done:
            key, cases = self._futures.pop(future)
            try:
                part = future.result()
            except BrokenExecutor as error:
                raise ComputationError(f"the executor broke: {error}") from None
            except Exception as error:
                found.append(Done(key, None, error))
            else:
                self.ended += cases
                found.append(Done(key, part, None, part.seconds))
        return found

    def close(self) -> None:
        """Cancels what was not begun."""
        for future in self._futures:
            future.cancel()


def _pickled(recipe: Recipe) -> bytes:
    try:
        return pickle.dumps((recipe.extensions, pickle.dumps(recipe)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotSupported(refusals.NOT_SENT, error=error) from None


@dataclass
class _Pending:
    """A task of a cluster, kept so that it can be submitted again."""

    key: int
    task: Task
    future: Any
    tries: int = 1


@dataclass
class Dask:
    """Computes tasks by a Dask cluster: one that is running, given by its address or client, or a local one.

    A task whose worker dies is given to another one by Dask. If the scheduler is lost and comes back at the same
    address, all unfinished tasks are submitted again.
    """

    recipe: Recipe
    on: Any
    count: int | None = None
    patience: float = 120.0
    """seconds to wait for a scheduler that was lost"""
    ended: int = 0
    interrupted: bool = False
    _pending: dict[int, _Pending] = field(default_factory=dict)
    _found: list[Done] = field(default_factory=list)
    _losses: int = 0
    _open: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self._pickled = _pickled(self.recipe)
        self._cluster: Any = None
        self._own = not hasattr(self.on, "submit")
        self._client: Any = None
        self._sent: Any = self._pickled
        try:
            self._connect(CONNECT)
            self._share()
        except BaseException as error:
            self.close()
            if isinstance(error, PendulaError) or not isinstance(error, Exception):
                raise
            raise ComputationError(f"the Dask cluster was lost while it started: {error!r}") from None

    def _connect(self, seconds: float) -> None:
        distributed = needed("distributed", "a Dask cluster")
        if not self._own:
            self._client = self.on
            return
        try:
            if self.on == "dask":
                self._cluster = self._cluster or self._local_cluster(distributed)
                self._client = distributed.Client(self._cluster, set_as_default=False)
            else:
                self._client = distributed.Client(self.on, timeout=seconds, set_as_default=False)
        except (OSError, ValueError, NotYet) as error:
            raise UsageError(f'there is no Dask scheduler at "{self.on}": {error}') from None

    def _local_cluster(self, distributed: Any) -> Any:
        """A scheduler in this process, and workers that it starts."""
        environment = {VARIABLE: os.environ.get(VARIABLE, "")}  # in the workers it is as it was
        self._open.enter_context(safe_path())  # as long as the cluster may start workers again
        count = self.count or available_cores()
        try:
            return distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address=_dashboard(), env=environment
            )
        except RuntimeError as error:
            cause = error.__cause__ or error
            raise ComputationError(
                f"the local Dask cluster did not start: a worker process ended before it was ready ({cause}).\n"
                '  Try: fewer workers, if memory is short; on="cores", which starts processes without Dask.'
            ) from None

    def _share(self) -> None:
        """Sends the recipe to all workers, once; with every task, if there are none or one ends meanwhile."""
        self._sent = self._pickled
        if not self.workers:
            return
        try:
            self._sent = self._client.scatter(self._pickled, broadcast=True, hash=False)
        except Exception:  # Dask raises many types for a worker that has ended
            if getattr(self._client, "status", "running") != "running":
                raise

    @property
    def workers(self) -> int:
        """Threads of all workers of the cluster at this moment."""
        try:
            info = self._client.scheduler_info(n_workers=-1)
        except TypeError:
            info = self._client.scheduler_info()
        return sum(int(one["nthreads"]) for one in info.get("workers", {}).values())

    @property
    def words(self) -> str:
        """Where it computes, with the address of the dashboard."""
        link = getattr(self._client, "dashboard_link", "") or ""
        return f"by {counted(self.workers, 'worker')} of Dask" + (f" (dashboard: {link})" if link else "")

    def submit(self, key: int, task: Task) -> None:
        """Adds a task."""
        self._pending[key] = _Pending(key, task, self._submitted(task))

    def _submitted(self, task: Task) -> Any:
        return self._client.submit(compute_task, self._sent, task, pure=False)

    @property
    def waiting(self) -> int:
        """Tasks that are not returned yet."""
        return len(self._pending) + len(self._found)

    def wait(self, timeout: float) -> list[Done]:
        """What finished since the last call; submits everything again if the scheduler was lost."""
        distributed = needed("distributed", "a Dask cluster")
        try:
            if getattr(self._client, "status", "running") not in ("running", "connecting"):
                raise CancelledError
            futures = [one.future for one in self._pending.values()]
            try:
                with self._client.as_current():
                    distributed.wait(futures, timeout=timeout, return_when="FIRST_COMPLETED")
            except (NotYet, TimeoutError):
                return []
            for one in [one for one in self._pending.values() if one.future.done()]:
                self._take(one)
        except (CancelledError, OSError):  # errors of Dask's connections are OSErrors
            self._again()
        found, self._found = self._found, []
        return found

    def _take(self, one: _Pending) -> None:
        """Takes over what became of a task; raises CancelledError if the cluster lost it, or lost its result."""
        from distributed.scheduler import KilledWorker

        if one.future.status in ("cancelled", "lost"):
            raise CancelledError
        try:
            part = one.future.result(timeout=GATHER)
        except CancelledError:
            raise
        except KilledWorker as error:
            self._found.append(Done(one.key, None, WorkerDied(f"workers of Dask died of the same task: {error}")))
        except Exception as error:
            if one.future.status != "error":  # not the task's error: its result was on its way
                raise CancelledError from error
            self._found.append(Done(one.key, None, error))
        else:
            self._losses = 0
            self.ended += len(one.task)
            self._found.append(Done(one.key, part, None, part.seconds))
        one.future.release()
        del self._pending[one.key]

    def _again(self) -> None:
        """Connects to the scheduler again, and submits all tasks that it has lost."""
        import time

        self._losses += 1
        if self._losses > MOST_LOSSES:
            raise ComputationError(f"the Dask cluster lost its work {self._losses} times in a row; see its log")
        until = time.monotonic() + self.patience
        while True:
            try:
                if self._own:
                    _quietly(self._client.close)
                    self._connect(CONNECT)
                self._share()
                for one in self._pending.values():
                    one.future = self._submitted(one.task)
                return
            except (UsageError, OSError, CancelledError, NotYet) as error:
                if time.monotonic() > until:
                    raise ComputationError(
                        f"the Dask scheduler was lost and did not come back within {self.patience:.0f} s: {error}"
                    ) from None
                time.sleep(1.0)

    def close(self) -> None:
        """Drops what was not finished; ends a local cluster."""
        for one in self._pending.values():
            _quietly(one.future.cancel)
        if self._own and self._client is not None:
            _quietly(self._client.close)
        if self._cluster is not None:
            _quietly(self._cluster.close)
        self._open.close()


def _quietly(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception:  # whatever a lost cluster raises while it is left
        return


def _dashboard() -> str | None:
    """The dashboard, at a free port, if the package that draws it is there."""
    return ":0" if importlib.util.find_spec("bokeh") is not None else None


def make_runner(on: Any, recipe: Recipe, work: Work, workers: int | None, little: bool) -> Runner:
    """What computes the tasks of a study.

    Args:
        on: None or "cores": processes of this machine; "here": this process; "dask": a local Dask cluster; an address
            such as "tcp://host:8786", or a client: that cluster; any executor of ``concurrent.futures``.
        recipe: of the study.
        work: made from it, for processes that inherit it.
        workers: number of processes; default: the number of cores.
        little: whether there is so little to do that processes are not worth starting.

    Raises:
        UsageError: it is none of these.
        NotSupported: Dask is not installed, or the study cannot be sent to other processes.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise UsageError(f"workers must be a positive integer, found {workers!r}")
    if on == "here":
        return Here(work)
    if on in (None, "cores"):
        count = workers or available_cores()
        if (little and workers is None) or (count == 1 and on is None):
            return Here(work)
        return Processes(work, (Work, (recipe,)), count).__enter__()
    if on == "dask" or (isinstance(on, str) and "://" in on):
        return Dask(recipe, on, workers)
    if isinstance(on, Executor):
        return Futures(on, recipe, workers)
    if type(on).__module__.partition(".")[0] == "distributed" and hasattr(on, "submit"):
        return Dask(recipe, on, workers)
    raise UsageError(
        'on is "cores", "here", "dask", the address of a Dask scheduler such as "tcp://host:8786", a Dask client or an '
        f"executor of concurrent.futures, found {on!r:.80}"
    )
