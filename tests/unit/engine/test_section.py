"""A dict of the settings as a dataclass: whoever asks gets it as it is now, and as its fields say."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from django.test import override_settings

from django_punctual.settings import Section, reader


class Refused(Exception):
    """An app's own error."""


@dataclass(frozen=True)
class Shop(Section):
    SETTING: ClassVar[str] = "SHOP"
    ERROR: ClassVar[type[Exception]] = Refused

    WAIT_SECONDS: float = 1.0
    LEAD_SECONDS: float | None = None
    WORDS: tuple[str, ...] = ("a",)
    MOST: int = 5

    def _problems(self):
        if self.WAIT_SECONDS <= 0:
            yield "too short"
        if self.MOST > 9:
            yield "too many"


shop = reader(Shop)


def test_it_is_read_again_when_the_setting_changes_and_only_then():
    first = shop()
    with override_settings(SHOP={"MOST": 7}):
        assert shop().MOST == 7
        changed = shop()
        with override_settings(PUNCTUAL={}):
            assert shop() is changed
    assert shop() == first == Shop()


def test_values_become_what_their_fields_say():
    given = Shop.from_settings({"WAIT_SECONDS": 2, "LEAD_SECONDS": 3, "WORDS": ["b"], "MOST": 4})

    assert [type(value) for value in (given.WAIT_SECONDS, given.LEAD_SECONDS, given.MOST)] == [float, float, int]
    assert given.WORDS == ("b",)
    assert Shop.from_settings({}).LEAD_SECONDS is None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"WAIT_SECONDS": 0, "MOST": 10}, "too short\ntoo many"),
        ({"WAIT": 1}, 'SHOP["WAIT"] is not a setting; there are LEAD_SECONDS, MOST, WAIT_SECONDS, WORDS.'),
    ],
)
def test_what_is_wrong_is_said_all_at_once_in_the_apps_own_error(values, words):
    with pytest.raises(Refused) as refused:
        Shop.from_settings(values)

    assert str(refused.value) == words
