"""How the pages of products say figures."""

import pytest

from inventory_app.admin.words import pace, share


@pytest.mark.parametrize(
    ("a_second", "words"),
    [
        (1234.5, "1,234 a second"),
        (12.345, "12.3 a second"),
        (1, "1 a second"),
        (0.5, "30 a minute"),
        (500 / 864_000, "2.08 an hour"),
        (1 / 864_000, "0.1 a day"),
        (0.01 / 86_400, "0.01 a day"),
        (1e-5 / 86_400, "less than 0.01 a day"),
        (0, "0 a day"),
    ],
)
def test_a_pace_is_told_in_the_unit_in_which_it_is_once_or_more(a_second, words):
    assert pace(a_second) == words


@pytest.mark.parametrize(
    ("part", "words"), [(12.345, "1,234%"), (0.125, "12.5%"), (0.0001, "0.01%"), (1e-7, "<0.01%"), (0, "0%")]
)
def test_a_share_is_told_in_percent_and_never_as_a_power_of_ten(part, words):
    assert share(part) == words
