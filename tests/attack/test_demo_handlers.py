"""Handlers of the demo are for whoever plays with it: a deployment doesn't have them."""

import os
from pathlib import Path

import pytest

from tasks_app import embedded
from tests.support import nursery
from tests.support.embedded_stack import remove_home

LOOK = "from tasks_app.core.handlers import REGISTRY; print(*(one.name for one in REGISTRY))"


def types(home: Path, **env: str) -> list[str]:
    """The task types that the project's own settings know."""
    foreign = ("DJANGO_SETTINGS_MODULE", "DATABASE_URL", "REDIS_URL", "DEMO")
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    command = ("manage", "shell", "--no-imports", "--command", LOOK)
    ended = nursery.run(*command, env=kept | {"PUNCTUAL_HOME": str(home)} | env)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split()


def test_a_deployment_has_no_handler_of_the_demo(tmp_path):
    found = types(tmp_path, DATABASE_URL="postgresql:///none", REDIS_URL="redis://none")

    assert "ARTICLE_PUBLISH" in found
    assert [name for name in found if name.startswith("DEMO")] == []


@pytest.mark.parametrize("demo", [True, False])
def test_a_command_beside_a_stack_knows_the_same_handlers_as_that_stack(tmp_path, demo):
    try:
        with embedded.start(tmp_path / "home", postgres=False, demo=demo):
            assert ("DEMO_HELLO" in types(tmp_path / "home", DATABASE_URL="postgresql:///none")) == demo
    finally:
        remove_home(tmp_path / "home")
