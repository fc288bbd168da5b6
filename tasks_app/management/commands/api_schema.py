"""`manage.py api_schema > docs/openapi.json`: the schema of the REST API, for tools that make clients from it."""

import json
from typing import Any

from django.core.management.base import CommandError
from django.urls import NoReverseMatch

from tasks_app.management.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Writes the OpenAPI schema of the REST API as JSON."
    requires_system_checks = ()  # it needs neither the database nor the broker

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            # Here, since django-ninja takes a quarter of a second that no other command should wait.
            from tasks_app.api import api

            schema = api.get_openapi_schema()
        except ModuleNotFoundError as error:
            raise CommandError(f"{error.name} is missing. Install django-punctual[api].") from error
        except NoReverseMatch as error:
            line = 'path("punctual/", include("django_punctual.urls"))'
            raise CommandError(f"the API has no address in this project. Add {line} to its urlpatterns.") from error
        self.stdout.write(json.dumps(schema, indent=2, ensure_ascii=False))
