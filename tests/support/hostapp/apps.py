from django.apps import AppConfig


class HostAppConfig(AppConfig):
    name = "tests.support.hostapp"
    label = "hostapp"
    default_auto_field = "django.db.models.BigAutoField"
