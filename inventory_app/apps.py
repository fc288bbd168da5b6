from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class InventoryAppConfig(AppConfig):
    name = "inventory_app"
    verbose_name = gettext_lazy("Stock")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django_punctual.pages import translate_names

        from . import checks  # noqa: F401  (registers the system checks)

        translate_names(self)
