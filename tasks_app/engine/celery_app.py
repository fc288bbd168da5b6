"""Punctual's own Celery app. It carries batch numbers and nothing else, and leaves every other app as it is.

A project that uses Celery has another app beside this one, with its own broker, queues and options: neither knows of
the other's.
"""

from importlib import import_module
from typing import Any

from celery import Celery
from celery.app import app_or_default
from django.apps import apps
from django.conf import settings

LOADED_BY = "tasks_app.celery"  # by name: it is above this
# What a worker gives the children that it spawns, who inherit nothing else. Empty in all other processes.
GIVEN: dict[str, Any] = {}


class OurCelery(Celery):
    """In a child that is spawned, and not forked, it is not a copy of the parent's but the app of that process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_this_process, (GIVEN,)


def _of_this_process(given: dict[str, Any]) -> Celery:
    import_module(LOADED_BY)  # sets up Django and finds the project's app, before Celery makes this one the current one
    GIVEN.update(given)
    return app


# No fix-ups: Celery's for Django would make this app the default one of any process that imports it, and would close
# the database connections around every batch.
app = OurCelery("punctual", set_as_current=False, fixups=[], config_source="tasks_app.engine.celery_options")
# Tasks of the project's own, for CELERY_TASK; if it has an app, that one knows them too.
app.autodiscover_tasks(lambda: [config.name for config in apps.get_app_configs()])


def command(arguments: str) -> str:
    """What somebody types to start a process of ours."""
    return f"DJANGO_SETTINGS_MODULE={settings.SETTINGS_MODULE} celery -A django_punctual {arguments}"


_project: Celery | None = None


def find_project_app() -> None:
    """Note the app that the project has beside ours: a `shared_task` is sent with it. A worker makes its own app the
    current one when it starts, so it is to be asked before."""
    global _project
    found = app_or_default()
    _project = None if found is app or found.main == _FALLBACK else found


def project_app() -> Celery | None:
    return _project


_FALLBACK = "default"  # what Celery calls the app that it makes up where there is none
