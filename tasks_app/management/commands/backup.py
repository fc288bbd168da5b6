"""`manage.py backup`: copies of the database in other places, and the way back.

    status    how far behind each place is, how old its newest base is, and when one was last restored
    run       make a base backup now
    stream    take the log to the places while it happens, make bases, and drop what is too old; until it is stopped
    verify    restore the newest base of each place in a temporary folder, with the log, and start it
    list      what lies in the places
    prune     drop what is too old now
    restore   make a new server of what lies in the places, at the last moment or at a time

Exit code 0: all is well. 1: a place is behind or away, or a backup is not what it should be. 2: it could not be done.
"""

import json
import logging
import signal
import sys
import threading
import time
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import Any

from django.core.management import CommandError
from django.db import InterfaceError, OperationalError, ProgrammingError
from django.utils.dateparse import parse_datetime

from tasks_app.conf import conf
from tasks_app.core.errors import shown
from tasks_app.core.phrases import counted, span
from tasks_app.documentation import page
from tasks_app.embedded import EmbeddedError
from tasks_app.engine.watch.backup_status import BackupView, read_backups
from tasks_app.management.terminal import TerminalCommand, account

PROGRESS_SECONDS = 2.0

# Lines, the same for a machine (None: it has been told), and whether something is wrong.
Told = tuple[list[str], Any, bool]


class Command(TerminalCommand):
    help = "Backs the database up to the places of the settings, says how far behind they are, and restores from them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", metavar="VERB")
        parser.set_defaults(verb="status")
        parser.add_argument("--json", action="store_true", help="JSON instead of a page")
        for name, help in VERBS.items():
            verb = verbs.add_parser(name, help=help)
            # Where it is not given, it may have been before the verb.
            verb.add_argument("--json", action="store_true", default=SUPPRESS, help="the same")
            if name in ("verify", "restore", "list"):
                verb.add_argument("--from", dest="urls", action="append", metavar="PLACE", help="only this place")
            if name in ("verify", "restore"):
                verb.add_argument("--system", help="the server, if the places have backups of several")
                verb.add_argument("--base", metavar="LABEL", help="this base backup instead of the newest that fits")
            if name in ADDED:
                ADDED[name](verb)

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return options["verb"] in (None, "status")  # `list` and `verify` need no database at all

    def handle(self, *args: Any, verb: str | None, **options: Any) -> None:
        verb = verb or "status"
        faults = _needed()
        try:
            lines, told, failed = getattr(self, f"_{verb}")(options)
        except faults as error:
            raise CommandError(str(error).strip(), returncode=2) from error
        except ProgrammingError as error:
            words = f"The database lacks what this needs: {str(error).strip().splitlines()[0]}."
            raise CommandError(f"{words} Run `manage.py migrate`.", returncode=2) from error
        if not options["json"]:
            self.stdout.write("\n".join(lines))
        elif told is not None:
            self.stdout.write(json.dumps(told, default=_plain))
        if failed:
            sys.exit(1)

    def _status(self, options: dict[str, Any]) -> Told:
        _need_places()
        views = read_backups()
        lines = [line for one in views for line in _view(one)] or ["Nothing is known yet: start `backup stream`."]
        late = conf().BACKUP_BEHIND_SECONDS
        wrong = any(one.error or one.behind_seconds is None or one.behind_seconds > late for one in views)
        if all(one.base_seconds is None for one in views):
            lines.append("! There is no base backup, so nothing could be restored. Make one: `manage.py backup run`.")
            wrong = True
        return lines, [asdict(one) for one in views], wrong

    def _run(self, options: dict[str, Any]) -> Told:
        from tasks_app.backup.base import take_base
        from tasks_app.backup.ownership import refuse_copy
        from tasks_app.backup.places import stores
        from tasks_app.backup.programs import programs_for
        from tasks_app.backup.server import ask_server
        from tasks_app.backup.stream import note_content

        facts = ask_server()
        refuse_copy()
        places = stores(facts.system)
        progress = self._progress("bytes", options)
        if not options["fast"]:
            self.stderr.write(
                "It begins with the server's next checkpoint, in some minutes; --fast doesn't wait for it."
            )
        base, errors = take_base(facts, programs_for(facts.major), places, fast=options["fast"], progress=progress)
        note_content(places)
        lines = [
            f"Base backup {base.label}: {base.bytes:,} bytes, {base.stored_bytes:,} stored, in "
            f"{_span((base.ended - base.began).total_seconds())}; read back."
        ]
        lines += [f"! {place} has none of it: {error}." for place, error in errors.items()]
        return lines, base.to_json() | {"errors": errors}, bool(errors)

    def _stream(self, options: dict[str, Any]) -> Told:
        from tasks_app.backup.stream import Stream

        stream, stopped = Stream(synchronous=options["synchronous"]), threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        logging.getLogger("tasks_app.backup").setLevel(logging.INFO)
        places = ", ".join(one.label for one in stream.places)
        # It waits, as beats and workers do: somebody may say at any time that this is the new primary.
        self.stderr.write(f"{stream.hold.why}." if stream.hold else f"The log goes to {places}.")
        stream.run(stopped)
        return ["Stopped."], {"stopped": True}, False

    def _verify(self, options: dict[str, Any]) -> Told:
        from tasks_app.backup.errors import BackupError
        from tasks_app.backup.ownership import refuse_copy
        from tasks_app.backup.places import stores
        from tasks_app.backup.restore import verify
        from tasks_app.backup.stream import note_content

        done = verify(
            urls=options["urls"],
            system=options["system"],
            label=options["base"],
            base_only=options["base_only"],
            scratch=options["scratch"],
            say=self._say(options),
            progress=self._progress("parts", options),
        )
        if options["urls"] is None:
            # A backup is verified elsewhere, too, or after the database was lost.
            with suppress(BackupError, OperationalError, InterfaceError, ProgrammingError):
                refuse_copy()
                note_content(stores(_system_here()))
        lines = []
        for one in done:
            what = f"{one.place}, base {one.base}" if one.base else one.place
            lines += [f"! {what}: {problem.rstrip('.')}." for problem in one.problems] or [
                f"{one.place}, base {one.base}: sound. It started, and has all until {_moment(one.reached)}; "
                f"{_span(one.seconds)}."
            ]
        return lines, [asdict(one) for one in done], any(one.problems for one in done)

    def _list(self, options: dict[str, Any]) -> Told:
        from tasks_app.backup.base import proofs_in, read_bases
        from tasks_app.backup.places import FAULTS, all_systems, vacant

        lines: list[str] = []
        told: list[dict[str, Any]] = []
        failed = False
        for store in all_systems(options["urls"]):
            try:
                proved = {proof.label: proof.at for proof in proofs_in(store)}
                bases, unreadable = read_bases(store)
                for label, error in unreadable.items():
                    failed = True
                    lines.append(f"! {store.label}  {label}  {error}.")
                    told.append({"place": store.label, "label": label, "error": error})
                for base in bases:
                    at = proved.get(base.label)
                    lines.append(
                        f"{store.label}  {base.label}  server {base.system}, PostgreSQL {base.version // 10_000}, "
                        f"timeline {base.timeline}, {base.stored_bytes:,} bytes, "
                        + (f"restored {_moment(at)}" if at else "never restored")
                    )
                    told.append({"place": store.label, "restored": at, **base.to_json()})
                lines += [f"{store.label}  {one}" for one in _forks(store)]
            except (*FAULTS, KeyError, ValueError) as error:
                failed = True
                lines.append(f"! {store.label}: {error}")
                told.append({"place": store.label, "error": str(error)})
        for place, why in vacant(options["urls"]).items():
            failed = True
            lines.append(f"! {place}: {why}.")
            told.append({"place": place, "error": why})
        return lines or ["There is no base backup."], told, failed or not told

    def _prune(self, options: dict[str, Any]) -> Told:
        from tasks_app.backup.keeping import prune
        from tasks_app.backup.ownership import refuse_copy
        from tasks_app.backup.places import stores
        from tasks_app.backup.stream import note_content

        places = stores(_system_here())
        refuse_copy()
        done = prune(places, dry_run=options["dry_run"])
        if not options["dry_run"]:
            note_content(places)
        would = "would go" if options["dry_run"] else "gone"
        lines = [
            f"! {one.place}: {one.error}."
            if one.error
            else f"{one.place}: {', '.join(one.bases) or 'no base'} {would}, and {one.segments:,} files of the log."
            for one in done
        ]
        return lines, [asdict(one) for one in done], any(one.error for one in done)

    def _restore(self, options: dict[str, Any]) -> Told:
        from tasks_app.backup.restore import restore, served

        folder = options["folder"]
        if options["dry_run"]:
            return self._foresee(options)
        if options["home"]:
            folder = _in_home(folder)
        done = restore(
            folder,
            to=options["to"],
            urls=options["urls"],
            system=options["system"],
            label=options["base"],
            timeline=options["timeline"],
            by=account(),
            say=self._say(options),
            progress=self._progress("parts", options),
        )
        lines = [
            f"Restored into {done.folder} from {done.place}, base {done.base}, in {_span(done.seconds)}.",
            f"It has all that was committed until {_moment(done.reached)}, and is in quarantine: it dispatches nothing "
            "until somebody says what it is.",
            *_beside(done.followed, done.others),
            *_after(done.after, done.folder),
            *(f"! Segment {name} of the log could not be read: {why}" for name, why in done.lost.items()),
        ]
        told = asdict(done) | {"after": {"known": done.after.known, "tasks_run": done.after.tasks_run}}
        told["after"] |= {"why_not": done.after.why_not, "added": len(done.after.added)}
        if not options["start"]:
            how = _start_with(options["folder"], done.folder, options["home"])
            lines.append(f"It is stopped. Start it with `{how}`.")
            lines += _waits(done.waits_for)
            return lines, told, bool(done.lost)
        stopped = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        with served(done) as server:
            self.stdout.write(
                json.dumps(told | {"database_url": server.url}, default=_plain)
                if options["json"]
                else "\n".join([*lines, f"export DATABASE_URL='{server.url}'", "# It runs until Ctrl-C."])
            )
            self.stdout.flush()
            while not stopped.wait(1.0):
                if not server.alive:
                    raise EmbeddedError(f"The restored server ended. Its log ends with:\n{server.log_tail()}")
        return ["Stopped."], None, bool(done.lost)

    def _foresee(self, options: dict[str, Any]) -> Told:
        from tasks_app.backup.restore import plan

        folder = options["folder"] / "servers" / "postgres" if options["home"] else options["folder"]
        given = {name: options[name] for name in ("to", "urls", "system", "timeline")}
        seen = plan(folder, label=options["base"], **given)
        until = f"to {_moment(options['to'])}" if options["to"] else "to the last moment that is there"
        end = "fail if that is later than" if options["to"] else "end before"
        spool = ", with what the spool has" if seen.spool else ""
        lines = [
            f"Nothing was changed. Base backup {seen.base}, complete since {_moment(seen.base_ended)}, would be "
            f"unpacked from {' or '.join(seen.places)} into {seen.folder}: {seen.bytes / 1e6:,.0f} MB.",
            f"Then {counted(seen.segments, 'segment')} of the log would be replayed{spool}, at most "
            f"{seen.log_bytes / 1e6:,.0f} MB, {until}.",
            *([f"It would follow timeline {seen.timeline}. There are:"] if seen.timelines else []),
            *(f"  {one}" for one in seen.timelines),
            *(f"! {place} can't be read: {why}." for place, why in seen.away.items()),
            *(f"! It would {end} segment {name} of the log: {why}." for name, why in seen.missing.items()),
        ]
        if not seen.has_room:
            lines.append(f"! There is no room for it: the disk has {seen.free_bytes / 1e6:,.0f} MB free.")
        wrong = (bool(seen.missing) and not options["to"]) or not seen.has_room
        return lines, asdict(seen) | {"has_room": seen.has_room}, wrong

    def _say(self, options: dict[str, Any]) -> Callable[[str], None]:
        return lambda line: None if options["json"] else self.stderr.write(f"{line} …")

    def _progress(self, what: str, options: dict[str, Any]) -> Callable[[int, int], None]:
        """A line now and then."""
        last = time.monotonic()

        def told(done: int, total: int) -> None:
            nonlocal last
            if not options["json"] and time.monotonic() - last > PROGRESS_SECONDS:
                last = time.monotonic()
                self.stderr.write(f"  {min(done / max(total, 1), 1):.0%} ({done:,} of about {total:,} {what})")

        return told


VERBS = {
    "status": "how far behind each place is",
    "run": "make a base backup now",
    "stream": "take the log to the places while it happens, and make bases, until it is stopped",
    "verify": "restore the newest base of each place in a temporary folder, and start it",
    "list": "what lies in the places",
    "prune": "drop what is too old now",
    "restore": "make a new server of what lies in the places",
}


def _for_restore(verb: ArgumentParser) -> None:
    verb.add_argument("folder", type=Path, help="a new one, which becomes the server's data directory")
    verb.add_argument("--to", type=_a_moment, metavar="TIME", help="such as 2026-11-16T14:05:00+00:00; else the last")
    verb.add_argument(
        "--timeline", type=int, metavar="N", help="follow this one, if two servers have gone on from the same point"
    )
    verb.add_argument("--home", action="store_true", help="make the folder a home for `make up` with this database")
    verb.add_argument("--dry-run", action="store_true", help="say what would be restored from where, and do nothing")
    verb.add_argument("--start", action="store_true", help="start it on a socket of its own, and stay until Ctrl-C")


def _for_verify(verb: ArgumentParser) -> None:
    verb.add_argument("--base-only", action="store_true", help="without the log that came after it")
    verb.add_argument("--scratch", type=Path, metavar="FOLDER", help="where there is room for a copy of the database")


ADDED: dict[str, Callable[[ArgumentParser], object]] = {
    "run": lambda verb: verb.add_argument("--fast", action="store_true", help="don't wait for the next checkpoint"),
    "stream": lambda verb: verb.add_argument(
        "--synchronous", action="store_true", help="confirm each commit: for synchronous_standby_names"
    ),
    "prune": lambda verb: verb.add_argument("--dry-run", action="store_true", help="say what would go"),
    "verify": _for_verify,
    "restore": _for_restore,
}


def _needed() -> tuple[type[Exception], ...]:
    """What can go wrong, if all that is needed is installed."""
    try:
        from tasks_app.archive.place import FAULTS
    except ImportError:
        raise CommandError("pyarrow is missing: pip install 'django-punctual[archive]'.", returncode=2) from None
    from tasks_app.backup.errors import BackupError

    return (BackupError, EmbeddedError, *FAULTS)


def _need_places() -> None:
    if not conf().BACKUP_URLS:
        words = 'There is no place for backups: PUNCTUAL["BACKUP_URLS"] is empty.'
        raise CommandError(f"{words} Name two folders or buckets; {page('backup')} says how.", returncode=2)


def _system_here() -> str:
    from tasks_app.backup.server import ask_server

    return ask_server().system


def _in_home(home: Path) -> Path:
    from tasks_app.embedded import open_home
    from tasks_app.embedded.account import server_account
    from tasks_app.embedded.places import open_servers

    home = open_home(home)
    return open_servers(home, server_account(home)) / "postgres"


def _a_moment(text: str) -> datetime:
    found: datetime | None
    try:
        found = parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise ArgumentTypeError(f"{shown(text)} is no moment; write it as 2026-11-16T14:05:00+00:00.")
    if found.tzinfo is None:
        raise ArgumentTypeError(f"{shown(text)} has no offset from UTC; write it as {text}+00:00, say.")
    return found


def _view(one: BackupView) -> list[str]:
    behind = "nothing has arrived" if one.behind_seconds is None else f"{_span(one.behind_seconds)} behind"
    size = f", {one.behind_bytes:,} bytes" if one.behind_bytes else ""
    base = f"base {one.base}, {_span(one.base_seconds)} old" if one.base_seconds is not None else "no base"
    many = f", {one.bases:,} in all" if one.bases else ""
    proved = "never restored" if one.restored_seconds is None else f"last restored {_span(one.restored_seconds)} ago"
    lines = [f"{one.place}: {behind}{size}; {base}{many}; {proved}."]
    if one.error:
        lines.append(f"! {one.place} has got nothing for {_span(one.error_seconds or 0.0)}: {one.error}.")
    return lines


def _after(after: Any, folder: Path) -> list[str]:
    if not after.known:
        return [f"What the original did after that is not known: {after.why_not}."]
    if not after.runs and not after.added:
        return ["The original has done nothing after that."]
    more = "" if after.complete else " (and more)"
    return [
        f"After that the original ran {counted(after.tasks_run, 'task')} and took on "
        f"{counted(len(after.added), 'new one')}{more}: "
        f"they are listed in {folder}.after.json."
    ]


def _start_with(given: Path, data: Path, home: bool) -> str:
    """For a shell."""
    return f"PUNCTUAL_HOME={quote(str(given.resolve()))} make up" if home else f"pg_ctl -D {quote(str(data))} start"


def _forks(store: Any) -> list[str]:
    from tasks_app.backup.sources import Sources
    from tasks_app.core.wal import lsn_text

    sources = Sources([store], None).look()
    left = [(one, *origin) for one in sources.timelines() if (origin := sources.left_at(one))]
    return [f"timeline {one} left timeline {parent} at {lsn_text(position)}" for one, parent, position in left]


def _beside(followed: int, others: list[str]) -> list[str]:
    if not others:
        return []
    return [f"The log is that of timeline {followed}. There is also {'; and '.join(others)}: --timeline takes it."]


def _waits(name: str) -> list[str]:
    """The settings of the original are in it, and commits would hang without a word."""
    if not name:
        return []
    return [
        f"! Its synchronous_standby_names is {name!r}, as the original's was: no commit returns until that streams "
        "from it. Start `backup stream --synchronous`, or the standby, for it; or run ALTER SYSTEM RESET "
        "synchronous_standby_names and SELECT pg_reload_conf() there."
    ]


def _span(seconds: float) -> str:
    return span(timedelta(seconds=seconds))


def _moment(at: datetime | None) -> str:
    return "-" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3] + " UTC"


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(value)
