"""Figures for people."""

import math

import pytest

from tasks_app.core.phrases import figure


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (1, "1"),
        (2.5, "2.5"),
        (-2.5, "-2.5"),
        (1 / 3, "0.333333"),
        (123_456.7, "123,457"),
        (999_999.7, "1,000,000"),
        (1_000_000, "1,000,000"),
        (1_234_567.0, "1,234,567"),
        (0.1 + 0.2, "0.3"),
        (0.000_001, "0.000001"),
        (-2e6, "-2,000,000"),
    ],
)
def test_a_figure_has_no_exponent_and_a_large_one_all_its_digits(value, words):
    assert figure(value) == words


@pytest.mark.parametrize(("value", "words"), [(1_234.5, "1,234"), (12.345, "12.3"), (0.000_012_345, "0.0000123")])
def test_a_fraction_has_as_many_digits_as_are_asked_for(value, words):
    assert figure(value, 3) == words


@pytest.mark.parametrize("value", [1e300, -1e15, 1e-300, math.inf])
def test_what_nobody_would_write_out_has_one(value):
    assert figure(value) == f"{value:g}"
