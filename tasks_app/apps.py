from typing import ClassVar

from django.apps import AppConfig


class TasksAppConfig(AppConfig):
    name = "tasks_app"
    label = "punctual"  # of models, tables of Django and migrations
    verbose_name = "Punctual"
    default_auto_field = "django.db.models.BigAutoField"
    database_names: ClassVar[dict[str, object]] = {}  # by alias, as configured; a test runner connects to others

    def ready(self) -> None:
        from .database import names
        from .hooks import connect_receivers, connect_rules, find_django_tasks, import_of_every_app, register_checks
        from .pages.names import translate_names

        for alias, name in names().items():
            self.database_names.setdefault(alias, name)
        translate_names(self)
        register_checks()
        connect_receivers(self)
        connect_rules()
        import_of_every_app("handlers", "compensation", "links", "subscribers")
        find_django_tasks()
