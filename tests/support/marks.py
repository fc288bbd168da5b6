"""Marks and settings of tests that need a database."""

import pytest

# Real commits, for races, wake-ups and worker code. Only the tables that such a test writes are emptied after it:
# emptying all of them, and making Django's permissions anew, takes longer than the test.
APPS = ["tasks_app", "articles_app", "inventory_app", "tests.support.testapp"]
commits = pytest.mark.django_db(transaction=True, available_apps=APPS)

# However slow the machine, a lease then runs out only where a test says so.
LONG_LEASES = {"DISPATCH_LEASE_SECONDS": 3600.0, "RUN_LEASE_SECONDS": 3600.0}
