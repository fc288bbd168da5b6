"""Run by a test: the shop's checks and addresses, where the packages named on the command line are not installed."""

import json
import sys
from contextlib import suppress

for _name in sys.argv[1:]:
    sys.modules[_name] = None  # as the import system notes a module that it could not find

import django  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core import checks  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import NoReverseMatch, include, path, reverse  # noqa: E402

django.setup()

from tasks_app.web_checks import check_pages  # noqa: E402

EXTRAS = {"unfold", "ninja", "prometheus_client"}


def loaded() -> list[str]:
    return sorted(EXTRAS & {name.partition(".")[0] for name, one in sys.modules.items() if one})


def served() -> dict[str, int]:
    """What a stranger is answered, by name of the page."""
    found = {}
    api = ("punctual-api:openapi-json", "punctual-api:openapi-view")
    for name in ("admin:login", "punctual:login", "punctual-metrics", *api):
        with suppress(NoReverseMatch):
            found[name] = Client().get(reverse(name)).status_code
    return found


def of_a_namespace() -> list[str]:
    settings.ROOT_URLCONF = (path("x/", include(("tasks_app.urls", "ours"))),)
    return [one.id for one in check_pages()]


found = checks.run_checks()
told = {
    "checks": {one.id: one.hint for one in found if one.id.startswith("punctual.")},
    "errors": [f"{one.id} {one.obj}" for one in found if one.level >= checks.ERROR],
    "loaded by checks": loaded(),
    "served": served(),
    "in a namespace": of_a_namespace(),
    "loaded": loaded(),
}
sys.stdout.write(json.dumps(told))
