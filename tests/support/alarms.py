"""Alarms for tests: rules and channels in a line, events as the scheduler writes them, and time moved by writing it."""

from datetime import timedelta
from uuid import uuid4

from django.db import connection
from django.db.models import F

from tasks_app.engine.beat.alarms.reading import read_events
from tasks_app.lifecycle.alarms.channels import ChannelRequest, bound_to, create_channel
from tasks_app.lifecycle.alarms.incidents import calm_due, tell_due
from tasks_app.lifecycle.alarms.rules import RuleRequest, create_rule
from tasks_app.models import AlarmAlert, AlarmChannel, AlarmIncident, AlarmRule, OutboxEvent
from tasks_app.sealing import seal, unseal
from tests.support.operators import operator

LOCAL = ("public", "127.0.0.1")  # PUNCTUAL["OUTGOING_ALLOW"] of tests that call a receiver on this machine
EXAMPLE = 3  # the channel in the API's examples
ADDRESS = "https://hooks.example.com/T0/secret-part"


def channel(name: str = "ops", *, tenant: str | None = "default", **options) -> AlarmChannel:
    given = {"kind": "webhook", "url": ADDRESS} | options
    return create_channel(ChannelRequest(name=name, **given), operator(), tenant).channel


def rule(name: str = "dying", *, tenant: str | None = "default", channels=None, **options) -> AlarmRule:
    if channels is None:
        known = AlarmChannel.objects.filter(tenant=tenant).first() or channel(tenant=tenant)
        channels = [known]
    given = {"conditions": ("dead",)} | options
    made = create_rule(RuleRequest(name=name, channels=tuple(one.id for one in channels), **given), operator(), tenant)
    read_events()  # from now on
    return made


def died(
    count: int = 1, *, code: str = "SMTP_DOWN", tenant: str = "default", task_type: str = "T_QUIET", **columns
) -> OutboxEvent:
    """As a settle writes it: one row for all deaths of a batch."""
    return happened(
        "task.dead",
        [{"code": code, "message": f"{code}: no answer"}] * count,
        tenant=tenant,
        task_type=task_type,
        task_ids=list(range(1, count + 1)),
        keys=[f"key-{number}" for number in range(1, count + 1)],
        **columns,
    )


def happened(event: str, payloads: list, *, tenant: str = "default", **columns) -> OutboxEvent:
    return OutboxEvent.objects.create(tenant=tenant, event=event, count=len(payloads), payloads=payloads, **columns)


def look() -> None:
    """What a beat does every few seconds; as if the first alert did not have to wait for others."""
    read_events()
    hurry()
    tell_due()
    calm_due()


def hurry() -> None:
    """What is to be told some time is to be told now."""
    AlarmIncident.objects.filter(tell_at__isnull=False, told_at__isnull=True).update(tell_at=F("opened_at"))


def time_passes(seconds: float) -> None:
    """All that is written down lies further back."""
    by = timedelta(seconds=seconds)
    for name in ("opened_at", "seen_at", "calm_at", "tell_at", "told_at"):
        AlarmIncident.objects.filter(**{f"{name}__isnull": False}).update(**{name: F(name) - by})
    for name in ("refilled_at", "next_try_at", "held_until", "failing_since"):
        AlarmChannel.objects.filter(**{f"{name}__isnull": False}).update(**{name: F(name) - by})
    AlarmAlert.objects.update(created_at=F("created_at") - by)


def alarm_ids(tenant: str = "default") -> dict[str, int]:
    """A rule, its channel, an incident and an alert, for the operations of the API; the channel is the one of the
    examples, and has had its alerts, so that nobody is called."""
    if not AlarmChannel.objects.filter(id=EXAMPLE).exists():
        made = channel("there", most_per_hour=1, tenant=tenant)
        sealed = seal(unseal(made.target, bound_to(made.id)), bound_to(EXAMPLE))
        AlarmChannel.objects.filter(id=made.id).update(id=EXAMPLE, permits=0, target=sealed)
        _give_out_others(EXAMPLE)
        watched = [AlarmChannel.objects.get(id=EXAMPLE)]
        watching = rule("there", channels=watched, task_types=("T_PLAIN",), tenant=tenant)
        about = {"condition": "dead", "cause": "E", "task_type": "T_PLAIN", "calm_at": watching.created_at}
        one = AlarmIncident.objects.create(rule=watching.id, tenant=tenant, count=1, sample={}, **about)
        AlarmAlert.objects.create(
            id=uuid4(), channel=EXAMPLE, incident=one.id, kind="opened", body={"title": "x"}, outcome="SENT",
            done_at=watching.created_at,
        )  # fmt: skip
    one = AlarmIncident.objects.get()
    return {"rule_id": one.rule, "channel_id": EXAMPLE, "incident_id": one.id}


def _give_out_others(taken: int) -> None:
    """The next channel has another id, however few there have been."""
    with connection.cursor() as cursor:
        sequence = f"pg_get_serial_sequence('{AlarmChannel._meta.db_table}', 'id')"
        cursor.execute(f"SELECT setval({sequence}, greatest(nextval({sequence}), %s))", [taken])


def kinds(**wanted) -> list[str]:
    """Of the alerts there are, in order."""
    return list(AlarmAlert.objects.filter(**wanted).order_by("created_at", "id").values_list("kind", flat=True))


def titles(**wanted) -> list[str]:
    return [alert.body["title"] for alert in AlarmAlert.objects.filter(**wanted).order_by("created_at", "id")]
