import pytest


@pytest.fixture
def api(db):
    # Imported here: this file is read before Django is set up.
    from tests.support.api import Api
    from tests.support.live import a_beat_is_alive

    a_beat_is_alive()
    return Api()
