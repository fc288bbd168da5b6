"""The witness of sites can be believed: a start beside the site that is open is seen, one between two is none."""

import pytest

from chaos.sites import Seen, Started, wrong_starts

SEEN = [Seen(0, "main", 0.0), Seen(1, None, 10.0), Seen(1, "b", 10.5), Seen(2, None, 20.0), Seen(2, "main", 20.5)]
SITES = {1: "main", 2: "b"}
GOOD = [Started(1, 5.0), Started(1, 10.2), Started(2, 11.0), Started(2, 20.1), Started(1, 21.0)]


def found(*more: Started, seen=SEEN) -> list[str]:
    return list(wrong_starts(seen, [*GOOD, *more], SITES))


def test_starts_while_their_site_is_open_or_none_is_are_right():
    assert found() == []


@pytest.mark.parametrize("wrong", [Started(1, 10.6), Started(2, 9.9), Started(2, 30.0)])
def test_a_start_while_another_site_is_open_is_seen(wrong):
    [words] = found(wrong)

    assert words.startswith("1 batches were started by another site while")


def test_a_run_without_a_switch_or_with_an_idle_site_proves_nothing():
    assert "no other site was ever opened" in found(seen=SEEN[:1])
    assert next(wrong_starts(SEEN, GOOD[:2], SITES)) == "b was open for 10 s and started nothing"
