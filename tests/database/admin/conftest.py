"""Who looks at the operators' pages of tasks. Pages of something else have people of their own, by the same names."""

import pytest

VIEW, OPERATE = "punctual.view_scheduletask", "punctual.operate_scheduletask"


@pytest.fixture
def operator():
    return _client("olga", VIEW, OPERATE)


@pytest.fixture
def viewer():
    return _client("vera", VIEW)


@pytest.fixture
def stranger():
    return _client("sam")


def _client(name: str, *rights: str):
    # Imported here: this file is read before Django is set up.
    from tests.support.browser import person
    from tests.support.clients import client_of

    return client_of(person(name, *rights))
