"""A copy of the database that does anything is seen."""

import pytest

from chaos.copies import FIGURES, wrong_copy

ASLEEP = dict.fromkeys(FIGURES, 7)


def test_a_copy_that_stays_as_it_is_passes():
    assert list(wrong_copy(ASLEEP, ASLEEP, "QUARANTINED", [])) == []


@pytest.mark.parametrize("name", FIGURES)
def test_whatever_a_copy_does_is_seen(name):
    [told] = wrong_copy(ASLEEP, ASLEEP | {name: 8}, "QUARANTINED", [])

    assert told == f"{name} in the copy: 7 when it was taken, and 8 at its end"


def test_a_copy_that_nobody_took_for_one_is_seen():
    assert list(wrong_copy(ASLEEP, ASLEEP, "ACTIVE", ["copy-beat"])) == [
        "the copy is ACTIVE, and not in quarantine",
        "copy-beat of the copy has not noticed what it is on",
    ]
