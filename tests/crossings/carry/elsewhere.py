"""Simulates in a process of its own: pickled systems and settings come in, pickled runs go out."""

from __future__ import annotations

import pickle
import sys

import pendula


def main() -> None:
    """Answers until the input ends."""
    out = sys.stdout.buffer
    sys.stdout = sys.stderr
    while size := int.from_bytes(sys.stdin.buffer.read(8), "big"):
        system, settings = pickle.loads(sys.stdin.buffer.read(size))
        answer = pickle.dumps(pendula.simulate(system, **settings))
        out.write(len(answer).to_bytes(8, "big") + answer)
        out.flush()


if __name__ == "__main__":
    main()
