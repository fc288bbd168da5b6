"""What stands above every page while they are read from a standby."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy

from tasks_app.engine.web.standby import STANDBY, WORDS


@dataclass(frozen=True)
class ReadOnly:
    head: str = gettext_lazy("Read-only")
    told: str = WORDS
    linked: bool = False  # there is no page about it: nothing can be done here


def banner() -> list[ReadOnly]:
    return [ReadOnly()] if STANDBY.reading else []
