"""Times as an editor reads and types them: in a zone, in words, and never a guess where the clock is changed."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import connection


class UnclearTime(ValueError):
    """A local time that does not exist, or exists twice; `instants` are those that may be meant."""

    def __init__(self, local: datetime, zone: ZoneInfo, instants: Sequence[datetime], exists: bool) -> None:
        self.local, self.zone, self.instants, self.exists = local, zone, list(instants), exists
        what = "exists twice" if exists else "doesn't exist"
        how = "put back" if exists else "put forward"
        super().__init__(f"{_clock(local)} {what} in {zone.key}: the clocks are {how} then. Which time do you mean?")


def database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def zone_named(name: object) -> ZoneInfo | None:
    """The zone of this name, whatever was typed or sent; None: there is none."""
    if not isinstance(name, str) or not name or len(name) > 64:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def read_local(text: str, zone: ZoneInfo) -> datetime:
    """The instant of a local time like 2026-03-03T09:00; UnclearTime where the zone's clock makes it none or two."""
    try:
        local = datetime.fromisoformat(text.strip())
        if local.tzinfo is not None:
            raise ValueError
        both = [local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
    except (ValueError, OverflowError):
        raise ValueError(f"{text[:40]!r} is not a date and time; enter it like 2027-03-01 09:00.") from None
    if both[0] == both[1]:
        return both[0]
    exists = both[0].astimezone(zone).replace(tzinfo=None) == local
    raise UnclearTime(local, zone, sorted(both), exists)


def typed(at: datetime | None, zone: ZoneInfo) -> str:
    """As the field shows it, and sends it back; the fraction of a second is left out."""
    return "" if at is None else at.astimezone(zone).strftime("%Y-%m-%dT%H:%M:%S").removesuffix(":00")


def spoken(at: datetime, zone: ZoneInfo, now: datetime | None = None) -> str:
    """Tue 3 Mar 09:00 Europe/Berlin; with the year if it is not this one, and the offset where the hour comes twice."""
    local = at.astimezone(zone)
    return f"{_clock(local, now)} {zone.key}{_offset_if_unclear(local, zone)}"


def with_offset(at: datetime, zone: ZoneInfo) -> str:
    """For choosing between instants that look the same."""
    local = at.astimezone(zone)
    return f"{_clock(local)} ({_offset(local)}), which is {at.astimezone(UTC):%H:%M} UTC"


def in_utc(at: datetime, beside: ZoneInfo) -> str:
    """The same instant in UTC, for a second line; with its date only where that differs."""
    utc, local = at.astimezone(UTC), at.astimezone(beside)
    return f"{_clock(utc)} UTC" if utc.date() != local.date() else f"{_hour(utc)} UTC"


def local_only(at: datetime, zone: ZoneInfo, now: datetime | None = None) -> str:
    local = at.astimezone(zone)
    return _clock(local, now) + _offset_if_unclear(local, zone)


def to_the_second(at: datetime, zone: ZoneInfo, now: datetime) -> str:
    """For a history: always with seconds."""
    local = at.astimezone(zone)
    return f"{_clock(local.replace(second=0), now)}:{local:%S}"


def lasting(span: timedelta) -> str:
    """A duration in one or two units: 45 s, 3 min, 2 h 5 min, 4 days. live.js says it in the same words."""
    seconds = int(abs(span).total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 60:
        return f"{minutes} min"
    if hours < 24:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    return f"{days} days" if days > 1 else f"1 day {hours % 24} h" if hours % 24 else "1 day"


def late_by(span: timedelta) -> str:
    """How late, finely: 15 ms late, 1.2 s late, 3 min late."""
    seconds = span.total_seconds()
    if seconds < 0:
        return "early"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms late"
    return f"{seconds:.1f} s late" if seconds < 60 else f"{lasting(span)} late"


def _clock(local: datetime, now: datetime | None = None) -> str:
    year = "" if now is not None and local.year == now.astimezone(local.tzinfo).year else f" {local.year}"
    return f"{local:%a} {local.day} {local:%b}{year} {_hour(local)}"


def _hour(local: datetime) -> str:
    return f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"


def _offset(local: datetime) -> str:
    text = f"{local:%z}"
    return f"UTC{text[:3]}:{text[3:5]}"


def _offset_if_unclear(local: datetime, zone: ZoneInfo) -> str:
    plain = local.replace(tzinfo=None)
    offsets = {plain.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1)}
    return f" ({_offset(local)})" if len(offsets) > 1 else ""
