"""What goes wrong in the first hour of a team that tries Punctual: each thing is said in a sentence, with the fix."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.support import nursery
from tests.support.stack import ROOT, url_of_test_database
from tests.support.wait import seen_within

SETTINGS = """
import os

from scheduler_project.env import database_settings

SECRET_KEY = "shop"
USE_TZ = True
ROOT_URLCONF = "shop_urls"
INSTALLED_APPS = [app for app in "{apps}".split() if app not in os.environ["WITHOUT"]]
INSTALLED_APPS += os.environ["WITH"].split()
DATABASES = {{"default": database_settings(os.environ["DATABASE_URL"])}}
PUNCTUAL = eval(os.environ["SHOP_PUNCTUAL"])
"""
APPS = "django.contrib.contenttypes django.contrib.auth django_punctual orders"
URLS = "from django.urls import include, path\nurlpatterns = [path('punctual/', include('django_punctual.urls'))]\n"
HANDLERS = "from django_punctual import handler\n\n@handler('ORDER_SEND')\ndef send(task): ...\n"
# What each of them says when it fails. One process for all: its start takes longer than what they do.
IN_TURN = """
import contextlib, io, json, traceback
import django
django.setup()
from django.core.management import execute_from_command_line
from django_punctual import schedule

def said(call):
    with contextlib.redirect_stdout(io.StringIO()) as words, contextlib.redirect_stderr(words):
        try:
            call()
            return "It worked."
        except SystemExit as end:
            return words.getvalue() if end.code else "It worked."
        except Exception:
            traceback.print_exc()
            return words.getvalue()

commands = {"status": ["scheduler_status"], "dlq": ["dlq", "list"], "jobs": ["jobs", "list"]}
all_said = {"schedule": said(lambda: schedule("ORDER_SEND", "a"))}
all_said |= {name: said(lambda: execute_from_command_line(["manage.py", *one])) for name, one in commands.items()}
raise SystemExit(json.dumps(all_said))
"""
NOWHERE = "postgresql:///nothing?host=/nowhere"


class Shop:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database_url = NOWHERE
        (folder / "orders").mkdir()
        (folder / "orders" / "__init__.py").touch()
        (folder / "orders" / "handlers.py").write_text(HANDLERS)
        (folder / "shop_settings.py").write_text(SETTINGS.format(apps=APPS))
        (folder / "shop_urls.py").write_text(URLS)

    def python(self, module: str, *arguments: str, **env: str) -> str:
        """What it said; it must not have worked."""
        done = nursery.run(module, *arguments, env=self._env(env), timeout=120)
        assert done.returncode != 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def code(self, text: str) -> str:
        """The last line of what it said."""
        (self.folder / "its_code.py").write_text(text)
        return self.python("its_code").splitlines()[-1]

    def log_of(self, what: str, until: str = "manage.py migrate", **env: str) -> str:
        """What a beat or a worker logs. It doesn't end by itself: people may migrate, or start Redis, later."""
        log = self.folder / f"{what}.log"
        log.touch()
        running = nursery.start("celery", "-A", "django_punctual", what, env=self._env(env), log=str(log))
        try:
            seen_within(lambda: until in log.read_text() or running.poll() is not None, 60)
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        return log.read_text()

    def _env(self, env: dict[str, str]) -> dict[str, str]:
        given = {"DATABASE_URL": self.database_url, "DJANGO_SETTINGS_MODULE": "shop_settings"}
        given |= {"PYTHONPATH": f"{self.folder}:{ROOT}", "WITHOUT": "", "WITH": ""}
        given |= {"SHOP_PUNCTUAL": repr({"REDIS_URL": os.environ["REDIS_URL"]})}
        return os.environ | given | env

    def celery(self, what: str, **env: str) -> str:
        return self.python("celery", "-A", "django_punctual", what, **env)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.fixture
def empty(shop: Shop, transactional_db) -> Iterator[Shop]:
    """With a database that has no tables yet."""
    name = f"empty_{os.getpid()}"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        there = url_of_test_database()
        shop.database_url = there.replace(f"/{psycopg.conninfo.conninfo_to_dict(there)['dbname']}?", f"/{name}?")
        yield shop
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize("app", ["django_punctual", "django.contrib.contenttypes"])
def test_celery_names_an_app_that_is_not_installed(shop, app):
    words = shop.celery("worker", WITHOUT=app).splitlines()

    assert words[-1] == (
        f'celery: {app!r} is not in INSTALLED_APPS, and Punctual needs it. Add it: INSTALLED_APPS += ["{app}"].'
    )


def test_celery_names_an_app_that_is_not_there_and_an_import_that_fails(shop):
    missing = shop.celery("worker", WITH="billing").splitlines()
    settings = shop.celery("beat", DJANGO_SETTINGS_MODULE="shop.settings").splitlines()
    (shop.folder / "orders" / "handlers.py").write_text("import nosuchlib\n")
    broken = shop.celery("beat").splitlines()

    assert missing[-1] == (
        "celery: INSTALLED_APPS has 'billing', but there is no such module. Install its package or correct the name."
    )
    assert settings[-1].endswith("DJANGO_SETTINGS_MODULE is 'shop.settings'; correct the name there.")
    assert broken[-1] == (
        f"celery: the project can't be loaded: No module named 'nosuchlib' ({shop.folder}/orders/handlers.py, line 1)."
    )


def test_a_wrong_setting_is_a_system_check_error(shop):
    said = shop.python("django", "check", SHOP_PUNCTUAL="'redis://user:secret@host/0'")

    assert "?: (punctual.E001) PUNCTUAL is a str; it must be a dict from names to values." in said
    assert "Traceback" not in said
    assert "secret" not in said


def test_before_migrate_each_way_in_says_to_run_it(empty):
    said = json.loads(empty.code(IN_TURN))
    said |= {"beat": empty.log_of("beat"), "worker": empty.log_of("worker")}

    assert {what: "manage.py migrate" in words for what, words in said.items()} == dict.fromkeys(said, True), said
    assert {what: "LINE 1" in words for what, words in said.items()} == dict.fromkeys(said, False), said


def test_a_worker_that_cannot_reach_redis_says_so_although_the_project_configures_no_logging(shop, transactional_db):
    shop.database_url = url_of_test_database()
    nowhere = repr({"REDIS_URL": "redis://127.0.0.1:1/0"})

    log = shop.log_of("worker", "Cannot connect", SHOP_PUNCTUAL=nowhere)

    assert "127.0.0.1:1/0: Error 111 connecting" in log


def test_celery_is_silent_about_messages_unless_the_project_wants_it(shop):
    code = """
import importlib, logging
import tasks_app.celery
loggers = [logging.getLogger(name) for name in ("celery.worker.strategy", "celery.app.trace")]
levels = [one.level for one in loggers]
loggers[0].setLevel("NOTSET")
loggers[1].setLevel("INFO")  # by the project
importlib.reload(tasks_app.celery)
raise SystemExit(str(levels + [one.level for one in loggers]))
"""
    assert shop.code(code) == "[30, 30, 30, 20]"
