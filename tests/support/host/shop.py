"""The shop's own app: the tests' tables, without the handlers that belong to the tests' own settings."""

from tests.support.testapp.apps import TestAppConfig


class ShopConfig(TestAppConfig):
    verbose_name = "Shop"
