"""`manage.py storage`: is the database well? Sizes, dead rows, what keeps them there, and when the disk is full.

Exit code 0: nothing to do. 1: somebody has to look, and the last lines say at what (!). 2: the database does not
answer, or has not been migrated.
"""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import InterfaceError, OperationalError, ProgrammingError

from tasks_app.core.errors import shown
from tasks_app.core.phrases import first_line, span
from tasks_app.core.text import visible
from tasks_app.documentation import page
from tasks_app.engine.watch.storage import Family, Held, Storage, Table, read_storage
from tasks_app.engine.watch.verdict.storage import MOVING_SECONDS
from tasks_app.management.terminal import TerminalCommand
from tasks_app.sql import explained

DEFAULT_WARN_DAYS = 14.0
UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
FREEZE_SHARE = 3  # times the age at which PostgreSQL cleans by force: it should have by then


class Command(TerminalCommand):
    help = "Shows how large our tables are, what keeps PostgreSQL from cleaning them, and when the disk is full."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")
        parser.add_argument("--partitions", action="store_true", help="each partition, not only the whole table")
        parser.add_argument(
            "--disk-free",
            type=_bytes,
            metavar="BYTES",
            help="room that PostgreSQL has, such as 80G; without it, that of its folder, if it is on this machine",
        )
        parser.add_argument(
            "--warn-days",
            type=_days,
            default=DEFAULT_WARN_DAYS,
            metavar="DAYS",
            help=f"exit with 1 if the disk is full within this time ({DEFAULT_WARN_DAYS:g})",
        )

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return True

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            storage = read_storage(options["disk_free"])
        except (OperationalError, InterfaceError) as error:
            self._unreadable(f"The database does not answer: {first_line(str(error))}")
        except ProgrammingError as error:
            self._unreadable(str(explained(error)))
        problems = list(_problems(storage, options["warn_days"]))
        if options["json"]:
            self.write_json(_as_dict(storage) | {"problems": problems}, cls=DjangoJSONEncoder)
        else:
            self.stdout.write(_as_page(storage, problems, unfolded=options["partitions"]))
        if problems:
            sys.exit(1)

    def _unreadable(self, words: str) -> None:
        self.stderr.write(words)
        sys.exit(2)


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d{1,18}(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE | re.ASCII)
    if found is None:
        raise ArgumentTypeError(f"{shown(text)} is no size; give bytes, or a number with K, M, G or T, such as 80G.")
    return int(float(found[1]) * UNITS[found[2].upper()])


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0 <= days <= 36_500:
        raise ArgumentTypeError(f"{shown(text)} is no number of days; it must be 0 to 36500.")
    return days


def _problems(storage: Storage, warn_days: float) -> Iterator[str]:
    for one in storage.held:
        if one.too_long:
            yield f"{_held(one)} {_WAYS_OUT[one.kind].format(one.name.removeprefix('pid '))}"
    if storage.full_in_days is not None and storage.full_in_days < warn_days:
        yield f"The disk is full in {_time(storage.full_in_days)}. Give it room, or keep less ({page('storage')})."
    if storage.moving.oldest_seconds is not None and storage.moving.oldest_seconds > MOVING_SECONDS:
        yield (
            "What is over stays among what is live: the first should have been moved "
            f"{_seconds(storage.moving.oldest_seconds)} ago. The chore `move` of the beats does it; "
            "`manage.py scheduler_status` says how it fares."
        )
    if storage.frozen_age > FREEZE_SHARE * storage.freeze_at:
        yield (
            f"The oldest transaction number is {storage.frozen_age:,} transactions old, and at 2,000,000,000 "
            "PostgreSQL stops. Something keeps it from cleaning: see above, and run VACUUM (FREEZE) on all of it."
        )


_WAYS_OUT = {
    "transaction": "If it is not meant to, end it: SELECT pg_terminate_backend({});",
    "idle transaction": "Whoever began it forgot to end it: SELECT pg_terminate_backend({});",
    "prepared transaction": "Nobody ends it by itself: COMMIT PREPARED '{0}' or ROLLBACK PREPARED '{0}'.",
    "replication slot": "If nobody needs it any more: SELECT pg_drop_replication_slot('{}');",
    "standby": "A long query on that standby is in the way; end it there, or turn hot_standby_feedback off.",
}


def _as_dict(storage: Storage) -> dict[str, Any]:
    return asdict(storage) | {
        "bytes_a_day": storage.bytes_a_day,
        "still_to_come": storage.still_to_come,
        "full_in_days": storage.full_in_days,
    }


def _as_page(storage: Storage, problems: list[str], *, unfolded: bool) -> str:
    heads = ("size", "indexes", "rows", "dead", "bloat", "vacuumed", "analysed")
    lines = [f"{'Tables':44} " + " ".join(f"{head:>10}" for head in heads)]
    for family in storage.families:
        lines.append(_line(_name(family), family, storage.now))
        parts = [one for one in storage.tables if one.family == family.name and one.name != family.name]
        lines += [_line(f"    {one.name}", one, storage.now) for one in parts if unfolded]
    moving = storage.moving
    more = "" if moving.exact else "more than "
    lines += [
        "",
        f"The whole database {storage.database}: {_size(storage.bytes)}. Oldest transaction number: "
        f"{storage.frozen_age:,} transactions old; PostgreSQL cleans by force at {storage.freeze_at:,}.",
        f"Waiting to be moved to the past: {more}{moving.tasks:,} tasks"
        + ("." if moving.oldest_seconds is None else f", the first since {_seconds(moving.oldest_seconds)}."),
        *_forecast(storage),
        "",
        "In the way of vacuum" if storage.held else "Nothing is in the way of vacuum.",
        *(f"  {_held(one)}" for one in storage.held),
    ]
    if storage.hidden_sessions:
        lines.append(
            f"  This role can't see {storage.hidden_sessions} sessions of other roles; GRANT pg_read_all_stats lets it."
        )
    lines += ["", *([f"! {one}" for one in problems] or ["All is well."])]
    return "\n".join(map(visible, lines))


def _name(family: Family) -> str:
    return f"  {family.name}" + (f" ({family.partitions} partitions)" if family.partitions else "")


def _line(name: str, one: Family | Table, now: datetime) -> str:
    cells = (
        _size(one.bytes),
        _size(one.index_bytes),
        f"{one.rows:,}",
        f"{one.dead_rows:,}",
        "-" if one.bloat_bytes is None else f"~{_size(one.bloat_bytes)}",
        _moment(one.vacuumed_at, now),
        _moment(one.analyzed_at, now),
    )
    return f"{name:44} " + " ".join(f"{cell:>10}" for cell in cells)


def _forecast(storage: Storage) -> Iterator[str]:
    if not storage.growth:
        yield "Growth is not known yet: no partition is old enough to tell."
        return
    come = storage.still_to_come
    ends = "without end" if come is None else f"for {_size(come)} more, then as much is dropped as comes"
    yield f"Growth: {_size(storage.bytes_a_day)} a day, {ends}."
    if storage.disk_free is None:
        yield "Free room on the disk is not known here; give it with --disk-free."
    elif storage.full_in_days is None:
        yield f"Free room on the disk: {_size(storage.disk_free)}. It is enough."
    else:
        yield f"Free room on the disk: {_size(storage.disk_free)}. Full in {_time(storage.full_in_days)}."


def _held(one: Held) -> str:
    words = f"{one.kind.capitalize()} {one.name}" + (f" ({one.detail})" if one.detail else "")
    if one.seconds is not None:
        words += f" for {_seconds(one.seconds)}"
    if one.transactions is not None:
        words += f", {one.transactions:,} transactions behind"
    if one.wal_bytes is not None:
        words += f", keeps {_size(one.wal_bytes)} of the log of changes"
    return f"{words}."


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:,.1f} TB"


def _time(days: float) -> str:
    return span(timedelta(days=min(days, 36_500)))


def _seconds(seconds: float) -> str:
    return span(timedelta(seconds=seconds))


def _moment(moment: datetime | None, now: datetime) -> str:
    return "never" if moment is None else span(now - moment)
