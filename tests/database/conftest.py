"""What several folders of database tests need."""

import pytest


@pytest.fixture
def no_past_left():
    """For a test that makes partitions: others expect to find none but their own."""
    # Imported here: this file is read before Django is set up.
    from tests.support.past import drop_past

    yield
    drop_past()
