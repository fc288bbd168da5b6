from django.apps import AppConfig


class InventoryAppConfig(AppConfig):
    name = "inventory_app"
    verbose_name = "Stock"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks  # noqa: F401  (registers the system checks)
