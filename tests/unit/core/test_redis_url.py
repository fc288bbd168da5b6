"""What a URL with sentinels means, and which can't be meant."""

import pytest

from tasks_app.core.redis_url import Sentinels, problems_of


def test_sentinels_the_master_and_the_database_are_named():
    found = Sentinels.of("sentinel://ann:pass%40word@one:26380,two,[::1]:26381/shop/3")

    assert found.addresses == [("one", 26380), ("two", 26379), ("::1", 26381)]
    assert (found.master, found.db, found.secret) == ("shop", 3, {"username": "ann", "password": "pass@word"})


def test_the_database_and_the_password_may_be_left_out():
    found = Sentinels.of("sentinel://one/shop")

    assert (found.addresses, found.master, found.db, found.secret) == ([("one", 26379)], "shop", 0, {})


@pytest.mark.parametrize(
    "url",
    ["sentinel://one", "sentinel:///shop", "sentinel://one,,two/shop", "sentinel://one/shop/x", "sentinel://one:x/s"],
)
def test_what_can_not_be_read_is_refused_without_its_password(url):
    [words] = problems_of(url, "REDIS_URL")

    assert words.startswith("REDIS_URL begins with sentinel://, and can't be read; it must be like sentinel://")
