"""Pictures of slices of studies: they state which value they show, and refuse values that the study does not have."""

import numpy as np
import pytest

import pendula
from pendula.errors import UsageError


@pytest.fixture(scope="module")
def found():
    over = {"l": [2.0, 0.5, 1.0], "theta": "-3:3:5"}
    return pendula.sweep("pendulum", over, ["end", "states"], duration=1.0, samples=3, on="here")


@pytest.mark.parametrize(
    ("at", "place", "title"),
    [
        ({"l": 1.1}, (2, slice(None)), "15 cases, l = 1 m"),
        ({"l": "50 cm"}, (1, slice(None)), "15 cases, l = 0.5 m"),
        ({"theta": "80deg"}, (slice(None), 3), f"15 cases, theta = {np.degrees(1.5):.6g} deg"),
    ],
)
def test_a_slice_shows_and_states_the_nearest_value(found, at, place, title):
    ax = pendula.plot(found, quantity="end.theta", at=at).axes[0]
    assert ax.get_title(loc="left") == title
    drawn = np.concatenate([line.get_ydata() for line in ax.lines])
    np.testing.assert_allclose(np.sort(drawn), np.sort(np.degrees(found["end.theta"][place])), atol=1e-9)


@pytest.mark.parametrize(
    ("quantity", "at", "words"),
    [
        ("end.theta", {"l": 10}, '"l" goes from 0.5 to 2 m, found 10'),
        ("end.theta", {"theta": "-4"}, '"theta" goes from -3 to 3 rad'),
        ("state.theta", {"l": 1.0, "t": 5.0}, '"t" goes from 0 to 1 s, found 5.0'),
        ("end.theta", {"g": 9.81}, 'is over l, theta, and not over "g"'),
    ],
)
def test_a_slice_beyond_the_study_is_refused(found, quantity, at, words):
    with pytest.raises(UsageError, match=words):
        pendula.plot(found, quantity=quantity, at=at)
