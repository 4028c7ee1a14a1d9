"""Tables fit the page whatever is in them, and numbers keep their digits."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pendula.present import display_width, heading, number, table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.2340e-9, "1.234e-09"),
        (0.0, "0"),
        (-0.0, "0"),
        (0, "0"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (123456789, "123456789"),
        (10**400, "1e+400"),
        (1234567.0, "1.23457e+06"),
        (np.float32(0.5), "0.5"),
        (np.int64(7), "7"),
        (-1.5 + 2j, "-1.5 + 2i"),
        (complex(0, -1), "0 - 1i"),
    ],
)
def test_numbers_have_one_style(value, text):
    assert number(value) == text


def test_number_refuses_text():
    with pytest.raises(TypeError, match="not a number"):
        number("1")


@given(st.floats(-1e300, 1e300), st.integers(1, 15))
def test_numbers_read_back_to_their_digits(x, digits):
    assert float(number(x, digits)) == pytest.approx(x, rel=0.51 * 10.0 ** (1 - digits), abs=1e-320)


cells = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(max_size=120),
    st.text(alphabet="漢字é👩‍🚀\u0301\t\n\x1b[ ab", max_size=60),
)  # fmt: skip


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 14))
    rows = draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), max_size=5))
    return rows, draw(st.lists(st.text(max_size=40), min_size=columns, max_size=columns))


@settings(deadline=None)
@given(tables(), st.sampled_from([40, 80, 120]))
def test_tables_fit_the_page_and_show_every_number(content, width):
    rows, headers = content
    text = table(rows, headers, width=width)
    assert all(display_width(line) <= width for line in text.split("\n"))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    for row in rows:
        for cell in row:
            if isinstance(cell, (int, float)) and not isinstance(cell, bool):
                assert number(cell) in text


def test_numbers_are_right_aligned_and_text_left():
    lines = table([["a", 1.0], ["bbb", 22.5]], ["name", "value"]).split("\n")
    assert lines == ["name  value", "----  -----", "a         1", "bbb    22.5"]


def test_alignment_can_be_chosen():
    assert table([["a", 1]], ["name", "value"], align="rl").split("\n")[2] == "   a  1"
    with pytest.raises(ValueError, match="align"):
        table([["a", 1]], ["name", "value"], align="x")


def test_long_text_is_wrapped_and_long_words_are_elided():
    text = table([["word " * 30, 1.0], ["x" * 200, 2.0]], ["text", "value"], width=40)
    assert "…" in text
    assert all(len(line) <= 40 for line in text.split("\n"))


def test_too_many_columns_continue_below():
    text = table([["row", *[0.123456] * 20]], ["name", *[f"c{i}" for i in range(20)]])
    blocks = text.split("\n\n")
    assert len(blocks) == 3
    assert all(block.startswith("name") for block in blocks)


def test_ragged_rows_are_refused():
    with pytest.raises(ValueError, match="row 0 has 1 cells"):
        table([[1]], ["a", "b"])


def test_headings_are_underlined_to_their_width():
    assert heading("漢字") == "漢字\n===="
    assert heading("a", level=2) == "a\n-"
    assert display_width(heading("x " * 100).split("\n")[0]) <= 80
