from typing import ClassVar

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate, pre_migrate
from django.utils.module_loading import autodiscover_modules


class TasksAppConfig(AppConfig):
    name = "tasks_app"
    verbose_name = "Punctual"
    default_auto_field = "django.db.models.BigAutoField"
    database_names: ClassVar[dict[str, object]] = {}  # by alias, as configured; a test runner connects to others

    def ready(self) -> None:
        from . import alarm_looks, checks, database_checks, earlier_checkout, isolate, uninstall, web_checks  # noqa: F401  (they register themselves)
        from .database import names
        from .django_tasks import finding
        from .engine.web import riding
        from .pages.names import translate_names

        for alias, name in names().items():
            self.database_names.setdefault(alias, name)
        translate_names(self)
        riding.watch_requests()
        if apps.is_installed("django.contrib.auth"):
            from .engine.web import people

            people.watch_console()
        pre_migrate.connect(earlier_checkout.refuse, sender=self, dispatch_uid="punctual.earlier_checkout")
        post_migrate.connect(uninstall.leave_nothing, sender=self, dispatch_uid="punctual.uninstall")
        post_migrate.connect(isolate.isolate_tenants, sender=self, dispatch_uid="punctual.isolation")
        # Every installed app may have these modules; no app is named here.
        autodiscover_modules("handlers", "compensation", "links", "subscribers")
        finding.install()
