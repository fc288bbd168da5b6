"""The templates and scripts of the API's page, which lie in django-ninja, without loading it.

As an installed app django-ninja would be imported by every beat and worker: a quarter of a second at each start.
"""

from importlib.util import find_spec
from pathlib import Path

from django.apps import AppConfig


class ApiPageConfig(AppConfig):
    name = "tasks_app.api_page"
    label = "api_page"
    path = str(Path(find_spec("ninja").origin).parent)
