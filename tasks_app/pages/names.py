"""The names of models and of their columns, in the language of the page.

Migrations keep the names that a model is given in English, and would change with them; those that Django makes of the
classes can't be marked at all. Both are made translatable once all models are there, where migrations don't look.
"""

from django.apps import AppConfig
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, override

from tasks_app.libraries.django import rename


def translate_names(app: AppConfig) -> None:
    for model in app.get_models():
        rename(model, _lazy)


def _lazy(name: str | Promise) -> Promise:
    with override(None):
        return gettext_lazy(str(name))
