"""Times as an editor reads and types them: in a zone, in words, and never a guess where the clock is changed."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

# How times are written; the browser is told, and writes them in the same words.
WEEKDAYS = [
    pgettext_lazy("day of the week", "Sun"),
    pgettext_lazy("day of the week", "Mon"),
    pgettext_lazy("day of the week", "Tue"),
    pgettext_lazy("day of the week", "Wed"),
    pgettext_lazy("day of the week", "Thu"),
    pgettext_lazy("day of the week", "Fri"),
    pgettext_lazy("day of the week", "Sat"),
]
MONTHS = [
    pgettext_lazy("month in a date", "Jan"),
    pgettext_lazy("month in a date", "Feb"),
    pgettext_lazy("month in a date", "Mar"),
    pgettext_lazy("month in a date", "Apr"),
    pgettext_lazy("month in a date", "May"),
    pgettext_lazy("month in a date", "Jun"),
    pgettext_lazy("month in a date", "Jul"),
    pgettext_lazy("month in a date", "Aug"),
    pgettext_lazy("month in a date", "Sep"),
    pgettext_lazy("month in a date", "Oct"),
    pgettext_lazy("month in a date", "Nov"),
    pgettext_lazy("month in a date", "Dec"),
]
CLOCK = gettext_lazy("{weekday} {day} {month} {time}")
CLOCK_WITH_YEAR = gettext_lazy("{weekday} {day} {month} {year} {time}")
DAY = gettext_lazy("{weekday} {day} {month}")
DAY_WITH_YEAR = gettext_lazy("{weekday} {day} {month} {year}")
LASTING = {
    "seconds": gettext_lazy("{seconds} s"),
    "minutes": gettext_lazy("{minutes} min"),
    "hours": gettext_lazy("{hours} h"),
    "hours_and_minutes": gettext_lazy("{hours} h {minutes} min"),
    "day": gettext_lazy("1 day"),
    "day_and_hours": gettext_lazy("1 day {hours} h"),
    "days": gettext_lazy("{days} days"),
}


def for_browser() -> str:
    """What the scripts of the pages say, as JSON."""
    words = LASTING | {
        "clock": CLOCK,
        "clock_with_year": CLOCK_WITH_YEAR,
        "weekdays": WEEKDAYS,
        "months": MONTHS,
        "time_above": gettext("the time above"),
        "lost": gettext("The server isn't answering, or you are logged out. What you see may be out of date."),
        "meanwhile": gettext(
            "The article has been changed in the meantime: it is now “{label}”. What you typed is still here; nothing "
            "is overwritten without telling you."
        ),
    }
    return json.dumps(words, cls=DjangoJSONEncoder, ensure_ascii=False)


class UnclearTime(ValueError):
    """A local time that does not exist, or exists twice; `instants` are those that may be meant."""

    def __init__(self, local: datetime, zone: ZoneInfo, instants: Sequence[datetime], exists: bool) -> None:
        self.local, self.zone, self.instants, self.exists = local, zone, list(instants), exists
        words = (
            gettext("{time} exists twice in {zone}: the clocks are put back then. Which time do you mean?")
            if exists
            else gettext("{time} doesn't exist in {zone}: the clocks are put forward then. Which time do you mean?")
        )
        super().__init__(words.format(time=_clock(local), zone=zone.key))


def database_now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


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
        raise ValueError(
            gettext("{text!r} is not a date and time; enter it like 2027-03-01 09:00.").format(text=text[:40])
        ) from None
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
    words = gettext("{time} ({offset}), which is {utc} UTC")
    return str(words.format(time=_clock(local), offset=_offset(local), utc=f"{at.astimezone(UTC):%H:%M}"))


def in_utc(at: datetime, beside: ZoneInfo) -> str:
    """The same instant in UTC, for a second line; with its date only where that differs."""
    utc, local = at.astimezone(UTC), at.astimezone(beside)
    return f"{_clock(utc)} UTC" if utc.date() != local.date() else f"{_hour(utc)} UTC"


def local_only(at: datetime, zone: ZoneInfo, now: datetime | None = None) -> str:
    local = at.astimezone(zone)
    return _clock(local, now) + _offset_if_unclear(local, zone)


def day_only(on: date, now: datetime) -> str:
    """Mon 16 Nov; with the year if it is not this one."""
    return _said(DAY if on.year == now.year else DAY_WITH_YEAR, on)


def hour_only(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return _hour(local) + _offset_if_unclear(local, zone)


def to_the_second(at: datetime, zone: ZoneInfo, now: datetime) -> str:
    """For a history: always with seconds."""
    local = at.astimezone(zone)
    return f"{_clock(local.replace(second=0), now)}:{local:%S}"


def lasting(span: timedelta) -> str:
    """A duration in one or two units: 45 s, 3 min, 2 h 5 min, 4 days. live.js says it in the same words."""
    seconds = int(abs(span).total_seconds())
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 60:
        which = "seconds"
    elif minutes < 60:
        which = "minutes"
    elif hours < 24:
        which = "hours_and_minutes" if minutes % 60 else "hours"
    else:
        which = "days" if days > 1 else "day_and_hours" if hours % 24 else "day"
    return str(
        LASTING[which].format(
            seconds=seconds, minutes=minutes if minutes < 60 else minutes % 60, hours=hours % 24, days=days
        )
    )


def late_by(span: timedelta) -> str:
    """How late, finely: 15 ms late, 1.2 s late, 3 min late."""
    seconds = span.total_seconds()
    if seconds < 0:
        return str(gettext("early"))
    length = lasting(span) if seconds >= 60 else f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
    return str(gettext("{time} late").format(time=length))


def _clock(local: datetime, now: datetime | None = None) -> str:
    this_year = now is not None and local.year == now.astimezone(local.tzinfo).year
    return _said(CLOCK if this_year else CLOCK_WITH_YEAR, local, time=_hour(local))


def _said(pattern: str, on: date, **more: str) -> str:
    weekday, month = WEEKDAYS[(on.weekday() + 1) % 7], MONTHS[on.month - 1]
    return pattern.format(weekday=weekday, day=on.day, month=month, year=on.year, **more)


def _hour(local: datetime) -> str:
    return f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"


def _offset(local: datetime) -> str:
    text = f"{local:%z}"
    return f"UTC{text[:3]}:{text[3:5]}"


def _offset_if_unclear(local: datetime, zone: ZoneInfo) -> str:
    plain = local.replace(tzinfo=None)
    offsets = {plain.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1)}
    return f" ({_offset(local)})" if len(offsets) > 1 else ""
