import pytest


@pytest.fixture
def caller(web, transactional_db):
    """Makes callers of the real web process, each with a token of its own."""
    # Imported here: this file is read before Django is set up.
    from tests.support.caller import Caller

    return lambda *args, **options: Caller(web.url, *args, **options)
