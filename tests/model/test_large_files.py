"""Model files beyond the limits are refused by counting, before they are parsed; those within the limits are read."""

from __future__ import annotations

import time

import pytest

import pendula
from pendula.errors import ModelError
from pendula.model import files

HEAD = 'name = "x"\ngravity = [0, 0, 0]\n'
BODIES = HEAD + "".join(f'[[bodies]]\nname = "b{k}"\nm = 1\n' for k in range(100_000))

TOO_LARGE = {
    "bodies": (BODIES, "100000 bodies exceed the 5000 allowed"),
    "joints": (HEAD + "  [[ joints ]]\n" * 10_001, "10001 joints exceed the 10000 allowed"),
    "tables": (HEAD + "".join(f"[parameters.p{k}]\n" for k in range(100_000)), "it has 100000 tables, at most 60000"),
    "values": (HEAD + "a = [" + "1," * 400_001 + "]", "more than 200000 numbers"),
    "keys": (HEAD + "".join(f"p{k}.q.r.s=1\n" for k in range(250_000)), "more than 200000 numbers"),
}


@pytest.mark.parametrize("kind", TOO_LARGE)
def test_a_file_beyond_the_limits_is_refused_without_parsing_it(kind, monkeypatch):
    text, cause = TOO_LARGE[kind]
    monkeypatch.setattr(files.tomllib, "loads", lambda text: pytest.fail("it was parsed"))
    with pytest.raises(ModelError, match=cause):
        pendula.loads(text)


def test_a_chain_of_thousands_of_bodies_is_read():
    chain = pendula.library.chain(links=2000)
    text = pendula.dumps(chain)
    begun = time.process_time()
    assert pendula.loads(text) == chain
    print(f"{len(text)} characters in {time.process_time() - begun:.1f} s")
