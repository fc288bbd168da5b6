"""What the API changes leaves an entry in the audit trail; and what leaves none, with the reason."""

from datetime import timedelta

from django.utils import timezone

from tasks_app.engine.operations.lanes import pause
from tasks_app.lifecycle.secret_verbs import set_secret
from tasks_app.models import AlarmRule, AuditEntry
from tests.support.operators import operator
from tests.support.ready import Ready
from tests.support.schema import Operation

# Work, and no deed of an operator: events tell of it.
WITHOUT_ENTRY = {
    "preview_draft": "it changes nothing",
    "create_task": "a task was created, which is an event",
    "create_tasks": "the same",
    "progress_task": "how far a run is, told by whoever runs it",
}


# What finds something to do only if somebody did something else before, or asks for something that is there.
def _paused_job(asked: Ready) -> dict:
    asked.api.post(f"/jobs/{asked.ids['job_id']}/pause", {"reason": "x"})
    return {}


def _paused_lane(asked: Ready) -> dict:
    pause(str(asked.ids["lane"]), by="olga", reason="x")
    return {"reason": "x"}


def _paused_subscription(asked: Ready) -> dict:
    asked.api.post(f"/subscriptions/{asked.ids['subscription_id']}/pause", {"reason": "x"})
    return {"reason": "x"}


def _two_signing_secrets(asked: Ready) -> dict:
    asked.api.post(f"/subscriptions/{asked.ids['subscription_id']}/secrets", {"reason": "x"})
    return {"reason": "x"}


def _two_values(asked: Ready) -> None:
    set_secret(str(asked.ids["name"]), operator(), tenant="default", keep_old=True)


def _a_task(asked: Ready) -> dict:
    return {"tasks": [{"id": asked.ids["task_id"]}], "reason": "x"}


def _an_hour(asked: Ready) -> dict:
    until = timezone.now() - timedelta(minutes=1)
    return {"since": (until - timedelta(minutes=5)).isoformat(), "until": until.isoformat()}


def _letters(asked: Ready) -> dict:
    return {"task_type": "T_QUIET", "reason": "x"}


def _no_rule(asked: Ready) -> None:
    AlarmRule.objects.all().delete()


def _suspended(asked: Ready) -> dict:
    asked.api.post(f"/tenants/{asked.ids['name']}/suspend", {"reason": "x"})
    return {"reason": "x"}


STATES = {
    "resume_tenant": _suspended,
    "resume_job": _paused_job,
    "resume_lane": _paused_lane,
    "resume_subscription": _paused_subscription,
    "withdraw_subscription_secrets": _two_signing_secrets,
    "withdraw_secret": _two_values,
    "cancel_tasks": _a_task,
    "backfill_job": _an_hour,
    "replay_dead_letters": _letters,
    "discard_dead_letters": _letters,
    "delete_alarm_channel": _no_rule,
}
ELSEWHERE = {"test_alarm_channel"}  # calls somebody, at most so often: tests/database/alarms/test_sending.py


def last_entry() -> int:
    return AuditEntry.objects.order_by("-id").values_list("id", flat=True).first() or 0


def refuse_untold(one: Operation, after: int, body: dict | None = None) -> None:
    """A call of this operation that went well must have left an entry: by whom, from where, and about what."""
    entries = AuditEntry.objects.filter(id__gt=after)
    changed = one.id not in WITHOUT_ENTRY and not (body or {}).get("dry_run")
    assert changed is bool(entries), f"{one.id}: {list(entries)}"
    for entry in entries:
        assert entry.address == "127.0.0.1", entry
        assert entry.actor and entry.subject and entry.reason, entry
