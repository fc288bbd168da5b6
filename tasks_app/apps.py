from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class TasksAppConfig(AppConfig):
    name = "tasks_app"
    verbose_name = "Punctual"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks  # noqa: F401  (registers the system checks)
        from .engine.web import people

        people.watch()
        # Every installed app may have a `handlers`, a `compensation` and a `links` module; no app is named here.
        autodiscover_modules("handlers", "compensation", "links")
