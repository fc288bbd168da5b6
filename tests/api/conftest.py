import pytest


@pytest.fixture
def api(db):
    # Imported here: this file is read before Django is set up.
    from tests.support.api import Api
    from tests.support.live import a_beat_is_alive

    a_beat_is_alive()
    return Api()


def pytest_collection_modifyitems(items) -> None:
    """Since pytest 9.2, Schemathesis gives the tests of all operations one id: nobody could tell which one failed."""
    for item in items:
        if label := getattr(item, "operation_label", None):
            item._id = item.id.with_params(label)
