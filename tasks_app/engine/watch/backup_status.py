"""How far behind the places for backups are; written by `manage.py backup`, so that it ages if that has ended."""

from dataclasses import dataclass

from tasks_app.conf import conf
from tasks_app.core.archive_url import outward
from tasks_app.sql import run


@dataclass(frozen=True, slots=True)
class BackupView:
    number: int  # in the settings
    place: str
    behind_seconds: float | None = None  # all that was committed longer ago is there; None: nothing has arrived yet
    behind_bytes: int | None = None
    seen_seconds: float | None = None  # since it was last written down
    base: str | None = None
    base_seconds: float | None = None
    base_bytes: int | None = None
    bases: int | None = None
    restored: str | None = None
    restored_seconds: float | None = None
    error: str = ""
    error_seconds: float | None = None

    @property
    def late(self) -> bool:
        return self.behind_seconds is None or self.behind_seconds > conf().BACKUP_BEHIND_SECONDS


def read_backups() -> list[BackupView]:
    """Each place of the settings, in their order; one of which nothing is known yet is there, too."""
    if not conf().BACKUP_URLS:
        return []
    known = {view.place: view for view in (BackupView(*row) for row in run("status_backups", {}))}
    places = [outward(url) for url in conf().BACKUP_URLS]
    return [known.get(place, BackupView(number, place)) for number, place in enumerate(places, 1)]
