"""``--at`` with some values says what the coordinates are that it does not name."""

from __future__ import annotations


def test_values_that_are_not_given_are_said_to_be_zero(pendula):
    found = pendula("modes", "cart-pole", "--at", "theta=0")
    assert found.code == 0
    assert "the values given with --at; x, not given, at zero" in found.out


def test_a_refusal_says_which_values_were_assumed(pendula):
    found = pendula("linearize", "cart-pole", "--at", "theta=0.1")
    assert found.code == 2
    assert "x, not given, at zero" in found.err
    assert "The nearest equilibrium is" in found.err


def test_a_free_coordinate_may_have_any_value(pendula):
    zero = pendula("linearize", "gyroscope", "--at", "phi=0")
    other = pendula("linearize", "gyroscope", "--at", "phi=0.3")
    for found in (zero, other):
        assert found.code == 2
        assert "equilibria 1, 2" in found.err
        assert "such as theta" in found.err
    assert pendula("linearize", "gyroscope", "--at", "phi=0.3,theta=90deg").code == 0


def test_all_values_need_no_words_about_others(pendula):
    found = pendula("modes", "pendulum", "--at", "theta=0")
    assert "not given" not in found.out
