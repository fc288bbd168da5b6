"""django_punctual.testing in another project: it works on a database that the test runner made, and on no other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from django_punctual import schedule
from tests.support.engine import row
from tests.support.marks import commits
from tests.support.stack import ROOT, url_of_test_database

pytestmark = commits

# Its configured database is that of the test around it, which has tables and a task that is due. Its test database gets
# no tables: that would take longer than all of the rest.
SETTINGS = """
import os

from scheduler_project.env import database_settings

SECRET_KEY = "shop"
USE_TZ = True
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "django_punctual", "orders"]
DATABASES = {"default": database_settings(os.environ["DATABASE_URL"])}
DATABASES["default"]["TEST"] = {"MIGRATE": False} | eval(os.environ["TEST_OPTIONS"])
PUNCTUAL = {"REDIS_URL": os.environ["REDIS_URL"]}
"""
HANDLERS = """
from django_punctual import handler

@handler("T_QUIET")
def quiet(task): ...
"""
NAMES = "from django.db import connection\nfrom django_punctual.testing import frozen_clock, run_due, scheduled\n"
DECLARED = NAMES + "def test(punctual):\n    assert connection.settings_dict['NAME'] == 'test_' + {name!r}\n"
TOO_LATE = "def test_{name}(request):\n    request.getfixturevalue({fixture!r})\n    {call}\n"
REFUSED = {"run": "run_due()", "scheduled": "scheduled('T_QUIET')", "clock": "frozen_clock().__enter__()"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "__init__.py").touch()
    (tmp_path / "orders" / "handlers.py").write_text(HANDLERS)
    (tmp_path / "shop_settings.py").write_text(SETTINGS)
    (tmp_path / "pytest.ini").touch()
    return tmp_path


def run_tests(project: Path, test: str, options: dict | None = None) -> subprocess.CompletedProcess:
    (project / "test_orders.py").write_text(test)
    plugins = ["-p", "no:cacheprovider", "-p", "pytest_django.plugin", "-p", "django_punctual.testing.plugin"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, "test_orders.py"],
        cwd=project,
        env={
            **{key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "TEST_"))},
            "DATABASE_URL": url_of_test_database(),
            "DJANGO_SETTINGS_MODULE": "shop_settings",
            "PYTHONPATH": f"{project}:{ROOT}",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "TEST_OPTIONS": repr(options or {}),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )


def own_name() -> str:
    return connection.settings_dict["NAME"]


def test_the_fixture_alone_makes_pytest_django_prepare_a_test_database(project):
    done = run_tests(project, DECLARED.format(name=own_name()))

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_configured_database_is_refused_with_the_way_out_and_its_tasks_are_not_run(project):
    task = schedule("T_QUIET", "real").task_id
    tests = [TOO_LATE.format(name=name, fixture="db", call=call) for name, call in REFUSED.items()]
    tests.append(TOO_LATE.format(name="fixture", fixture="punctual", call=REFUSED["run"]))

    done = run_tests(project, NAMES + "".join(tests))

    assert "4 failed" in done.stdout, done.stdout + done.stderr
    refused = (
        f"E +django_punctual.testing.refusing.NoTestDatabase: .* on test databases only, but this is '{own_name()}'"
    )
    assert len(re.findall(refused, done.stdout)) == 4
    assert "let the test have the fixture punctual or db as a parameter" in done.stdout
    assert (row(task).status, row(task).attempt) == ("INIT", 0)


def test_a_database_that_the_settings_name_as_one_for_tests_is_taken(project):
    task = schedule("T_QUIET", "of a test").task_id

    done = run_tests(
        project, NAMES + TOO_LATE.format(name="it", fixture="db", call="assert run_due() == 1"), {"NAME": own_name()}
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert row(task).status == "INIT"  # the fixture has rolled it back
