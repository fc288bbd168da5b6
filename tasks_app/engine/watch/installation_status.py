"""What this installation is and whether it works: for the banner, the verdict, health and the page. Reads only."""

from dataclasses import dataclass
from datetime import datetime

from tasks_app.conf import MAIN_SITE, conf
from tasks_app.core.said import joined, said, said_of
from tasks_app.core.schedule import in_zone
from tasks_app.lifecycle.installation import read_installation, stranger

ACTIVE, QUARANTINED, REHEARSING = "active", "quarantined", "rehearsing"
WAY_OUT = said("`manage.py quarantine show` says what is overdue and what can be done; so does the page Quarantine.")


@dataclass(frozen=True, slots=True)
class Ordered:
    """What an operator has chosen for what is overdue, while beats carry it out."""

    choice: str
    lanes: list[str]
    by: str
    reason: str
    tasks: int  # dealt with so far


@dataclass(frozen=True, slots=True)
class InstallationView:
    state: str = ACTIVE
    uid: str | None = None  # None: no beat or worker has looked yet
    environment: str = ""
    reason: str = ""
    since: datetime | None = None
    by: str = ""
    stranger: str | None = None  # why this very process would do nothing here
    seen_at: datetime | None = None  # the last sign of life of a beat
    held_before: datetime | None = None
    held_lanes: tuple[str, ...] = ()
    silent_since: datetime | None = None
    ordered: Ordered | None = None
    site: str | None = MAIN_SITE  # the active one; None: nobody starts anything
    chosen_site: str | None = None  # is being opened
    site_epoch: int = 0
    site_since: datetime | None = None
    site_recovery: int | None = None  # lets the lanes of the site go on, one after the other

    @property
    def wanted_site(self) -> str | None:
        """The one whose processes should be there; None: all are to stand by."""
        return self.chosen_site or self.site

    @property
    def site_words(self) -> str:
        """For the pages of a site that stands by; empty: it is the active one."""
        if self.site == conf().site:
            return ""
        if self.chosen_site:
            return said("Site {site!r} is being activated.", site=self.chosen_site)
        if self.site is None:
            return said("All sites stand by, since {time}: nothing is started.", time=_at(self.site_since))
        return said(
            "This is site {own!r}, which stands by; {active!r} is the active one.", own=conf().site, active=self.site
        )

    @property
    def closed(self) -> bool:
        """No handler is called."""
        return self.state != ACTIVE or self.stranger is not None

    @property
    def asks(self) -> bool:
        """Somebody has to say what becomes of what is overdue."""
        return self.state == ACTIVE and self.held_before is not None and self.ordered is None

    @property
    def head(self) -> str:
        if self.state == QUARANTINED:
            return said("Quarantine")
        if self.state == REHEARSING:
            return said("Rehearsal")
        return said("Another environment") if self.stranger else said("Overdue")

    @property
    def sentence(self) -> str:
        """What everybody should know; empty: all is as always."""
        if self.state == QUARANTINED:
            return said("Nothing is dispatched and nobody is called, since {time}.", time=_at(self.since))
        if self.state == REHEARSING:
            return said("Tasks are dispatched, but no handler is called, since {time}.", time=_at(self.since))
        if self.stranger:
            return self.stranger
        lanes = ", ".join(self.held_lanes)
        if self.asks:
            told = {"time": _at(self.held_before), "lanes": lanes}
            if self.silent_since is None:
                return said("What was due before {time} is held in {lanes} until somebody decides.", **told)
            return said(
                "Nobody dispatched from {silent} on. What was due before {time} is held in {lanes} until somebody "
                "decides.",
                silent=_at(self.silent_since),
                **told,
            )
        if self.ordered is not None:
            return said_of(
                "{choice} is carried out for what is overdue in {lanes}: {count:,} task so far.",
                "{choice} is carried out for what is overdue in {lanes}: {count:,} tasks so far.",
                self.ordered.tasks,
                choice=self.ordered.choice,
                lanes=", ".join(self.ordered.lanes),
                count=self.ordered.tasks,
            )
        return ""

    @property
    def told(self) -> str:
        """With the reason."""
        return joined(self.sentence, self.reason if self.state != ACTIVE else "")

    def __str__(self) -> str:
        return str(self.told)


def read_view() -> InstallationView:
    """One small statement."""
    row = read_installation()
    if row is None:
        return InstallationView()
    return InstallationView(
        row.state.lower(),
        str(row.uid),
        row.environment,
        row.reason,
        row.since,
        row.changed_by,
        stranger(row),
        row.seen_at,
        row.held_before,
        tuple(row.held_lanes),
        row.silent_since,
        Ordered(*(row.answer[name] for name in Ordered.__slots__)) if row.answer else None,
        row.sites.active,
        row.sites.chosen,
        row.sites.epoch,
        row.sites.since,
        row.sites.recovery,
    )


def _at(moment: datetime | None) -> str:
    return "-" if moment is None else in_zone(moment, "UTC")
