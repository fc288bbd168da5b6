"""The templates and scripts of the API's page, which lie in django-ninja, without loading it.

As an installed app django-ninja would be imported by every beat and worker: a quarter of a second at each start.
"""

from importlib.util import find_spec
from pathlib import Path

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured

_ninja = find_spec("ninja")
if _ninja is None or _ninja.origin is None:
    raise ImproperlyConfigured(
        "INSTALLED_APPS has django_punctual.api_page.ApiPageConfig, which needs django-ninja. "
        'Run `pip install "django-punctual[api]"`, or take the line out.'
    )
_folder = Path(_ninja.origin).parent


class ApiPageConfig(AppConfig):
    name = "tasks_app.api_page"
    label = "api_page"
    path = str(_folder)
