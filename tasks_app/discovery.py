"""Finds the modules of the installed apps that have one of our names; no app is named here."""

from importlib import import_module
from importlib.util import find_spec

from django.apps import apps


def import_of_every_app(*modules: str) -> None:
    for app in apps.get_app_configs():
        for name in modules if hasattr(app.module, "__path__") else ():  # a project may have an app without a folder
            if find_spec(f"{app.name}.{name}") is not None:
                import_module(f"{app.name}.{name}")
