"""Points at which a study samples its parameters: random, Latin hypercube, and scrambled Sobol designs.

Sample k of a design depends on the seed, the replicate, k and the name of the quantity, and on nothing else, so a study
gives the same points in chunks of any size and after it was extended. A Latin hypercube is the exception: its points
depend on how many there are, so it grows by further replicates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pendula.errors import UsageError

Array = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint64]

DESIGNS = ("random", "latin", "sobol")
DISTRIBUTIONS = {"uniform": "low, high", "normal": "mean, sigma", "loguniform": "low, high"}
"""distributions and their two numbers"""

BITS = 32
"""binary digits of a Sobol point; those below them are random"""
BLOCK = 2048
"""Sobol points that are scrambled together: their digits fit the processor's cache"""
MOST_SOBOL = 2**30
"""samples of one Sobol sequence"""
SMALLEST = 2.0**-54
"""replaces a zero among uniform numbers, which the normal distribution would send to minus infinity"""


def draws(
    design: str,
    over: Mapping[str, tuple[str, float, float]],
    count: int,
    *,
    seed: int = 0,
    replicate: int = 0,
    first: int = 0,
    last: int | None = None,
) -> dict[str, Array]:
    """Sampled values by name.

    Each name has a separate random stream: adding a name (for Sobol, after the others) leaves the values of the rest
    as they were. Replicates are independent randomizations of the same design.

    Sobol points are scrambled as Owen proposed (nested uniform scrambling, 1995), with a hash in place of his tree of
    random permutations. SciPy's quicker scrambling (Matousek's linear one) has the same variance, but for smooth
    functions the means of its replicates have heavy tails, and intervals from them cover too often.

    Args:
        design: ``"random"``, ``"latin"`` (hypercube) or ``"sobol"`` (scrambled; best with 2, 4, 8, ... samples).
        over: by name, the distribution with its two numbers: ``("uniform", low, high)``, ``("normal", mean, sigma)``
            or ``("loguniform", low, high)``.
        count: samples of one replicate. It changes the points of a Latin hypercube only.
        seed: any integer from 0.
        replicate: number of the randomization, from 0.
        first, last: gives samples first, ..., last - 1 only.

    Raises:
        UsageError: an unknown design or distribution, or numbers it cannot use.

    Example:
        >>> over = {"m": ("uniform", 1.0, 2.0), "l": ("normal", 1.0, 0.1)}
        >>> whole = draws("sobol", over, 8, seed=1)
        >>> part = draws("sobol", over, 16, seed=1, first=4, last=6)
        >>> bool((part["m"] == whole["m"][4:6]).all())
        True
        >>> sorted((whole["m"] * 8).astype(int).tolist())  # one in each eighth of the range
        [8, 9, 10, 11, 12, 13, 14, 15]
    """
    end = count if last is None else last
    _check_counts({"count": count, "seed": seed, "replicate": replicate, "first": first, "last": end}, count)
    if design not in DESIGNS:
        raise UsageError(f'unknown design "{design}": try one of {", ".join(DESIGNS)}')
    for name, given in over.items():
        _check_distribution(name, given)
    if design == "random":
        unit = {name: _random(_stream(seed, replicate, name), first, end) for name in over}
    elif design == "latin":
        unit = {name: _strata(_stream(seed, replicate, name), count)[first:end] for name in over}
    else:
        unit = _sobol(list(over), seed, replicate, first, end)
    return {name: _mapped(unit[name], *over[name]) for name in over}


def _check_counts(found: dict[str, int], count: int) -> None:
    for name, number in found.items():
        if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < 0:
            raise UsageError(f"{name} of a design must be an integer from 0, found {number!r}")
    if not found["first"] <= found["last"] <= count:
        raise UsageError(f"a design of {count} samples has no samples {found['first']} to {found['last']}")


def _check_distribution(name: str, given: Any) -> None:
    known = "; ".join(f"{kind} ({numbers})" for kind, numbers in DISTRIBUTIONS.items())
    if not isinstance(given, tuple | list) or len(given) != 3:
        raise UsageError(f'"{name}": a distribution is a name with two numbers, found {given!r}; try one of {known}')
    kind, *numbers = given
    if kind not in DISTRIBUTIONS:
        raise UsageError(f'"{name}": unknown distribution {kind!r}; try one of {known}')
    try:
        a, b = (float(x) for x in numbers)
    except (TypeError, ValueError):
        a = b = np.nan
    if not np.isfinite([a, b]).all():
        raise UsageError(f'"{name}": {kind} takes two finite numbers ({DISTRIBUTIONS[kind]}), found {numbers}')
    if kind == "normal" and b < 0:
        raise UsageError(f'"{name}": sigma of a normal distribution must not be negative, found {b:g}')
    if kind != "normal" and a > b:
        raise UsageError(f'"{name}": {kind} goes from a smaller to a larger number, found {a:g}, {b:g}')
    if kind == "loguniform" and a <= 0:
        raise UsageError(f'"{name}": both ends of a loguniform range must be positive, found {a:g}, {b:g}')


def _mapped(u: Array, kind: str, a: float, b: float) -> Array:
    """Numbers between 0 and 1 as values of a distribution, by its inverse."""
    if kind == "normal":
        from scipy.special import ndtri

        return np.asarray(a + b * ndtri(np.maximum(u, SMALLEST)))
    if kind == "loguniform":
        return np.clip(np.exp(np.log(a) + u * np.log(b / a)), a, b)
    return np.minimum(a + u * (b - a), b)


def _stream(seed: int, replicate: int, name: str) -> np.random.SeedSequence:
    return np.random.SeedSequence([seed, replicate, *name.encode()])


def _random(stream: np.random.SeedSequence, first: int, end: int) -> Array:
    """Numbers ``first`` to ``end`` of a stream. Philox counts, so it starts anywhere, four numbers at a step."""
    bits = np.random.Philox(stream)
    bits.advance(first // 4)
    return np.random.Generator(bits).random(end - first + first % 4)[first % 4 :]


def _strata(stream: np.random.SeedSequence, count: int) -> Array:
    """One number in each of ``count`` equal parts of [0, 1), in random order (McKay, Beckman and Conover 1979)."""
    rng = np.random.Generator(np.random.Philox(stream))
    return (rng.permutation(count) + rng.random(count)) / max(count, 1)


def _sobol(names: list[str], seed: int, replicate: int, first: int, end: int) -> dict[str, Array]:
    """Scrambled Sobol points; name number j has dimension j (direction numbers of Joe and Kuo, from SciPy)."""
    from scipy.stats import qmc

    if end > MOST_SOBOL:
        raise UsageError(f"one Sobol sequence gives at most {MOST_SOBOL} samples, found {end}: try several replicates")
    if len(names) > qmc.Sobol.MAXDIM:
        raise UsageError(f"Sobol designs have at most {qmc.Sobol.MAXDIM} quantities, found {len(names)}")
    wanted = end - first
    if not names or not wanted:
        return {name: np.empty(wanted) for name in names}
    sequence = qmc.Sobol(len(names), scramble=False, bits=BITS)
    if first:
        sequence.fast_forward(first)
    # From the start SciPy wants a power of two; more than needed is cut off.
    points = sequence.random(wanted if first else 1 << (wanted - 1).bit_length())[:wanted]
    digits = (points * 2.0**BITS).astype(np.uint64)
    return {name: _scrambled(digits[:, j], _stream(seed, replicate, name)) for j, name in enumerate(names)}


def _scrambled(x: Bits, stream: np.random.SeedSequence) -> Array:
    """Nested uniform scrambling of base 2: each digit is flipped, or not, by a hash of all digits before it."""
    keys = stream.generate_state(BITS + 1, np.uint64)
    below = np.arange(BITS, dtype=np.uint64)[:, None]  # digits below the one that is flipped
    result = np.empty(x.size)
    for start in range(0, x.size, BLOCK):
        own = x[start : start + BLOCK]
        flips = _hash((own >> (below + np.uint64(1))) ^ keys[:BITS, None]) >> np.uint64(63)
        digits = own ^ np.bitwise_or.reduce(flips << below, axis=0)
        rest = (_hash(own ^ keys[BITS]) >> np.uint64(11)) * 2.0**-53
        # The sum may round up to 1, which does not belong to [0, 1).
        result[start : start + BLOCK] = np.minimum((digits + rest) * 2.0**-BITS, 1 - 2.0**-53)
    return result


def _hash(x: Bits) -> Bits:
    """Well-mixed 64 bits (the finalizer of SplitMix64, twice, since neighbouring prefixes differ in one bit)."""
    for _ in range(2):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return x
