"""The ways in, used as a person would: commands without a stack, a wrong pool, the demo."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings

from tests.support import nursery
from tests.support.stack import ROOT, url_of_test_database


def run(*command: str, timeout: float = 60, **env: str) -> subprocess.CompletedProcess:
    clean = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    return nursery.run(*command, env=clean | {"DJANGO_SETTINGS_MODULE": "tests.settings"} | env, timeout=timeout)


@pytest.mark.parametrize(
    "command",
    [("manage", "migrate"), ("celery", "-A", "scheduler_project", "beat")],
    ids=["manage.py", "celery"],
)
def test_without_a_stack_there_is_one_clear_sentence(command, tmp_path):
    ended = run(*command, PUNCTUAL_HOME=str(tmp_path))

    assert ended.returncode == 1
    assert "no stack is running" in ended.stderr
    assert "make up" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_database_url_that_is_no_url_is_refused_in_one_sentence(tmp_path):
    ended = run("manage", "check", DATABASE_URL="mysql://x", REDIS_URL="redis://x", PUNCTUAL_HOME=str(tmp_path))

    assert ended.returncode == 1
    assert "it must be postgresql://" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_status_of_a_database_that_does_not_answer_is_exit_code_two(tmp_path):
    ended = run("manage", "scheduler_status", PUNCTUAL_HOME=str(tmp_path))

    assert ended.returncode == 2
    assert "The database does not answer" in ended.stderr


@pytest.mark.django_db
def test_a_worker_with_a_pool_that_can_not_end_handlers_is_refused():
    ended = run(
        *("celery", "-A", "scheduler_project", "worker", "-P", "threads"),
        DATABASE_URL=url_of_test_database(),
        REDIS_URL=settings.PUNCTUAL["REDIS_URL"],
    )

    assert ended.returncode != 0
    assert "-P prefork" in ended.stderr + ended.stdout


def test_what_a_beat_or_worker_loads_at_its_start_is_not_the_web_process(tmp_path):
    look = "from scheduler_project.celery import app; app.loader.import_default_modules(); import sys; "
    look += "print(*{'ninja', 'tasks_app.api', 'scheduler_project.urls'} & sys.modules.keys())"
    env = {"DATABASE_URL": "postgresql:///none", "REDIS_URL": "redis://none", "PUNCTUAL_HOME": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", look], cwd=ROOT, env=os.environ | env, capture_output=True, text=True, timeout=60
    )

    assert (ended.returncode, ended.stdout.strip()) == (0, ""), ended.stderr


SHOP = """
import django, json, sys
from django.conf import settings

apps = ["django.contrib.contenttypes", "django.contrib.auth", "django_punctual"]
database = {"ENGINE": "django.db.backends.postgresql", "NAME": "shop"}
settings.configure(USE_TZ=True, INSTALLED_APPS=apps, DATABASES={"default": database})
django.setup()
from django_punctual import handler, schedule
packages = sorted({name.partition(".")[0] for name in sys.modules})
ours = sum(name.partition(".")[0] in ("django_punctual", "tasks_app") for name in sys.modules)
print(json.dumps([packages, ours]))
"""


def test_a_project_pays_little_for_having_it_installed():
    ended = subprocess.run([sys.executable, "-c", SHOP], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    packages, ours = json.loads(ended.stdout)

    heavy = {"celery", "kombu", "redis", "ninja", "pydantic", "unfold", "prometheus_client", "pyarrow", "opentelemetry"}
    assert {"django", "tasks_app"} <= {*packages} and not heavy & {*packages}
    assert 100 < ours <= 170


@pytest.mark.scale
def test_the_demo_keeps_its_promises():
    ended = run("scheduler_project.demo", timeout=100)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "All 8 promises held" in ended.stdout
