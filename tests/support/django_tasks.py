"""Django's tasks with Punctual as their backend, for some tests: others find none of their types."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from django.test import override_settings

from tasks_app.core.handlers import REGISTRY

BACKEND = "django_punctual.tasks.PunctualBackend"
TASKS = {
    "default": {
        "BACKEND": BACKEND,
        "QUEUES": ["default", "mail", "acme"],
        "OPTIONS": {"LANES": {"mail": "low"}, "TENANTS": {"acme": "acme"}},
    },
    "any": {"BACKEND": BACKEND, "QUEUES": []},
}


@contextmanager
def background(tasks: dict[str, object] = TASKS) -> Iterator[ModuleType]:
    """The module of the test's tasks, whose types are known meanwhile."""
    from tasks_app.django_tasks import finding

    known = {handler.name for handler in REGISTRY}
    with override_settings(TASKS=tasks):
        try:
            finding.install()
            module = import_module("tests.support.testapp.background")
            for one in module.DECLARED:
                one.get_backend().validate_task(one)
            module.SEEN.clear()
            yield module
        finally:
            REGISTRY.finder = None
            for handler in [one for one in REGISTRY if one.name not in known]:
                REGISTRY.discard(handler.name)
