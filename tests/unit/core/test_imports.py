"""Names that are imported when they are called: each is there."""

import re
import subprocess
import sys
from importlib import import_module

import pytest
from django.core.checks.registry import registry

from tasks_app.core.alarms import LOOKS
from tasks_app.core.imports import when_called
from tasks_app.hooks import connect_rules, register_checks
from tests.support.stack import ROOT

NAMED = sorted(
    {
        path
        for file in (ROOT / "tasks_app").rglob("*.py")
        for path in re.findall(r'"(tasks_app[.\w]*:\w+)"', file.read_text())
    }
)


def test_a_module_is_imported_with_the_first_call():
    asked = "from tasks_app.core.imports import when_called; import sys; "
    asked += "call = when_called('colorsys:rgb_to_hls'); print('colorsys' in sys.modules); "
    asked += "print(call(1, g=0, b=0)[2], 'colorsys' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, timeout=60)

    assert (ended.stdout.split(), ended.stderr) == (["False", "1.0", "True"], "")


def test_it_goes_by_the_name_of_the_function():
    call = when_called("tasks_app.deploy_checks:check_redis")

    assert (call.__module__, call.__qualname__) == ("tasks_app.deploy_checks", "check_redis")


def test_an_app_that_is_set_up_again_registers_nothing_twice():
    before = (len(registry.registered_checks), len(registry.deployment_checks), len(LOOKS))

    register_checks()
    connect_rules()

    assert (len(registry.registered_checks), len(registry.deployment_checks), len(LOOKS)) == before


@pytest.mark.parametrize("path", NAMED)
def test_what_is_named_is_there(path):
    module, _, name = path.partition(":")

    assert callable(getattr(import_module(module), name))


def test_the_names_are_found():
    assert len(NAMED) >= 19
