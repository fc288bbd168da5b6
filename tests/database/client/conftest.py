"""The typed handlers are there for the tests of this folder, and gone for all others."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _typed_handlers():
    from tasks_app.core.handlers import REGISTRY
    from tests.support.testapp import typed

    for one in typed.DECLARED:
        REGISTRY.add(one)
    yield
    for one in typed.DECLARED:
        REGISTRY.discard(one.name)


@pytest.fixture(autouse=True)
def _nothing_seen(_typed_handlers):
    from tests.support.testapp import typed

    typed.SEEN.clear()
