"""One browser for all tests here; every test starts with empty tables.

PUNCTUAL_BROWSER=required, as `.ci/run` sets it, makes a missing browser a failure; otherwise the tests are skipped.
"""

import pytest


@pytest.fixture(autouse=True)
def visits(chromium, web, transactional_db):
    """Opens pages. Any complaint of the browser that the test did not forgive fails it."""
    from tests.support.browser import Visits

    visits = Visits(chromium, web.url)
    yield visits
    visits.close()
    assert visits.complaints == []


@pytest.fixture
def walk(request, visits):
    """One of tests/support/walks.py; it may not have taken more than it may."""
    from tests.support.walks import Walk

    walk = Walk(*request.param, visits)
    yield walk
    walk.over()


@pytest.fixture
def ann(transactional_db):
    """Who may edit articles."""
    from tests.support.browser import person
    from tests.support.editor import RIGHTS

    return person("ann", *RIGHTS)
