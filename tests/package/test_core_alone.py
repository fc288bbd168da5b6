"""The wheel without an extra, in a project that has no Celery app and no admin."""

import os
import subprocess
from pathlib import Path

from tests.support.clean_environment import asked_by, clean_environment

SETTINGS = """
SECRET_KEY = "a secret"
INSTALLED_APPS = ["tasks_app"]
ROOT_URLCONF = "tasks_app.urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "nowhere"}}
PUNCTUAL = {"REDIS_URL": "redis://127.0.0.1:1/0"}
"""
# As the program `celery` does it, whose own folder is on the path and not the project's.
LOAD = """
from celery.app.utils import find_app

app = find_app("tasks_app")
import late
from django.core.management import call_command
from tasks_app.urls import urlpatterns

call_command("check")
print(app.main, sorted(app.amqp.queues), late.ANSWER, urlpatterns)
"""


def test_a_beat_or_worker_of_a_project_without_anything_else_can_start(built, tmp_path: Path):
    programs = clean_environment(tmp_path / "venv", ["psycopg[binary]", "pip", *asked_by(built.wheel)])
    project = tmp_path / "project"
    project.mkdir()
    (project / "bare.py").write_text(SETTINGS)
    (project / "late.py").write_text("ANSWER = 42\n")

    def run(*command: str) -> str:
        env = {"DJANGO_SETTINGS_MODULE": "bare", "PIP_CONFIG_FILE": os.devnull, "HOME": str(tmp_path)}
        done = subprocess.run(
            [programs / "python", "-P", *command], cwd=project, env=env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "pip", "install", "--quiet", "--no-index", str(built.wheel))

    told = run("-c", LOAD)

    assert "punctual ['backfill', 'critical', 'default', 'deferred', 'high', 'low'] 42 []" in told
