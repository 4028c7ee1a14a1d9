"""Model files from seeds: random valid mechanisms of every joint and force, changed in structure, values or text."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from functools import cache
from typing import Any

from pendula import library
from pendula.model.files import data_text, to_data
from pendula.model.forces.registry import FORCES
from pendula.model.joints import JOINTS
from tests.fuzz import hostile
from tests.helpers.random_mechanisms import random_mechanism
from tests.model.kitchen_sink import PLANE

BASES = 240
"""different mechanisms that are changed"""
MOST_TEXT = 300_000
"""characters of a text that is changed as text"""

Data = dict[str, Any]
Place = tuple[Any, Any]
"""a table or list, and the key or index in it"""


@cache
def base(number: int) -> Data:
    """Plain data of a valid mechanism; read it, do not change it."""
    entries = list(library.mechanisms().values())
    if number % 4 == 3:
        return to_data(entries[(number // 4) % len(entries)].make())
    return to_data(random_mechanism(number, closed=False))


@cache
def small_bases() -> tuple[int, ...]:
    """Mechanisms of at most two bodies: every command is quick with them."""
    return tuple(number for number in range(BASES) if len(base(number)["bodies"]) <= 2)


def model_text(seed: int, *, small: bool = False) -> str:
    """The text of the model file of a seed; ``small`` ones have few bodies, unless a change repeats them."""
    rng = random.Random(seed)
    if rng.random() < 0.02:
        return changed_text(PLANE, rng)
    data = copy.deepcopy(base(rng.choice(small_bases()) if small else rng.randrange(BASES)))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5, 8))):
        rng.choice(CHANGES)(data, rng)
    text = data_text(data) if not _odd_keys(data) else data_text({str(k): x for k, x in data.items()})
    return changed_text(text, rng) if rng.random() < 0.2 else text


# --- places in the data ---------------------------------------------------------------------------------------


def places(data: Any) -> list[Place]:
    """Every entry of every table and list."""
    found: list[Place] = []
    level = [data]
    while level:
        inside = []
        for part in level:
            keys = list(part) if isinstance(part, dict) else range(len(part))
            found += [(part, key) for key in keys]
            inside += [part[key] for key in keys if isinstance(part[key], (dict, list))]
        level = inside
    return found


def _some_place(data: Data, rng: random.Random) -> Place:
    found = places(data)
    return rng.choice(found) if found else (data, "name")


def _odd_keys(data: Data) -> bool:
    return not all(isinstance(key, str) for key in data)


def _bodies(data: Data) -> list[Any]:
    bodies = data.get("bodies")
    return [b.get("name") for b in bodies if isinstance(b, dict)] if isinstance(bodies, list) else []


def hostile_value(rng: random.Random) -> Any:
    """Any value."""
    kind = rng.choice((hostile.EXPRESSIONS, hostile.EXPRESSIONS, hostile.NAMES, hostile.NUMBERS, hostile.OTHERS))
    return copy.deepcopy(rng.choice(kind))


# --- changes --------------------------------------------------------------------------------------------------


def remove(data: Data, rng: random.Random) -> None:
    """Leaves something out."""
    part, key = _some_place(data, rng)
    part.pop(key, None) if isinstance(part, dict) else part.pop(key)


def repeat(data: Data, rng: random.Random) -> None:
    """Writes an entry of a list twice."""
    lists = [(part, key) for part, key in places(data) if isinstance(part, list)]
    if lists:
        part, key = rng.choice(lists)
        part.insert(rng.randrange(len(part) + 1), copy.deepcopy(part[key]))


def replace(data: Data, rng: random.Random) -> None:
    """Puts anything in place of something."""
    part, key = _some_place(data, rng)
    part[key] = hostile_value(rng)


def replace_alike(data: Data, rng: random.Random) -> None:
    """Puts a number for a number, a text for a text."""
    part, key = _some_place(data, rng)
    if isinstance(part[key], str):
        part[key] = rng.choice(hostile.EXPRESSIONS + hostile.NAMES)
    elif isinstance(part[key], (int, float)):
        part[key] = rng.choice((*hostile.NUMBERS, *hostile.EXPRESSIONS))


def exchange(data: Data, rng: random.Random) -> None:
    """Exchanges two parts."""
    one, other = _some_place(data, rng), _some_place(data, rng)
    first, second = copy.deepcopy(one[0][one[1]]), copy.deepcopy(other[0][other[1]])
    one[0][one[1]] = second
    other[0][other[1]] = first


def rename(data: Data, rng: random.Random) -> None:
    """Misspells a field, or gives it another name."""
    tables = [(part, key) for part, key in places(data) if isinstance(part, dict)]
    if not tables:
        return
    part, key = rng.choice(tables)
    word = str(key)
    k = rng.randrange(len(word) + 1)
    other = rng.choice((word[:k] + word[k + 1 :], word[:k] + "x" + word[k:], word.upper(), rng.choice(hostile.NAMES)))
    part[other] = part.pop(key)


def other_type(data: Data, rng: random.Random) -> None:
    """Gives a joint or force another type, with the fields of the old one."""
    section, registry = rng.choice((("joints", JOINTS), ("forces", FORCES)))
    entries = data.get(section)
    if isinstance(entries, list) and entries:
        entry = rng.choice(entries)
        if isinstance(entry, dict):
            entry["type"] = rng.choice([*registry])


def closing_joint(data: Data, rng: random.Random) -> None:
    """Adds a joint between any two bodies; loops need not close."""
    names = ["ground", *_bodies(data)]
    kinds = [name for name in JOINTS if rng.random() < 0.3 or JOINTS[name].closing]
    joint: Data = {"name": f"c{rng.randrange(3)}", "type": rng.choice(kinds)}
    joint |= {
        side: {"body": rng.choice(names), "position": [rng.choice((0, 0.5, "a")), 0]} for side in ("parent", "child")
    }
    if joint["type"] == "coupling":
        joint = {
            "name": joint["name"],
            "type": "coupling",
            "value": rng.choice(("j1 - 2*j2", "j1", "j1**2", "0", "j1/0")),
        }
    if isinstance(data.get("joints"), list):
        data["joints"].append(joint)


def another_body(data: Data, rng: random.Random) -> None:
    """Lets a joint or force refer to another body, or to none."""
    names = ["ground", "nothing", *_bodies(data)]
    spots = [(part, key) for part, key in places(data) if key == "body" and isinstance(part, dict)]
    if spots:
        part, key = rng.choice(spots)
        part[key] = rng.choice(names)


def formula(data: Data, rng: random.Random) -> None:
    """Writes a formula of known names in place of a number."""
    names = (
        [*data.get("parameters", {}), "t", "j1", "j1_dot", "F"] if isinstance(data.get("parameters"), dict) else ["t"]
    )
    one, other = str(rng.choice(names)), str(rng.choice(names))
    shapes = ("{0}/({1} - {1})", "{0}**{1}", "sqrt({0})*{1}", "{0} if {1} > 0 else 1/{0}", "abs({0})/{1}", "atan2({0}, {1})",
              "log({0})", "{0}*{1}/0", "tan({0}*90deg)", "min({0}, {1})", "floor({0})", "exp(1000*{0})", "sign({0} - {1})")  # fmt: skip
    spots = [(part, key) for part, key in places(data) if isinstance(part[key], (int, float, str))]
    if spots:
        part, key = rng.choice(spots)
        part[key] = rng.choice(shapes).format(one, other)


def enlarge(data: Data, rng: random.Random) -> None:
    """Repeats a part many times."""
    if rng.random() < 0.9:
        return repeat(data, rng)
    times = rng.choice(hostile.SIZES)
    part, key = _some_place(data, rng)
    value = part[key]
    if isinstance(value, list) and len(places(value)) * times < 60_000:
        part[key] = [copy.deepcopy(x) for x in value for _ in range(times)]
    elif isinstance(value, str):
        part[key] = value * times
    elif isinstance(value, dict):
        part[key] = {f"{k}{n}": copy.deepcopy(x) for n in range(times) for k, x in list(value.items())[:5]}


def nest(data: Data, rng: random.Random) -> None:
    """Wraps a part in lists or tables."""
    part, key = _some_place(data, rng)
    value = part[key]
    for _ in range(rng.choice((1, 1, 2, 5, 40))):
        value = [value] if rng.random() < 0.5 else {"x": value}
    part[key] = value


CHANGES: tuple[Callable[[Data, random.Random], None], ...] = (
    remove, remove, repeat, replace, replace, replace_alike, replace_alike, replace_alike, exchange, rename, other_type,
    closing_joint, closing_joint, another_body, formula, formula, formula, enlarge, nest,
)  # fmt: skip


# --- the text -------------------------------------------------------------------------------------------------


def changed_text(text: str, rng: random.Random) -> str:
    """The text with a few letters or lines left out, put in, repeated or exchanged."""
    if len(text) > MOST_TEXT:
        return text
    for _ in range(rng.choice((1, 1, 2, 4))):
        k = rng.randrange(len(text) + 1)
        end = min(len(text), k + rng.choice((1, 1, 2, 10, 100)))
        way = rng.randrange(6)
        if way == 0:
            text = text[:k] + text[end:]
        elif way == 1:
            text = (
                text[:k]
                + rng.choice((*"[]{}=\"'#.,\n\\\t\r\0-+_e0", "[[", "]]", '"""', "'''", "\r\n", "\ufeff", "\u2028"))
                + text[k:]
            )
        elif way == 2:
            text = text[:end] + text[k:end] + text[end:]
        elif way == 3:
            text = text[:k]
        elif way == 4:
            lines = text.split("\n")
            rng.shuffle(lines)
            text = "\n".join(lines)
        else:
            text = text[:k] + rng.choice(hostile.EXPRESSIONS + hostile.NAMES) + text[end:]
    return text
