"""A chaos run whose processes end while they come up says so at once, and ends."""

from types import SimpleNamespace

import pytest

from chaos.fleet import Fleet
from chaos.runner import _Run
from chaos.scenarios import ALL
from tests.support.marks import commits

pytestmark = commits


@pytest.fixture
def run(tmp_path):
    """Of a stack whose database answers nobody, since only its processes count here."""
    stack = SimpleNamespace(
        folder=tmp_path, services=None, standby=None, env={"DATABASE_URL": f"postgresql:///none?host={tmp_path}"}
    )
    made = _Run(ALL["small"], 1, stack)
    made.fleet = Fleet(tmp_path, {"DJANGO_SETTINGS_MODULE": "chaos.settings", "PUBLIC_URL": "nonsense"})
    yield made
    made.fleet.stop()


def test_a_process_whose_settings_are_refused_ends_the_run_and_says_why(run):
    run.fleet.start(beats=["beat-1"], workers=[])

    with pytest.raises(SystemExit) as ended:
        run._wait_for_fleet()

    assert str(ended.value).startswith("the fleet can't come up: beat-1 ended with exit code 1.")
    assert "PUBLIC_URL is 'nonsense'" in str(ended.value)
