"""`manage.py alarms list|test`: what is wrong, who is told, and whether they can be."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import PunctualError
from tasks_app.core.phrases import counted
from tasks_app.engine.operations.alarms import test_channel
from tasks_app.engine.watch.alarm_browse import IncidentFilter, page_of_incidents
from tasks_app.lifecycle.alarms.view import about, conditions_of, title_of
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import AlarmChannel, AlarmIncident, AlarmRule

SHOWN = 100


class Command(TerminalCommand):
    help = "Lists open incidents, alarm rules and channels, or sends a channel a test alert."
    reads = ("list",)

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        shown = verbs.add_parser(
            "list", help="what is open, the rules and the channels; exits with 1 if anything is open"
        )
        test = verbs.add_parser("test", help="send a test alert; exits with 1 if it could not be sent")
        test.add_argument("channel", help="its name")
        test.add_argument("--tenant", help="whose channel it is; left out: the operators'")
        test.add_argument("--by", default=account(), help="who does this; default: the system user")
        for verb in (shown, test):
            verb.add_argument("--json", action="store_true", help="for programs")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            bad = getattr(self, f"_{verb}")(options)
        except PunctualError as error:
            raise CommandError(str(error)) from None
        if bad:
            raise SystemExit(1)

    def _list(self, options: dict[str, Any]) -> bool:
        incidents, _ = page_of_incidents(IncidentFilter(everybody=True, open_only=True), None, SHOWN)
        rules = list(AlarmRule.objects.order_by("tenant", "name")[:SHOWN])
        channels = list(AlarmChannel.objects.defer("target").order_by("tenant", "name")[:SHOWN])
        if options["json"]:
            self._print(
                {
                    "incidents": [_incident(one) for one in incidents],
                    "rules": [_rule(one) for one in rules],
                    "channels": [_channel(one) for one in channels],
                }
            )
            return bool(incidents)
        self.stdout.write(f"Open incidents: {len(incidents) or 'none'}")
        for one in incidents:
            self.stdout.write(f"  {one.opened_at:%Y-%m-%d %H:%M:%S}  {title_of(one)}")
        self.stdout.write(f"\nRules: {len(rules) or 'none: nobody is told when something goes wrong'}")
        for one in rules:
            state = "" if one.enabled else "  (off)"
            self.stdout.write(f"  {one.name} [{_owner(one)}] {about(one)}: {'; '.join(conditions_of(one))}{state}")
        self.stdout.write(f"\nChannels: {len(channels) or 'none'}")
        for one in channels:
            state = f"failing: {one.error}" if one.failing_since else "on" if one.enabled else "off"
            self.stdout.write(f"  {one.name} [{_owner(one)}] {one.kind} {one.shown}: {state}")
        return bool(incidents)

    def _test(self, options: dict[str, Any]) -> bool:
        channel = AlarmChannel.objects.filter(tenant=options["tenant"], name=options["channel"]).first()
        if channel is None:
            whose = "of the operators" if options["tenant"] is None else f"of tenant {options['tenant']!r}"
            known = AlarmChannel.objects.count()
            raise CommandError(
                f"There is no alarm channel {options['channel']!r} {whose}; `alarms list` shows "
                f"{counted(known, 'channel')}."
            )
        tested = test_channel(channel, Operator(options["by"], "manage.py alarms test"))
        if options["json"]:
            self._print({"ok": tested.ok, "words": tested.words})
        else:
            words = "The test alert was sent:" if tested.ok else "The test alert could not be sent."
            self.stdout.write(f"{words} {tested.words}")
        return not tested.ok

    def _print(self, found: dict[str, Any]) -> None:
        self.write_json(found, indent=2, ensure_ascii=False)


def _owner(row: AlarmRule | AlarmChannel) -> str:
    return "all tenants" if row.tenant is None else row.tenant


def _incident(one: AlarmIncident) -> dict[str, Any]:
    return {
        "id": one.id,
        "title": title_of(one),
        "tenant": one.tenant,
        "rule": one.rule,
        "condition": one.condition,
        "cause": one.cause,
        "task_type": one.task_type or None,
        "count": one.count,
        "opened_at": one.opened_at.isoformat(),
        "seen_at": one.seen_at.isoformat(),
    }


def _rule(one: AlarmRule) -> dict[str, Any]:
    plain = ("id", "tenant", "name", "conditions", "task_types", "job", "late_seconds", "running_seconds", "channels")
    return {name: getattr(one, name) for name in (*plain, "repeat_seconds", "quiet_seconds", "runbook", "enabled")}


def _channel(one: AlarmChannel) -> dict[str, Any]:
    plain = {name: getattr(one, name) for name in ("id", "tenant", "name", "kind", "shown", "enabled", "error")}
    return plain | {"failing_since": one.failing_since and one.failing_since.isoformat()}
