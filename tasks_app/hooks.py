"""Registers system checks, receivers of signals and functions that `core` calls, and finds our modules in other apps.

Their code is imported with the first call. Only `check` runs checks, only `migrate` migrates, only web processes
serve requests and only beats raise alarms, so no other process imports what they need.
"""

from importlib import import_module
from importlib.util import find_spec

from django.apps import AppConfig, apps
from django.conf import settings
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.core.checks import Tags, register
from django.core.signals import request_finished, request_started
from django.db.models.signals import post_migrate, pre_migrate
from django.dispatch import Signal

from .conf import CHECKS
from .core.alarms import LOOKS
from .core.deferral import use_check
from .core.imports import when_called


def register_checks() -> None:
    register(when_called("tasks_app.checks:check_configuration"), CHECKS)
    register(when_called("tasks_app.checks:check_handlers"), CHECKS)
    register(when_called("tasks_app.deploy_checks:check_secret_keys"), deploy=True)
    register(when_called("tasks_app.deploy_checks:check_redis"), deploy=True)
    register(when_called("tasks_app.deploy_checks:check_processes"), deploy=True)
    register(when_called("tasks_app.deploy_checks:check_alarms"), deploy=True)
    register(when_called("tasks_app.database_checks:check_database"), CHECKS)
    register(when_called("tasks_app.database_checks:check_server"), Tags.database)
    register(when_called("tasks_app.web_checks:check_pages"), Tags.urls)


def connect_receivers(app: AppConfig) -> None:
    _connect(pre_migrate, "tasks_app.earlier_checkout:refuse", app)
    _connect(pre_migrate, "tasks_app.uninstall:refuse_while_running", app)
    _connect(post_migrate, "tasks_app.uninstall:leave_nothing", app)
    _connect(post_migrate, "tasks_app.isolate:isolate_tenants", app)
    _connect(request_started, "tasks_app.engine.web.riding:before_request")
    _connect(request_finished, "tasks_app.engine.web.riding:after_request")
    if apps.is_installed("django.contrib.auth"):
        _connect_logins()


def connect_rules() -> None:
    """Functions of higher layers that the rules in `core` call."""
    use_check(when_called("tasks_app.lifecycle.deferral:checked"))
    ours = (when_called("tasks_app.alarm_looks:troubles"), when_called("tasks_app.alarm_looks:safeguards"))
    LOOKS.extend(look for look in ours if look not in LOOKS)  # Django may set up an app again


def find_django_tasks() -> None:
    """Django 6 has a backend by default, so this asks which."""
    if getattr(settings, "TASKS", None):
        when_called("tasks_app.django_tasks.finding:install")()


def apps_with(module: str) -> list[str]:
    """The names of the installed apps that have such a module."""
    packages = [app.name for app in apps.get_app_configs() if hasattr(app.module, "__path__")]  # others are one file
    return [name for name in packages if find_spec(f"{name}.{module}") is not None]


def import_of_every_app(*modules: str) -> None:
    for module in modules:
        for app in apps_with(module):
            import_module(f"{app}.{module}")


def _connect_logins() -> None:
    _connect(user_logged_in, "tasks_app.engine.web.people:on_login")
    _connect(user_logged_out, "tasks_app.engine.web.people:on_logout")
    _connect(user_login_failed, "tasks_app.engine.web.people:on_failure")


def _connect(signal: Signal, path: str, sender: AppConfig | None = None) -> None:
    signal.connect(when_called(path), sender, weak=False, dispatch_uid=path)
