"""What `celery -A tasks_app` starts: a beat or a worker of Punctual, in any Django project."""

import os
import sys

import django
from celery.signals import setup_logging
from django.core.exceptions import ImproperlyConfigured

from .conf import conf
from .core.errors import InvalidConfiguration
from .core.memory import loading
from .engine.celery_app import app, find_project_app

__all__ = ["app"]

NO_SETTINGS = (
    "DJANGO_SETTINGS_MODULE is not set. Set it to your project's settings, as manage.py does: "
    "`DJANGO_SETTINGS_MODULE=shop.settings celery -A tasks_app …`."
)
NO_REDIS = (
    'PUNCTUAL["REDIS_URL"] is not set. Beats and workers meet there; set it to redis://host:6379/0 in the settings.'
)


@setup_logging.connect
def keep_django_logging(**_: object) -> None:
    """Django's LOGGING is the one logging configuration; Celery adds none of its own."""


def _set_up() -> None:
    # `celery` has its own folder on the path, and the project's only while it imports this module.
    sys.path.insert(0, os.getcwd())
    if not os.environ.get("DJANGO_SETTINGS_MODULE"):
        raise SystemExit(f"celery: {NO_SETTINGS}")
    try:
        with loading():
            django.setup()
        find_project_app()
        if not conf().REDIS_URL:
            raise SystemExit(f"celery: {NO_REDIS}")
        app.conf.broker_url  # noqa: B018  (reads all of its options)
    except (ImproperlyConfigured, InvalidConfiguration) as error:
        raise SystemExit(f"celery: {error}") from None


_set_up()
