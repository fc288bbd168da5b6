"""Every knob of the scheduler, read from settings.PUNCTUAL and checked: `conf()` has them."""

from tasks_app.section import reader

from .knobs import MAIN_SITE, Conf
from .ranges import range_of
from .rules import SITE_NAME, SITE_RULE

CHECKS = "punctual"  # the tag of the system checks that our commands need

__all__ = ["CHECKS", "MAIN_SITE", "SITE_NAME", "SITE_RULE", "Conf", "conf", "from_settings", "range_of"]

from_settings = Conf.from_settings
conf = reader(Conf)
