"""The Celery app for `celery -A django_punctual`, which starts a beat or a worker of Punctual in any Django project.

The beat scans the database for due tasks in `tasks_app/engine/beat/dispatcher.py`, which `engine/beat/process.py` runs
in place of Celery's own schedule. The worker runs published batches in `tasks_app/engine/worker/executor.py`.
"""

import logging
import os
import re
import sys
import traceback

import django
from celery.signals import setup_logging
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from .conf import conf
from .core.errors import InvalidConfiguration
from .core.memory import loading
from .engine.celery_app import app, find_project_app

__all__ = ["app"]

NO_SETTINGS = (
    "DJANGO_SETTINGS_MODULE is not set. Set it to your project's settings, as manage.py does: "
    "`DJANGO_SETTINGS_MODULE=shop.settings celery -A django_punctual …`."
)
_NOT_INSTALLED = re.compile(r"Model class (\S+)\.models\.\S+ doesn't declare an explicit app_label")
NO_REDIS = (
    'PUNCTUAL["REDIS_URL"] is not set. Beats and workers meet there; set it to redis://host:6379/0 in the settings.'
)


@setup_logging.connect
def keep_django_logging(loglevel: int | str = logging.WARNING, format: str = logging.BASIC_FORMAT, **_: object) -> None:
    """Django's LOGGING setting configures logging. If it gives the root logger no handler, log to stderr as Celery
    would, because Celery's own loggers have a handler that drops everything."""
    if not logging.getLogger().handlers:
        logging.basicConfig(level=loglevel, format=format)


def _set_up() -> None:
    # `celery` has its own folder on the path, and the project's folder only while it imports this module.
    sys.path.insert(0, os.getcwd())
    if not os.environ.get("DJANGO_SETTINGS_MODULE"):
        raise SystemExit(f"celery: {NO_SETTINGS}")
    try:
        with loading():
            django.setup()
        _quieten_celery()
        if not apps.is_installed("tasks_app"):
            raise SystemExit(f"celery: {_not_installed('django_punctual')}")
        find_project_app()
        if not conf().REDIS_URL:
            raise SystemExit(f"celery: {NO_REDIS}")
        app.conf.broker_url  # noqa: B018  (reads all of its options)
    except (ImproperlyConfigured, InvalidConfiguration) as error:
        raise SystemExit(f"celery: {error}") from None
    except (ImportError, RuntimeError) as error:
        # Celery would report an ImportError as a missing module.
        if (words := _what_is_missing(error)) is None:
            raise
        raise SystemExit(f"celery: {words}") from None


def _quieten_celery() -> None:
    """Celery logs two lines for every message, including canaries, and neither names the tasks. `batch.done` replaces
    them. To see them anyway, set the level of these loggers."""
    for name in ("celery.worker.strategy", "celery.app.trace"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)


def _what_is_missing(error: Exception) -> str | None:
    """The message about an app that is missing or not installed, or None for other errors."""
    if found := _NOT_INSTALLED.match(str(error)):
        return _not_installed(found[1])
    if not isinstance(error, ImportError):
        return None
    named = _apps_of_settings()
    if named is None:
        return f"{error}. DJANGO_SETTINGS_MODULE is {os.environ['DJANGO_SETTINGS_MODULE']!r}; correct the name there."
    for one in named:
        if error.name and f"{one}.".startswith(f"{error.name}."):
            return f"INSTALLED_APPS has {one!r}, but there is no such module. Install its package or correct the name."
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "importlib" not in one.filename]
    return f"the project can't be loaded: {error} ({frames[-1].filename}, line {frames[-1].lineno})."


def _apps_of_settings() -> list[str] | None:
    try:
        return list(settings.INSTALLED_APPS)
    except ImportError:
        return None


def _not_installed(app: str) -> str:
    return f'{app!r} is not in INSTALLED_APPS, and Punctual needs it. Add it: INSTALLED_APPS += ["{app}"].'


_set_up()
