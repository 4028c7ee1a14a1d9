"""The driver of a study: splits cases into tasks of a good size, hands them out, and commits what comes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from pendula.errors import PendulaError, UsageError, WorkerDied
from pendula.interrupts import note_interrupt
from pendula.parallel.processes import Done
from pendula.storage.room import in_words, refuse_if_too_large
from pendula.studies.batch import reason, silent
from pendula.studies.plan import Plan
from pendula.studies.recipe import Part, Recipe, Task, Work
from pendula.studies.runners import Runner, make_runner
from pendula.studies.store import Store
from pendula.system.layout import Array
from pendula.words import counted

TARGET = 2.0
"""seconds of a task: long enough that handing it out costs nothing, short enough to lose little when a worker dies"""
LARGEST = 65_536
"""cases of a task"""
TASK_BYTES = 32e6
"""of results of a task"""
AHEAD = 2
"""tasks handed out for each worker"""
GROWTH = 4
"""a task is at most this many times larger than the last one"""
LITTLE = 1.0
"""seconds of work for which no processes are started"""
FIRST = 8
"""cases that are computed first, in this process, which compiles everything"""
POLL = 0.2

Progress = Callable[[int, int], object]


class Driver:
    """Computes cases of a study and keeps their parts, in a store or in memory.

    Attributes:
        parts: finished parts, if there is no store.
        known: which cases are finished, by number.
        words: where cases were computed.
        interrupted: whether a keyboard interrupt ended the work.
        seconds: per case, as measured so far.
    """

    def __init__(
        self, plan: Plan, recipe: Recipe, store: Store | None, *, on: Any, workers: int | None,
        on_progress: Progress | None = None, on_start: Callable[[str], object] | None = None,
    ) -> None:  # fmt: skip
        self.plan, self.recipe, self.store = plan, recipe, store
        self.parts: list[Part] = []
        self.known = np.zeros(plan.size, dtype=bool)
        self.words, self.interrupted = "in this process", False
        self.seconds, self.bytes = np.nan, 0.0
        self._on, self._workers = on, workers
        self._on_progress, self._on_start = on_progress, on_start
        self._work: Work | None = None
        self._runner: Runner | None = None
        self._last = FIRST
        self._already: list[tuple[Array, list[int]]] = []  # cases of earlier parts, and those that failed
        self._retry = ""

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *details: object) -> None:
        if self._runner is not None:
            self._runner.close()

    def extend(self, plan: Plan) -> None:
        """Goes on with a plan that has more cases at its end."""
        before = self.plan.size
        more = np.zeros(plan.size - before, dtype=bool)
        self.plan, self.known = plan, np.concatenate([self.known, more])
        self._mark(before)

    def mark_known(self, parts: Iterable[Part], retry: str = "") -> None:
        """Marks the cases that were finished before; with ``retry`` not those that failed."""
        self._already = [(part.cases, [*part.failures]) for part in parts]
        self._retry = retry
        self._mark(0)

    def _mark(self, first: int) -> None:
        for cases, failed in self._already:
            self.known[cases[(cases >= first) & (cases < self.plan.size)]] = True
            if self._retry:
                self.known[[case for case in failed if first <= case < self.plan.size]] = False

    def compute(self, cases: Array) -> None:
        """Computes cases that are not known yet, and commits them.

        Raises:
            UsageError: the first cases show that none can be computed, or results cannot be written; what was finished
                before is kept.
        """
        missing = cases[~self.known[cases]]
        if not missing.size or self.interrupted:
            return
        self._total = len(missing) + int(self.known.sum())
        try:
            if self._work is None:
                missing = self._begin(missing)
                self._refuse_too_large(len(missing))
            self._hand_out(missing)
        except KeyboardInterrupt:
            note_interrupt()
            self.interrupted = True
        self._show()

    def _begin(self, missing: Array) -> Array:
        """Computes the first cases here: everything is compiled before processes are forked, and cases are timed."""
        self._work = Work(self.recipe)
        if self._on in (None, "cores", "here"):
            for count in (1, FIRST):
                some, missing = missing[:count], missing[count:]
                if some.size:
                    self._add(self._work.first(Task.of(self.plan, some)) if count == 1 else self._here(some))
        return missing

    def _refuse_too_large(self, missing: int) -> None:
        """Refuses a study whose results would not fit, by the size of those of its first cases."""
        each = self.bytes
        refuse_if_too_large(
            f"{self.plan.size:,} cases of {in_words(each)} each",
            int(2 * each * self.plan.size),  # the arrays, and a part on its way into them
            disk={} if self.store is None else {self.store.folder: int(each * missing)},
            reduce="fewer results for each case, or several studies",
        )

    def _here(self, cases: Array) -> Part:
        assert self._work is not None
        begun = time.perf_counter()
        part = self._work(Task.of(self.plan, cases), silent)
        self.seconds = (time.perf_counter() - begun) / len(cases)
        return part

    def _hand_out(self, missing: Array) -> None:
        if not missing.size:
            return
        if self._runner is None:
            assert self._work is not None
            little = bool(self.seconds * len(missing) < LITTLE)
            self._runner = make_runner(self._on, self.recipe, self._work, self._workers, little)
            self.words = self._runner.words
            if self._on_start is not None:
                self._on_start(self.words)
        runner, tasks = self._runner, dict[int, Task]()
        waiting = self._sized(missing, runner)
        before = int(self.known.sum()) - runner.ended
        ended = False
        while True:
            while not ended and not runner.interrupted and runner.waiting < max(1, AHEAD * runner.workers):
                task = next(waiting, None)
                if task is None:
                    ended = True
                    break
                self._submit(runner, tasks, task)
            if not runner.waiting:
                break
            for done in runner.wait(POLL):
                self._take(runner, tasks, done)
            self._show(before + runner.ended)
        self.interrupted |= runner.interrupted

    def _submit(self, runner: Runner, tasks: dict[int, Task], task: Task) -> None:
        """Hands a task to the runner; after an interrupt, none is begun."""
        if not runner.interrupted:
            key = int(task.cases[0])
            tasks[key] = task
            runner.submit(key, task)

    def _sized(self, missing: Array, runner: Runner) -> Iterator[Task]:
        """Tasks of the missing cases, each made when it is asked for, with what is known of their cost by then."""
        at = 0
        while at < len(missing):
            fair = -(-(len(missing) - at) // (2 * max(1, runner.workers)))
            wanted = int(TARGET / self.seconds) if self.seconds > 0 else FIRST
            room = int(TASK_BYTES / self.bytes) if self.bytes > 0 else LARGEST
            size = max(1, min(wanted, fair, room, LARGEST, GROWTH * self._last))
            size = size - size % 8 if size > 8 else size  # lanes are full
            self._last = size
            yield Task.of(self.plan, missing[at : at + size])
            at += size

    def _take(self, runner: Runner, tasks: dict[int, Task], done: Done) -> None:
        task = tasks.pop(done.key)
        if done.error is None:
            part: Part = done.value
            each = part.seconds / max(1, len(task))
            self.seconds = each if not self.seconds > 0 else 0.5 * (self.seconds + each)
            self._add(part)
            return
        if isinstance(done.error, WorkerDied | MemoryError) and len(task) > 1:
            for half in task.halves():  # to find the case that it was, or because both halves fit
                self._submit(runner, tasks, half)
            return
        if isinstance(done.error, PendulaError) and not isinstance(done.error, WorkerDied):
            raise done.error
        failed = dict.fromkeys(map(int, task.cases), reason(done.error))
        self._add(Part(task.cases, task.values, (), failed, 0.0, {}))

    def _add(self, part: Part) -> None:
        """Commits a part, without cases that were interrupted."""
        part = part.finished()
        if not part.cases.size:
            return
        if self.store is None:
            self.parts.append(part)
        else:
            try:
                self.store.add(part)
            except UsageError as error:
                kept = counted(int(self.known.sum()), "case")
                raise UsageError(
                    f'{error}.\n  {kept} of {self.plan.size} are kept in "{self.store.folder}"; '
                    "the same call continues with the others."
                ) from None
        self.known[part.cases] = True
        self.bytes = part.size / max(1, len(part.cases))

    def _show(self, ended: int | None = None) -> None:
        if self._on_progress is not None:
            done = int(self.known.sum()) if ended is None else ended
            self._on_progress(min(done, self._total), self._total)
