"""`manage.py tenant list|show|use|create|edit|suspend|resume|archive`: who shares the installation, and how much."""

import json
from argparse import SUPPRESS, ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.dateparse import parse_datetime

from tasks_app.core.errors import PunctualError
from tasks_app.core.phrases import counted
from tasks_app.core.tenants import COUNTED as COUNTED_QUOTAS
from tasks_app.core.tenants import QUOTAS, USUAL_WEIGHT
from tasks_app.core.text import visible
from tasks_app.engine.watch.tenants import (
    COUNTED,
    USE_HOURS,
    TenantView,
    defaults_of,
    list_tenants,
    quotas_of,
    settings_of,
    use_of,
    view_of,
    words_of,
)
from tasks_app.lifecycle import tenant_archive, tenants
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import JobDefinition

MOST = 10_000


class Command(TerminalCommand):
    help = "Lists tenants, shows one, makes or changes one, suspends it, resumes it or takes it to the archive."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listed = verbs.add_parser("list", help="all tenants there are")
        show = verbs.add_parser("show", help="one tenant, its quotas and what it uses")
        use = verbs.add_parser("use", help="how much of its quotas it has used, by the hour")
        create = verbs.add_parser("create", help="a new tenant; not needed before its first task")
        edit = verbs.add_parser("edit", help="change a tenant or its quotas")
        suspend = verbs.add_parser("suspend", help="nothing of it is started or planned, and all its data stays")
        resume = verbs.add_parser("resume", help="it goes on, with what came due meanwhile")
        archive = verbs.add_parser("archive", help="export all that is its own, and then remove it here")
        for verb in (show, use, create, edit, suspend, resume, archive):
            verb.add_argument("name")
        for verb in (create, edit):
            verb.add_argument("--title", help="for people")
            verb.add_argument("--timezone", help="of its new jobs by the clock, such as Europe/Berlin; default: UTC")
            verb.add_argument("--contact", action="append", dest="contacts", help="a mail address; repeatable")
            verb.add_argument("--weight", type=int, help=f"its share beside others; {USUAL_WEIGHT} is the usual one")
            verb.add_argument("--lane", help="of its tasks and jobs, where nobody names one; '' is none")
            verb.add_argument("--retention", help="the class that its past is kept in; '' is none")
            verb.add_argument("--retry-share", type=_share, default=SUPPRESS, help="of all its tries: retries; or none")
            verb.add_argument("--retry-burst", type=_quota, default=SUPPRESS, help="retries at once; or none")
            for quota in QUOTAS.values():
                flag = f"--{quota.name.replace('_', '-')}"
                words = f"{quota.words}, at most; none: no limit"
                verb.add_argument(flag, dest=quota.name, type=_quota, default=SUPPRESS, help=words)
        suspend.add_argument("--until", help="resume it by itself then, such as 2027-03-01T09:00+01:00")
        suspend.add_argument("--dry-run", action="store_true", help="say what it would stop, and change nothing")
        archive.add_argument("--dry-run", action="store_true", help="say what it would move, and change nothing")
        archive.add_argument("--destroy-key", action="store_true", help="destroy its keys in the end, for good")
        archive.add_argument("--yes", action="store_true", help="without being asked")
        archive.add_argument("--stop", action="store_true", help="stop it; nothing is lost")
        archive.add_argument("--continue", action="store_true", dest="go_on", help="go on where it was stopped")
        for verb in (create, edit, suspend, resume, archive):
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
        for verb in (create, edit, archive):
            verb.add_argument("--reason", default="no reason was given", help="why, for the audit")
        for verb in (suspend, resume):
            verb.add_argument("--reason", required=True, help="why, for the audit, and for whoever asks why")
        use.add_argument("--hours", type=_hours, default=24, help=f"how far back, up to {USE_HOURS}; default: 24")
        use.add_argument("--quota", choices=COUNTED_QUOTAS, help="only this one")
        for verb in (listed, show, use):
            verb.add_argument("--json", action="store_true", dest="as_json", help="for programs")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return options["verb"] in ("list", "show", "use") or bool(options.get("dry_run"))

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except PunctualError as error:
            raise CommandError(str(error)) from None

    def _list(self, options: dict[str, Any]) -> None:
        found = list_tenants("", MOST)
        if options["as_json"]:
            self.stdout.write(json.dumps([_as_json(one) for one in found], indent=2))
            return
        for row, held, _ in found:
            word = "suspended" if row.suspended else "archived"
            state = "active" if row.state == row.ACTIVE else f"{word} since {row.since:%Y-%m-%d %H:%M}: {row.reason}"
            waiting = f", {_number(held)} wait" if held else ""
            self.stdout.write(visible(f"{row.name:30}  {state}{waiting}  {row.title}".rstrip()))
        if not found:
            self.stdout.write("No tenant has a row yet: all that there are, are active and have no quotas.")

    def _show(self, options: dict[str, Any]) -> None:
        view = view_of(tenants.found(options["name"]))
        if options["as_json"]:
            self.write_json(_as_json(view), indent=2)
            return
        row = view.row
        lines = [f"{row.name}  {row.title}".rstrip()]
        if row.suspended:
            until = f" until {row.until:%Y-%m-%d %H:%M} UTC" if row.until else ""
            lines.append(
                f"suspended since {row.since:%Y-%m-%d %H:%M} UTC{until} by {row.changed_by}: {row.reason}; "
                f"{_number(view.held_tasks)} tasks wait"
            )
        elif row.archived:
            lines.append(f"archived on {row.since:%Y-%m-%d %H:%M} UTC by {row.changed_by}: {row.reason}")
        else:
            lines.append("active")
        if view.archive is not None:
            lines.append(words_of(view.archive))
        lines.append(f"weight {row.weight}, time zone {row.timezone or 'UTC'}")
        for one in quotas_of(row):
            used = "" if one.used is None else f", {one.used:,} used{' (near)' if one.near else ''}"
            lines.append(f"{one.name}: {'none' if one.limit is None else f'{one.limit:,}'}{used}")
        lines += [f"contacts: {', '.join(row.contacts) or 'none'}"]
        lines += [f"{name}: {says}" for name, says in defaults_of(row).items()]
        lines += [f"{name} by the settings: {says}" for name, says in settings_of(row).items()]
        self.stdout.write(visible("\n".join(lines), lines=True))

    def _use(self, options: dict[str, Any]) -> None:
        quotas = COUNTED_QUOTAS if options["quota"] is None else (options["quota"],)
        use = use_of(tenants.found(options["name"]).name, options["hours"], quotas)
        if options["as_json"]:
            rows = [(quota, *hour) for quota, hours in use.items() for hour in hours]
            keys = ("quota", "hour", "used", "limit")
            told = [dict(zip(keys, (quota, at.isoformat(), *rest), strict=True)) for quota, at, *rest in rows]
            self.stdout.write(json.dumps(told, indent=2))
            return
        for quota, hours in use.items():
            self.stdout.write(quota)
            for one in hours:
                share = f"{one.used / one.limit:.0%}" if one.limit else "over"
                self.stdout.write(f"  {one.hour:%Y-%m-%d %H:%M}  {one.used:>12,} of {one.limit:,} ({share})")
        if not use:
            self.stdout.write(f"Nothing of a quota was used in the last {counted(options['hours'], 'hour')}.")

    def _create(self, options: dict[str, Any]) -> None:
        row = tenants.create(options["name"], _operator(options), **_given(options))
        self.stdout.write(f"There is a tenant {row.name!r} now.")

    def _edit(self, options: dict[str, Any]) -> None:
        done = tenants.edit(options["name"], _given(options), _operator(options))
        words = "is changed" if done.changed else "is so already; nothing was changed"
        self.stdout.write(f"Tenant {done.row.name!r} {words}.")

    def _suspend(self, options: dict[str, Any]) -> None:
        until = options["until"] and parse_datetime(options["until"])
        if options["until"] and (until is None or until.tzinfo is None):
            raise CommandError(f"--until {options['until']!r} is no time with a zone, such as 2027-03-01T09:00+01:00.")
        if options["dry_run"]:
            name = tenants.checked_tenant(options["name"])
            jobs = JobDefinition.objects.filter(tenant=name).order_by()[:MOST].count()
            self.stdout.write(
                f"Nothing of tenant {name!r} would be started any more, and its {counted(jobs, 'job')} would not fire; "
                "what runs would go on. Nothing was changed."
            )
            return
        done = tenants.suspend(options["name"], _operator(options), until=until)
        words = "is suspended" if done.changed else "is suspended already; nothing was changed"
        self.stdout.write(f"Tenant {done.row.name!r} {words}. What runs goes on to its end.")

    def _resume(self, options: dict[str, Any]) -> None:
        done = tenants.resume(options["name"], _operator(options))
        if not done.changed:
            self.stdout.write(f"Tenant {done.row.name!r} is not suspended; nothing was changed.")
            return
        held = view_of(done.row).held_tasks
        waits = f" {_number(held)} tasks that came due meanwhile are put back by a beat within seconds." if held else ""
        self.stdout.write(f"Tenant {done.row.name!r} is resumed.{waits}")

    def _archive(self, options: dict[str, Any]) -> None:
        name = options["name"]
        if options["dry_run"]:
            rows = [f"{rows:,} of {what.replace('_', ' ')}" for what, rows in tenant_archive.would_move(name).items()]
            told = ", ".join(rows) or "nothing"
            self.stdout.write(
                f"Tenant {name!r} would be stopped, and this would go to the archive with what lies beside it: {told}. "
                "Nothing was changed."
            )
        elif options["stop"]:
            tenant_archive.stop(name, _operator(options))
            self.stdout.write("Stopped. `--continue` goes on where it was.")
        elif options["go_on"]:
            tenant_archive.go_on(name, _operator(options))
            self.stdout.write("It goes on.")
        else:
            self._begin_archive(name, options)

    def _begin_archive(self, name: str, options: dict[str, Any]) -> None:
        if not options["yes"]:
            self.stdout.write(
                f"Tenant {name!r} is stopped for good. All that is its own goes to the archive and is removed here, "
                "and its name is not given out again."
                + (" What is encrypted can't be read by anybody then." if options["destroy_key"] else "")
            )
            if input("Type the name of the tenant to archive it: ") != name:
                raise CommandError("That is not its name. Nothing was changed.")
        begun = tenant_archive.begin(name, _operator(options), destroy_key=options["destroy_key"])
        self.stdout.write(
            f"Tenant {name!r} is being archived by the beats, in {begun.folder}; `manage.py tenant show` says how far "
            "they are."
        )


def _quota(text: str) -> int | None:
    if text == "none":
        return None
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} must be a whole number, or none")
    return int(text)


def _hours(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= USE_HOURS:
        raise ArgumentTypeError(f"{text!r} must be a whole number from 1 to {USE_HOURS}")
    return int(text)


def _share(text: str) -> float | None:
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} must be a share such as 0.2, or none") from None


def _given(options: dict[str, Any]) -> dict[str, object]:
    """What was named on the command line. A quota of `none` is one that is taken away."""
    given = {
        name: options[name]
        for name in ("title", "timezone", "contacts", "weight", "lane", "retention")
        if options[name] is not None
    }
    return given | {name: options[name] for name in ("retry_share", "retry_burst", *QUOTAS) if name in options}


def _operator(options: dict[str, Any]) -> Operator:
    return Operator(options["by"], options["reason"])


def _number(held: int) -> str:
    return f"{held:,}{' or more' if held == COUNTED else ''}"


def _as_json(view: TenantView) -> dict[str, object]:
    row = view.row
    return {
        "name": row.name,
        "title": row.title,
        "state": row.state,
        "reason": row.reason,
        "since": row.since.isoformat(),
        "until": row.until and row.until.isoformat(),
        "timezone": row.timezone or "UTC",
        "contacts": row.contacts,
        "weight": row.weight,
        "encrypted": row.encrypted,
        "defaults": {name: getattr(row, name) for name in tenants.DEFAULTS},
        "quotas": {name: getattr(row, name) for name in QUOTAS},
        "tasks": row.tasks,
        "held_tasks": view.held_tasks,
        "archive": view.archive and words_of(view.archive),
    }
