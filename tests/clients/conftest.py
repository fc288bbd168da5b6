import pytest

from clients.__main__ import make_clients

make_clients()  # before the tests import them; there is nothing to do if `make clients` ran


@pytest.fixture
def token(transactional_db) -> str:
    """That may write; and somebody dispatches."""
    # Imported here: this file is read before Django is set up.
    from tasks_app.engine.operations.api_tokens import issue
    from tests.support.live import a_beat_is_alive
    from tests.support.operators import operator

    a_beat_is_alive()
    return issue("of a client", "default", operator(), can_write=True)[1]
