from django.apps import AppConfig


class ArticlesAppConfig(AppConfig):
    name = "articles_app"
    verbose_name = "Articles"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks  # noqa: F401  (registers the system checks)
