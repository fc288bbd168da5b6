import os

from django.apps import AppConfig

from . import trail


class BenchConfig(AppConfig):
    name = "bench"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        if os.environ.get(trail.FILE):
            trail.install()
