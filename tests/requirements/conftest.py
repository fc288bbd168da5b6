"""Every test here runs with the settings that ship, so that a number of a requirement is asserted at its default.

The other folders have short leases and keep every event (`tests/settings.py`). Here neither the test process
(`shipped`) nor the processes that it starts (`stack`) do.
"""

import shutil

import pytest


@pytest.fixture(autouse=True)
def shipped(settings) -> None:
    """What `scheduler_project` ships; the addresses are those of the test servers."""
    # Imported here: this file is read before Django is set up.
    from scheduler_project import settings as project

    for section in ("PUNCTUAL", "ARTICLES", "STOCK"):
        setattr(settings, section, dict(getattr(project, section)))


@pytest.fixture
def stack(transactional_db):
    """Real beats and workers with the same settings, instead of those of `tests/settings.py`."""
    from tests.support.stack import new_stack

    stack = new_stack("tests.requirements.shipped_settings")
    yield stack
    stack.stop()
    shutil.rmtree(stack.folder, ignore_errors=True)
