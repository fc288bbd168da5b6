"""Marks and settings of tests that need a database."""

import pytest

# Real commits, for races, wake-ups and worker code. After such a test the tables that it has written to are emptied.
commits = pytest.mark.django_db(transaction=True)

# However slow the machine, a lease then runs out only where a test says so.
LONG_LEASES = {"DISPATCH_LEASE_SECONDS": 3600.0, "RUN_LEASE_SECONDS": 3600.0}
