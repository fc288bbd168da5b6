"""What stands above every page while they are read from a standby."""

from dataclasses import dataclass

from tasks_app.engine.web.standby import STANDBY, WORDS


@dataclass(frozen=True)
class ReadOnly:
    head: str = "Read-only"
    linked: bool = False  # there is no page about it: nothing can be done here

    def __str__(self) -> str:
        return WORDS


def banner() -> list[ReadOnly]:
    return [ReadOnly()] if STANDBY.reading else []
