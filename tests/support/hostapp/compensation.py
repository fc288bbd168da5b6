"""A scan of the project's: it runs in the beat, and shows what the connections are like there."""

from collections.abc import Iterator

from django.db import connections

from django_punctual.compensation import Walked, register_scan
from tests.support.hostapp.models import Order
from tests.support.hostapp.settings_of_session import settings_of_session


def look(dry_run: bool) -> Iterator[Walked]:
    seen = {alias: settings_of_session(alias) for alias in connections}
    Order.objects.get_or_create(name="seen by the beat", defaults={"seen": seen})
    yield Walked(1)


register_scan("orders", look)
