"""`manage.py archive`: what is archived, and what waits since when; `run` archives now, `verify` reads a day.

Exit code 0: all is well. 1: something waits and could not be archived, or a file is not what it should be. 2: there is
no archive, or it can't be reached.
"""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import asdict
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from django.core.management import CommandError

from tasks_app.conf import conf
from tasks_app.core.errors import shown
from tasks_app.documentation import page
from tasks_app.engine.nodes import process_name
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.management.terminal import TerminalCommand, account

if TYPE_CHECKING:  # it needs pyarrow
    from tasks_app.archive.overview import WaitingView


class Command(TerminalCommand):
    help = "Shows what is archived and what waits; archives now; or verifies a day of the archive."
    reads = ("status",)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("verb", nargs="?", choices=("status", "run", "verify"), default="status")
        parser.add_argument("day", nargs="?", type=a_day, help="with verify: such as 2026-11-01")
        parser.add_argument("--dry-run", action="store_true", help="with run: say what would be done, and do nothing")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")

    def handle(self, *args: Any, verb: str, day: date | None, **options: Any) -> None:
        if (day is not None) != (verb == "verify"):
            raise CommandError("`archive verify` needs a day, such as 2026-11-01, and nothing else does.")
        if options["dry_run"] and verb != "run":
            raise CommandError(f"`archive {verb}` changes nothing; --dry-run is for `archive run`.")
        faults = needed_faults()
        try:
            lines, told, failed = getattr(self, f"_{verb}")(day, options["dry_run"])
        except faults as error:
            self.stderr.write(f"The archive can't be reached, or read: {error}")
            sys.exit(2)
        if options["json"]:
            self.write_json(told, default=_iso)
        else:
            self.stdout.write("\n".join(lines))
        if failed:
            sys.exit(1)

    def _status(self, day: None, dry_run: bool) -> tuple[list[str], dict[str, Any], bool]:
        from tasks_app.archive.overview import folders, waiting
        from tasks_app.archive.place import the_archive

        here = waiting()  # first: it is known even if the archive can't be reached
        failed = any(one.error for one in here)
        lines = [_waiting(one) for one in here] or ["Nothing waits for the archive."]
        try:
            there = list(folders(the_archive()))
        except needed_faults():
            self.stdout.write("\n".join(lines))
            raise
        lines += [
            f"{one.folder:24} {one.days:5,} days, {one.first} to {one.last}: {one.rows:,} rows, {one.bytes:,} bytes"
            for one in there
            if one.days
        ] or ["The archive is empty."]
        return lines, {"archived": [asdict(one) for one in there], "waiting": [asdict(one) for one in here]}, failed

    def _run(self, day: None, dry_run: bool) -> tuple[list[str], dict[str, Any], bool]:
        from tasks_app.archive.leave import leave_all
        from tasks_app.archive.overview import plan
        from tasks_app.archive.place import the_archive

        if dry_run:
            found = plan(the_archive())
            lines = [f"{one.partition} would be {_would(one)}." for one in found.leaving]
            lines += [f"{folder} would be deleted: it is older than the archive keeps it." for folder in found.deleting]
            return lines or ["Nothing is to be done."], asdict(found), False
        done = leave_all(the_archive(), f"archive run, {process_name()}")
        if done.written or done.dropped or done.deleted:
            detail = {"written": done.written, "dropped": done.dropped, "deleted": done.deleted}
            audit(Operator(account(), "archive run"), "archive", [Entry("the archive", "archived", detail=detail)])
        lines = [f"{name}: written to the archive, read back, and dropped." for name in done.written]
        lines += [f"{name}: dropped; the archive has it, or nothing of it is to be kept." for name in done.dropped]
        lines += [f"{folder}: deleted." for folder in done.deleted]
        lines += [f"! {name} waits: {error}" for name, error in done.waiting.items()]
        return lines or ["Nothing was to be done."], done._asdict(), bool(done.waiting)

    def _verify(self, day: date, dry_run: bool) -> tuple[list[str], dict[str, Any], bool]:
        from tasks_app.archive.overview import verify
        from tasks_app.archive.place import the_archive

        found = list(verify(the_archive(), day))
        lines = [
            f"! {one.file}: {one.problem}"
            if one.problem
            else f"{one.file}: {one.rows:,} rows, {one.bytes:,} bytes: whole"
            for one in found
        ]
        told = {"day": day.isoformat(), "files": [asdict(one) for one in found]}
        return lines or [f"The archive has nothing of {day}."], told, any(one.problem for one in found)


def needed_faults() -> tuple[type[Exception], ...]:
    """What can go wrong with an archive, which there must be."""
    if not conf().ARCHIVE_URL:
        words = 'There is no archive: PUNCTUAL["ARCHIVE_URL"] is empty.'
        raise CommandError(f"{words} Set it to a folder or a bucket; {page('archive')} says how.", returncode=2)
    try:
        from tasks_app.archive.place import FAULTS
    except ImportError:
        raise CommandError("pyarrow is missing: pip install 'django-punctual[archive]'.", returncode=2) from None
    return FAULTS


def a_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{shown(text)} is no day; write it as 2026-11-01.") from None


def _waiting(one: "WaitingView") -> str:
    if one.kept_until is not None:
        return f"{one.partition}: restored; stays until {one.kept_until:%Y-%m-%d %H:%M}."
    if one.held_by:
        return f"{one.partition}: being archived by {one.held_by}."
    since = "is next" if one.since is None else f"has been waiting since {one.since:%Y-%m-%d %H:%M}"
    return f"! {one.partition}: {since}. {one.error}" if one.error else f"{one.partition}: {since}."


def _would(one: "WaitingView") -> str:
    return "written to the archive, and dropped" if one.written else "dropped: it is older than the archive keeps it"


def _iso(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(value)
