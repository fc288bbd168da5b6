"""A drill whose processes end while they come up says so at once, and ends."""

import pytest

from tasks_app.drills.stack import Recipe, Stack
from tasks_app.embedded import EmbeddedError
from tests.support.marks import commits

pytestmark = commits


@pytest.fixture
def stack(tmp_path):
    """One whose database answers nobody, since only its process counts here."""
    given = {"folder": str(tmp_path), "name": "none", "user": "none", "hosts": str(tmp_path), "port": 5432}
    given |= {"redis_url": "redis://localhost:1/0", "secret_key": "k", "backup_urls": [], "backup_spool": ""}
    given |= {"punctual": {"RUN_LEASE_SECONDS": 5.0, "HEARTBEAT_SECONDS": 10.0}}
    made = Stack(tmp_path, None, None, None, given, Recipe(beats=1, workers=0))
    yield made
    made.stop()


def test_a_process_whose_settings_are_refused_ends_the_drill_and_says_why(stack):
    with pytest.raises(EmbeddedError) as ended:
        stack.start_fleet()

    assert str(ended.value).startswith("beat-1 ended with exit code 1.")
    assert "a lease must outlive two heartbeats" in str(ended.value)
