"""`manage.py calendars list|show|import|delete`: sets of days off that jobs keep."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.calendars import WEEKDAYS
from tasks_app.core.errors import PunctualError
from tasks_app.core.phrases import counted
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.engine.operations.calendars import delete_calendar, import_calendar
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Calendar


class Command(TerminalCommand):
    help = "Lists calendars, shows one, fills one from an iCalendar file, or deletes one."
    reads = ("list", "show")

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listed = verbs.add_parser("list", help="all calendars of a tenant")
        show = verbs.add_parser("show", help="the days of one calendar")
        taken = verbs.add_parser("import", help="take the all-day events of an iCalendar file as days off")
        taken.add_argument("file", help="an .ics file")
        taken.add_argument("--years", type=int, default=10, help="expand recurring events so many years ahead (10)")
        taken.add_argument("--replace", action="store_true", help="drop the days off that the file does not have")
        delete = verbs.add_parser("delete", help="delete a calendar that no job keeps")
        for verb in (show, delete):
            verb.add_argument("name")
        taken.add_argument("--name", help="of the calendar; the name of the file without .ics unless given")
        for verb in (listed, show, taken, delete):
            verb.add_argument("--tenant", default=DEFAULT_TENANT)
        for verb in (taken, delete):
            verb.add_argument("--reason", default="no reason was given", help="why, for the audit")
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except PunctualError as error:
            raise CommandError(str(error)) from None

    def _list(self, options: dict[str, Any]) -> None:
        found = list(Calendar.objects.filter(tenant=options["tenant"]).order_by("name"))
        for calendar in found:
            self.stdout.write(f"{calendar.name}: {_in_short(calendar)}")
        if not found:
            self.stdout.write(f"Tenant {options['tenant']!r} has no calendars.")

    def _show(self, options: dict[str, Any]) -> None:
        calendar = _named(options)
        self.stdout.write(f"{calendar.name}: {_in_short(calendar)}")
        both = calendar.days_off | {
            day: f"{note} (a working day)".strip() for day, note in calendar.working_days.items()
        }
        for day, note in sorted(both.items()):
            self.stdout.write(f"  {day} {note}".rstrip())

    def _import(self, options: dict[str, Any]) -> None:
        path = Path(options["file"])
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CommandError(f"{path} can't be read: {error.strerror}.") from None
        done = import_calendar(
            options["name"] or path.stem,
            content,
            Operator(options["by"], options["reason"]),
            tenant=options["tenant"],
            years=options["years"],
            replace=options["replace"],
        )
        self.stdout.write(
            f"The calendar {done.calendar.name!r} has {counted(len(done.calendar.days_off), 'day')} off now, "
            f"{done.days:,} of them from {path.name}."
        )
        for words in done.left_out:
            self.stdout.write(words)

    def _delete(self, options: dict[str, Any]) -> None:
        calendar = _named(options)
        delete_calendar(calendar.id, Operator(options["by"], options["reason"]), tenant=options["tenant"])
        self.stdout.write(f"The calendar {calendar.name!r} is deleted.")


def _named(options: dict[str, Any]) -> Calendar:
    found: Calendar | None = Calendar.objects.filter(tenant=options["tenant"], name=options["name"]).first()
    if found is None:
        raise CommandError(f"tenant {options['tenant']!r} has no calendar named {options['name']!r}.")
    return found


def _in_short(calendar: Calendar) -> str:
    every = ", ".join(WEEKDAYS[number - 1] for number in calendar.weekdays)
    words = [f"every {every}"] if every else []
    words.append(f"{counted(len(calendar.days_off), 'listed day')} off")
    if calendar.working_days:
        words.append(f"{counted(len(calendar.working_days), 'working day')} all the same")
    return ", ".join(words)
