"""Marks for tests that need a database."""

import pytest

# Real commits, for races, wake-ups and worker code. Only the tables that such a test writes are emptied after it:
# emptying all of them, and making Django's permissions anew, takes longer than the test.
commits = pytest.mark.django_db(transaction=True, available_apps=["tasks_app", "tests.support.testapp"])
