"""A beat that hangs is ended, and the next one skips what two beats hung on. Under plain `celery beat`."""

import json
import os
import signal
from datetime import timedelta

from django_punctual import ToStream, schedule, subscribe
from tasks_app.lifecycle import calendars, stalls
from tasks_app.lifecycle.calendars import CalendarRequest
from tasks_app.models import HeldTask, ScheduleTask, Stall, Subscription
from tests.support.jobs import by, make, now
from tests.support.wait import wait_until

QUICK = {
    "STALL_SECONDS": 0.7,
    "SHARD_LEASE_SECONDS": 0.5,
    "PLAN_AHEAD_SECONDS": 2.0,
    "PLAN_SECONDS": 0.2,
    "EVENTS": ["*"],
}


def is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def test_two_beats_hang_on_an_item_and_the_third_skips_it_and_does_all_else(stack, settings):
    settings.PUNCTUAL, stack.knobs = settings.PUNCTUAL | QUICK, QUICK
    days = [calendars.create(CalendarRequest(name), by()) for name in ("poisoned", "sound")]
    jobs = {
        "poisoned": make("poisoned", cron="*/1 * * * * *"),
        "sound": make("sound", cron="* * * * * *"),
        "poisoned days": make("poisoned days", cron="* * * * * 0-6", calendar="poisoned"),
        "sound days": make("sound days", cron="* * * * * 0-6", calendar="sound"),
    }
    subscriptions = {name: subscribe(name, events=["task.*"], to=ToStream(name)) for name in ("poisoned", "sound")}
    HeldTask.objects.bulk_create(HeldTask(task=n, tenant=name, due_at=now()) for n, name in enumerate(subscriptions))
    poison = {"job": ["*/1", "c"], "calendar": [str(days[0].id), "python"], "tenant": ["poisoned", "python"]}
    poison["subscription"] = [str(subscriptions["poisoned"].id), "c"]
    begun, beats = now(), [stack.beat(TEST_POISON=json.dumps(poison))]
    # Without its observer a beat ends itself, and what it hung on is not counted.
    [observer] = beats[0].children()
    os.kill(observer, signal.SIGKILL)

    def delivered(name: str) -> int:
        return Subscription.objects.get(id=subscriptions[name].id).delivered

    def planned(name: str) -> bool:
        return ScheduleTask.objects.filter(job=jobs[name].id, fire_time__gt=begun + timedelta(seconds=3)).exists()

    def sound_is_done() -> bool:
        if not beats[-1].alive:
            beats.append(stack.beat(TEST_POISON=json.dumps(poison)))  # as systemd does
        return (
            Stall.objects.filter(skipped_at__isnull=False).count() == len(poison)
            and delivered("sound")
            and planned("sound")
            and planned("sound days")
            and not HeldTask.objects.filter(tenant="sound").exists()
        )

    schedule("T_QUIET", "told", delay=3600)
    wait_until(sound_is_done, 60, describe=stack.logs)

    seen = {row.kind: row for row in Stall.objects.all()}
    assert {kind: row.ends for kind, row in seen.items()} == dict.fromkeys(poison, 2)
    ends = [beat.popen.returncode for beat in beats[:-1]]
    # Which of its observer, its timer and the dump of its stacks ends a beat first, depends on the machine.
    assert ends[0] == 1 and len(ends) > 8 and set(ends) <= {1, -signal.SIGKILL, -signal.SIGSEGV}
    assert all("tests/support/poison.py" in row.stack for row in seen.values())
    assert not (delivered("poisoned") or planned("poisoned") or planned("poisoned days"))
    assert HeldTask.objects.filter(tenant="poisoned").exists()

    assert beats[-1].terminate() == 0
    for beat in beats:
        wait_until(lambda b=beat: is_empty(b.pid), describe="the end of an observer, with its beat")
    for row in seen.values():
        stalls.release(row.id, by())
    stack.beat()
    wait_until(
        lambda: (
            delivered("poisoned")
            and planned("poisoned")
            and planned("poisoned days")
            and not HeldTask.objects.filter(tenant="poisoned").exists()
        ),
        describe=stack.logs,
    )
