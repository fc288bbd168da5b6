"""Whether the audit trail can be proved: how long entries wait for their places, and how old the last anchor is."""

from dataclasses import dataclass, field

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.engine.channels.anchor_places import label_of
from tasks_app.models import AnchorPlace
from tasks_app.sealing import audit_keys
from tasks_app.sql import run

MOST = 1_000
BROKEN = 10  # trails that are named


@dataclass(frozen=True, slots=True)
class PlaceView:
    place: str
    sent_no: int = 0
    failing_seconds: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class AuditView:
    unchained_seconds: float | None = None  # since the oldest entry without a place was written; None: all have theirs
    anchor_no: int | None = None
    anchor_seconds: float | None = None
    signs: bool = False  # this process has a key; a beat may have one that others lack
    places: list[PlaceView] = field(default_factory=list)  # by name: all that anchors were sent to, or should be
    missing: int = 0  # entries that were deleted before they had a place; MOST: so many, or more
    missing_seconds: float | None = None  # since the last of them was missed
    broken: list[str] = field(default_factory=list)  # whose trails get no places, up to BROKEN; "": the shared one

    @property
    def anchored(self) -> bool:
        return self.signs or self.anchor_no is not None

    @property
    def sentence(self) -> str:
        """For a page."""
        if not self.anchored:
            return "Chained, but not anchored: no key signs it, so whoever owns the database could rewrite it all."
        if self.anchor_seconds is None:
            return "Chained; the first anchor is made within minutes."
        where = "" if self.places else ", and kept in this database only"
        return f"Chained, and anchored {self.anchor_seconds / 60:,.0f} min ago (anchor {self.anchor_no:,}){where}."


def read_audit() -> AuditView:
    ((waiting, no, age, missing, missed),) = run("status_audit", {"most": MOST})
    broken = [tenant for (tenant,) in run("broken_trails", {"most": BROKEN})]
    return AuditView(waiting, no, age, _signs(), _places(), missing, missed, broken)


def _signs() -> bool:
    try:
        return audit_keys().signer is not None
    except InvalidConfiguration:
        return False  # the chore fails, and says why


def _places() -> list[PlaceView]:
    known = {label: PlaceView(label) for label in map(label_of, conf().AUDIT_ANCHOR_URLS)}
    for row in AnchorPlace.objects.annotate(failing=Now() - F("failing_since")):
        known[row.place] = PlaceView(row.place, row.sent_no, row.failing and row.failing.total_seconds(), row.error)
    return [known[place] for place in sorted(known)]
