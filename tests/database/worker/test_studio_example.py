"""The example of a system that reports later: a film is handed over, and comes back by a call to a signed address."""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from django_punctual import find, schedule
from django_punctual.testing import run_due
from tasks_app.core.handlers import REGISTRY
from tests.support.marks import commits
from tests.support.wait import wait_until

pytestmark = commits

STUDIO = Path(__file__).resolve().parents[3] / "examples" / "film_studio.py"


@pytest.fixture
def _studio(monkeypatch, settings, live_server) -> Iterator[None]:
    """The demo's handlers, which a deployment has not; the studio; and the API, where it can reach it."""
    importlib.reload(importlib.import_module("demo_app.handlers"))
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_URL": f"{live_server.url}/api/v1"}
    command = [sys.executable, STUDIO, "--port", "0", "--seconds", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        monkeypatch.setenv("STUDIO_URL", process.stdout.readline().split()[-1])
        yield
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        for name in [one.name for one in REGISTRY if one.name.startswith("DEMO_")]:
            REGISTRY.discard(name)


@pytest.mark.usefixtures("_studio")
def test_films_are_converted_elsewhere_and_come_back():
    schedule("DEMO_CONVERT", "film-7")
    schedule("DEMO_CONVERT", "broken")

    run_due()
    good, bad = (wait_until(lambda key=key: _over(key), timeout=20) for key in ("film-7", "broken"))

    assert (good.status, good.result) == ("SUCCESS", {"film": "film-7", "reels": 5})
    assert (bad.status, bad.error_code) == ("DEAD", "BROKEN_FILM")


def _over(key: str):
    task = find("DEMO_CONVERT", key)
    return None if task.live else task
