"""Whatever a race ends in, the rules of the database hold; and no lease runs out but those that a test lets run out."""

import pytest

from tests.support.marks import LONG_LEASES


@pytest.fixture(autouse=True)
def _consistent(transactional_db, settings):
    # Imported here: this file is read before Django is set up.
    from tasks_app.engine.doctor.whole import assert_consistent

    settings.PUNCTUAL = settings.PUNCTUAL | LONG_LEASES
    yield
    assert_consistent()
