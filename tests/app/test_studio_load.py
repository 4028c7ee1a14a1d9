"""Many clients of one studio: everyone is answered, in turn, and memory and processes stay bounded."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import Counter

import pytest

from pendula.app.studio.crew import Crew, Worker, WorkFailed
from pendula.app.studio.guard import Refused
from pendula.app.studio.limits import WAITING_EACH, Limits
from tests.app.studio_server import PENDULUM, memory, studio

CLIENTS = 50
MOST_MEMORY = 400_000_000
"""The server holds no results and no mechanics: far less than this, whatever clients ask."""


class _Task:
    """Work that ends when the test says so."""

    def __init__(self) -> None:
        self.end = asyncio.Event()
        self.began = asyncio.Event()


@pytest.fixture
def crew(monkeypatch):
    """Workers without processes: their work is the request itself."""

    async def ask(self, request, seconds, tell):
        request["task"].began.set()
        await request["task"].end.wait()
        if request.get("fails"):
            raise WorkFailed("failed")
        return request["name"]

    monkeypatch.setattr(Worker, "ask", ask)
    return Crew(3, 2, 0)


async def _settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_one_client_never_has_all_workers_and_clients_take_turns(crew):
    async def scene():
        tasks = {name: _Task() for name in ("a1", "a2", "a3", "a4", "b1", "b2", "c1")}
        asked = {
            n: asyncio.create_task(crew.ask(n[0], {"task": t, "name": n}, 1.0)) for n, t in tasks.items() if n[0] == "a"
        }
        await _settled()
        assert [n for n, t in tasks.items() if t.began.is_set()] == ["a1", "a2"]  # the third worker is kept for others
        asked |= {
            n: asyncio.create_task(crew.ask(n[0], {"task": t, "name": n}, 1.0))
            for n, t in tasks.items()
            if n[0] in "bc"
        }
        await _settled()
        assert [n for n, t in tasks.items() if t.began.is_set()] == ["a1", "a2", "b1"]
        tasks["a1"].end.set()
        await _settled()
        # Client a has waited longest, but c has nothing running and came later than a's turn: all get theirs in turn.
        began = [n for n, t in tasks.items() if t.began.is_set()]
        assert len(began) == 4
        for _ in tasks:
            for task in tasks.values():
                if task.began.is_set():
                    task.end.set()
            await _settled()
        assert sorted(await asyncio.gather(*asked.values())) == sorted(tasks)

    asyncio.run(scene())


def test_a_later_client_comes_before_the_queue_of_an_earlier_one(crew):
    async def scene():
        order: list[str] = []

        async def one(name):
            task = _Task()
            task.end.set()
            await crew.ask(name[0], {"task": task, "name": name}, 1.0, begin=lambda: order.append(name))

        blocks = [_Task() for _ in range(3)]
        held = [asyncio.create_task(crew.ask(f"x{k}", {"task": t, "name": ""}, 1.0)) for k, t in enumerate(blocks)]
        await _settled()
        asked = [asyncio.create_task(one(f"a{k}")) for k in range(10)]
        await _settled()
        asked += [asyncio.create_task(one(f"b{k}")) for k in range(2)]
        await _settled()
        assert order == []
        blocks[0].end.set()
        await asyncio.gather(*asked)
        assert order.index("b0") <= 1
        assert order.index("b1") <= 3
        for task in blocks:
            task.end.set()
        await asyncio.gather(*held)

    asyncio.run(scene())


def test_cancelled_and_failed_work_gives_its_worker_back(crew):
    async def scene():
        for fails in (True, False):
            tasks = [_Task() for _ in range(6)]
            asked = [
                asyncio.create_task(crew.ask(f"c{k}", {"task": t, "name": k, "fails": fails}, 1.0))
                for k, t in enumerate(tasks)
            ]
            await _settled()
            for k in (0, 5):  # one that runs and one that waits
                asked[k].cancel()
            await _settled()
            for task in tasks:
                task.end.set()
            ended = await asyncio.gather(*asked, return_exceptions=True)
            kinds = [type(end) for end in ended]
            assert kinds == [asyncio.CancelledError, *[WorkFailed if fails else int] * 4, asyncio.CancelledError]
            assert len(crew._idle) == 3
            assert not crew._busy
            assert not crew._waiting

    asyncio.run(scene())


def test_a_queue_is_bounded(crew):
    async def scene():
        task = _Task()
        asked = [asyncio.create_task(crew.ask("a", {"task": task, "name": 0}, 1.0)) for _ in range(WAITING_EACH + 2)]
        await _settled()
        with pytest.raises(Refused) as refused:
            await crew.ask("a", {"task": task, "name": 0}, 1.0)
        assert refused.value.status == 429
        task.end.set()
        assert await crew.ask("b", {"task": task, "name": 1}, 1.0) == 1
        await asyncio.gather(*asked)

    asyncio.run(scene())


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory in /proc")
@pytest.mark.slow
@pytest.mark.parametrize("seconds", [2.0, 300.0])
def test_fifty_clients_at_once_are_all_answered_and_memory_stays_bounded(tmp_path, seconds):
    with studio(tmp_path) as place:
        place.client().result("linear")  # all is loaded
        before = memory(place.process.pid)
        counts = [Counter[int]() for _ in range(CLIENTS)]
        problems: list[str] = []
        jobs: list[tuple[str, str]] = []
        end = time.monotonic() + seconds

        def work(number: int) -> None:
            client = place.client(f"client-{number}")
            own = PENDULUM.replace("swing", f"swing {number}")
            name = f"model-{number}.toml"
            try:
                jobs.append((client.name, client.start("linear", own)))
                while True:
                    for method, path, data in [
                        ("POST", "/api/check", {"text": own}),
                        ("PUT", f"/api/models/{name}", {"text": own}),
                        ("GET", f"/api/models/{name}", None),
                        ("GET", "/api/files", None),
                        ("GET", "/api/jobs", None),
                        ("GET", "/api/models/nothing.toml", None),
                    ]:
                        answer = client.ask(method, path, data)
                        counts[number][answer.status] += 1
                        if data is not None and method == "POST" and answer.data["about"]["name"] != f"swing {number}":
                            problems.append(f"client {number} got the answer of another one")
                        if path.endswith(name) and method == "GET" and answer.data["text"] != own:
                            problems.append(f"client {number} read the model of another one")
                    if time.monotonic() > end:
                        return
            except Exception as error:
                problems.append(f"client {number}: {error!r}")

        threads = [threading.Thread(target=work, args=(k,)) for k in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []
        answers = sum(counts, Counter[int]())
        assert set(answers) == {200, 404}
        assert answers[200] == 5 * answers[404]
        for name, job in jobs:
            found = place.client(name).wait(job)
            assert found["result"]["eigenvalues"]
        limits = Limits()
        assert len(place.workers) <= limits.workers + 4
        after = memory(place.process.pid)
        print(f"{sum(answers.values())} answers; server {before / 1e6:.0f} MB before, {after / 1e6:.0f} MB after")
        assert after < MOST_MEMORY
        assert after - before < 100_000_000
