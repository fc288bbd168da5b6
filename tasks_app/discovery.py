"""Finds the modules of the installed apps that have one of our names; no app is named here."""

from importlib import import_module
from importlib.util import find_spec

from django.apps import apps


def apps_with(module: str) -> list[str]:
    """The names of the apps that have such a module."""
    packages = [app.name for app in apps.get_app_configs() if hasattr(app.module, "__path__")]  # others are one file
    return [name for name in packages if find_spec(f"{name}.{module}") is not None]


def import_of_every_app(*modules: str) -> None:
    for module in modules:
        for app in apps_with(module):
            import_module(f"{app}.{module}")
