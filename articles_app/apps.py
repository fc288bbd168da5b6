from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class ArticlesAppConfig(AppConfig):
    name = "articles_app"
    verbose_name = gettext_lazy("Articles")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django_punctual.pages import translate_names

        from . import checks  # noqa: F401  (registers the system checks)

        translate_names(self)
