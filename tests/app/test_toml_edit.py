"""Edits of model texts by a form: one place changes, every other character stays, and the data are the wanted ones."""

from __future__ import annotations

import copy
import tomllib

import numpy as np
import pytest

import pendula
from pendula.app.studio.text.model_text import check_data
from pendula.app.studio.text.toml_edit import edited, is_same
from pendula.app.studio.text.toml_places import find, statements

NASTY = '''\
# A cart, from the lecture; "quotes" and [brackets] = in a comment
name = 'cart "two"'   # a name with quotes
description = """
Two lines, with # no comment,
[[bodies]] and a quote " inside: """""
"gravity" = [0, # x
  "-g",  # y: down ] }
  0x0 ,]

[ parameters ]  # named numbers
	g = 9.81     # on Earth
"l one" = 1_000.50 # a quoted key = # two
'k#' = "3*g" # literal key
m.x = 1
m . "y" = 2  # dotted
big = 12345678901234567890
when = 1979-05-27 07:32:00  # a date

# the cart itself
[[bodies]]
name = "cart" # first
box = { mass = 2.0, size = [0.4, 0.2, 0.2] } # inline
  [bodies.points] # indented
  left = [-0.2, 0,
    0] # over two lines

# the rod
[[ bodies ]]
name = "rod"
rod.mass = 1.0 # kg
rod.length = 0.5 # m
[[bodies.shapes]]
kind = "rod"

# joints follow
[[joints]]
name = "x"
parent = {body = "ground"}
child = { body = "cart", rotation = { axis = [0, 0, 1], angle = "10deg" } }
[[joints]]
name = "theta" # the last line has no end'''


def change(text, act):
    """The text after a change of its data."""
    old = tomllib.loads(text)
    new = copy.deepcopy(old)
    act(new)
    found = edited(text, old, new, tomllib.loads)
    assert found is not None
    assert is_same(tomllib.loads(found), new)
    return found


def different_lines(before, after):
    """Lines that only one of two texts has."""
    a, b = before.splitlines(), after.splitlines()
    return [x for x in a if x not in b], [x for x in b if x not in a]


@pytest.mark.parametrize(
    ("place", "value", "was", "becomes"),
    [
        (("name",), "y", "name = 'cart \"two\"'   # a name with quotes", 'name = "y"   # a name with quotes'),
        (("gravity", 1), "-2*g", '  "-g",  # y: down ] }', '  "-2*g",  # y: down ] }'),
        (("gravity", 2), 1.5, "  0x0 ,]", "  1.5 ,]"),
        (("parameters", "g"), 1.62, "\tg = 9.81     # on Earth", "\tg = 1.62     # on Earth"),
        (("parameters", "l one"), 2, '"l one" = 1_000.50 # a quoted key = # two', '"l one" = 2 # a quoted key = # two'),
        (("parameters", "k#"), "g", "'k#' = \"3*g\" # literal key", "'k#' = \"g\" # literal key"),
        (("parameters", "m", "y"), 3, 'm . "y" = 2  # dotted', 'm . "y" = 3  # dotted'),
        (("parameters", "big"), 1, "big = 12345678901234567890", "big = 1"),
        (
            ("bodies", 0, "box", "size", 1),
            0.3,
            "box = { mass = 2.0, size = [0.4, 0.2, 0.2] } # inline",
            "box = { mass = 2.0, size = [0.4, 0.3, 0.2] } # inline",
        ),
        (("bodies", 0, "points", "left", 2), 7, "    0] # over two lines", "    7] # over two lines"),
        (("bodies", 1, "rod", "length"), "l", "rod.length = 0.5 # m", 'rod.length = "l" # m'),
        (("bodies", 1, "shapes", 0, "kind"), "disc", 'kind = "rod"', 'kind = "disc"'),
        (
            ("joints", 0, "child", "rotation", "angle"),
            0,
            'child = { body = "cart", rotation = { axis = [0, 0, 1], angle = "10deg" } }',
            'child = { body = "cart", rotation = { axis = [0, 0, 1], angle = 0 } }',
        ),
        (
            ("joints", 1, "name"),
            "phi",
            'name = "theta" # the last line has no end',
            'name = "phi" # the last line has no end',
        ),
    ],
)
def test_one_value_changes_and_nothing_else(place, value, was, becomes):
    def act(data):
        for part in place[:-1]:
            data = data[part]
        data[place[-1]] = value

    assert different_lines(NASTY, change(NASTY, act)) == ([was], [becomes])


@pytest.mark.parametrize(
    ("act", "gone", "fresh"),
    [
        (lambda d: d["parameters"].update(new=1), [], ["new = 1"]),
        (lambda d: d["bodies"][1]["rod"].update(diameter=0.1), [], ["rod.diameter = 0.1"]),
        (lambda d: d["bodies"][0]["points"].update(right=[1, 0, 0]), [], ["  right = [1, 0, 0]"]),
        (lambda d: d.update(units={"length": "mm"}), [], ["[units]", 'length = "mm"']),
        (lambda d: d.update(inputs={}, author="x"), [], ['author = "x"', "[inputs]"]),
        (lambda d: d["parameters"].pop("when"), ["when = 1979-05-27 07:32:00  # a date"], []),
        (
            lambda d: d["joints"][0]["parent"].update(at="tip"),
            ['parent = {body = "ground"}'],
            ['parent = {body = "ground", at = "tip"}'],
        ),
        (
            lambda d: d["bodies"][0]["box"].pop("mass"),
            ["box = { mass = 2.0, size = [0.4, 0.2, 0.2] } # inline"],
            ["box = { size = [0.4, 0.2, 0.2] } # inline"],
        ),
        (
            lambda d: d["joints"].append({"name": "pin", "type": "coincident"}),
            [],
            ['name = "pin"', 'type = "coincident"'],
        ),
        (
            lambda d: d["bodies"].pop(0),
            [
                "# the cart itself", "[[bodies]]", 'name = "cart" # first',
                "box = { mass = 2.0, size = [0.4, 0.2, 0.2] } # inline", "  [bodies.points] # indented",
                "  left = [-0.2, 0,", "    0] # over two lines",
            ],
            [],
        ),
    ],
)  # fmt: skip
def test_parts_come_and_go_and_the_rest_stays(act, gone, fresh):
    assert different_lines(NASTY, change(NASTY, act)) == (gone, fresh)


def test_a_renamed_parameter_keeps_its_place():
    def act(data):
        entries = [("gravity_here" if key == "g" else key, value) for key, value in data["parameters"].items()]
        data["parameters"] = dict(entries)

    found = change(NASTY, act)
    assert "\tgravity_here = 9.81     # on Earth\n" in found
    assert next(iter(tomllib.loads(found)["parameters"])) == "gravity_here"


def test_windows_line_ends_stay():
    text = 'name = "x" # one\r\n\r\n[parameters]\r\ng = 9.81\r\n'
    found = change(text, lambda data: data["parameters"].update(m=1))
    assert found == text + "m = 1\r\n"
    assert "\n" not in change(found, lambda d: d.update(bodies=[{"name": "a"}])).replace("\r\n", "")


def test_numbers_that_a_page_cannot_hold_are_not_changed_by_it():
    found = check_data({"name": "y", "big": 12345678901234567000}, 'name = "x" # n\nbig = 12345678901234567890\n')
    assert found["text"] == 'name = "y" # n\nbig = 12345678901234567890\n'
    assert not found["rewritten"]


def test_a_text_that_cannot_be_edited_is_written_anew_and_that_is_reported():
    old = "name = 'a' # note\n[[bodies]]\n[[bodies.shapes]]\nkind = 'rod'\n"
    data = tomllib.loads(old)
    data["bodies"][0]["shapes"].append({"kind": "disc"})
    found = check_data(data, old)
    assert found["rewritten"]
    assert is_same(tomllib.loads(found["text"]), data)
    assert not check_data(data)["rewritten"]  # there was nothing to keep
    assert check_data(data, "not TOML [")["rewritten"]


@pytest.mark.parametrize("name", pendula.library.mechanisms())
def test_random_edits_of_every_library_mechanism_keep_all_comments_outside(name):
    """Each line gets a comment; after random changes the data are as wanted and untouched lines are as they were."""
    rng = np.random.default_rng(7)
    plain = pendula.dumps(pendula.library.mechanisms()[name].make())
    text = "".join(f"{line} # note {k}\n" if line else "\n" for k, line in enumerate(plain.splitlines()))
    for _ in range(6):
        before, changed = text, {}

        def act(data, changed=changed):
            path = _random_place(data, rng)
            changed["path"] = path
            for part in path[:-1]:
                data = data[part]
            data[path[-1]] = float(rng.normal()) if rng.random() < 0.7 else f"{rng.integers(9)}*x # '\" [[a]]"

        text = change(text, act)
        assert sum("# note" in line for line in text.splitlines()) == sum("# note" in x for x in before.splitlines())
        gone, fresh = different_lines(before, text)
        assert len(gone) <= 1
        assert len(fresh) <= 1, (changed, gone, fresh)


def _random_place(data, rng):
    """The path of a number or text somewhere in the data."""
    path, here = [], data
    while isinstance(here, (dict, list)) and here:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        path.append(keys[rng.integers(len(keys))])
        here = here[path[-1]]
    return path


@pytest.mark.parametrize(
    "text",
    [
        "a = 1",
        "a = '''x'''''\nb = \"\"\"\"\"\"\n",
        'a = "\\"#\\\\" # c\n',
        "a = [ [1, 2], [ # c ]\n3 ] ]\n",
        "a = { b = { c = [ { d = 1 } ] } }\n",
        "[a]\n[a.b]\nc = 1\n[d]\n",
        '"\\u0061\\U00000062" = 1\n',
        "a = 1\r\n# c\r\n",
        "# only a comment",
        "",
        "a.b.c = 1\na.b.d = 2\n",
        "'' = 1\n",
        "x = nan\ny = -inf\nz = 0b1_0\nw = 1e-3\nt = 07:32:00.5\n",
    ],
)
def test_places_cover_what_tomllib_reads(text):
    def leaves(data, path=()):
        if isinstance(data, (dict, list)) and data:
            for key, value in data.items() if isinstance(data, dict) else enumerate(data):
                yield from leaves(value, (*path, key))
        else:
            yield path

    found = statements(text)
    headers = {one.path for one in found if one.entry is None}
    for path in leaves(tomllib.loads(text)):
        if not path or path in headers:
            continue
        entry, _ = find(path, found)
        assert entry is not None, path
        again = tomllib.loads(f"v = {text[entry.value.start : entry.value.end]}")["v"]
        wanted = tomllib.loads(text)
        for part in path:
            wanted = wanted[part]
        assert repr(again) == repr(wanted)


def test_a_hostile_text_takes_no_longer_than_its_length_allows():
    deep = "a = " + "[" * 300 + "]" * 300 + " # c\nb = 1\n"
    old = tomllib.loads(deep)
    found = edited(deep, old, {**old, "b": 2}, tomllib.loads)
    assert found in (None, deep.replace("b = 1", "b = 2"))
    many = "".join(f"k{k} = {k} # c\n" for k in range(100_000))
    data = tomllib.loads(many)
    assert edited(many, data, dict.fromkeys(data, 0), tomllib.loads) is None  # too much: it is written anew
