"""Django system checks: the settings of the stock make sense."""

from django.conf import settings
from django.core import checks

from .conf import CHECKS, from_settings
from .errors import InvalidStockSettings


@checks.register(CHECKS)
def check_settings(**_: object) -> list[checks.CheckMessage]:
    try:
        from_settings(getattr(settings, "STOCK", {}))
    except InvalidStockSettings as error:
        return [checks.Error(problem, id="stock.E001") for problem in str(error).split("\n")]
    return []
