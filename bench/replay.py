"""replay: 20,000 dead letters of three causes; one is replayed as fast as it goes, one at 500/s beside live tasks."""

import time

from . import tasks
from .peers.programs import record
from .stack import Stack, empty_tables, execute, percentile, query

GOALS = {"live_p99_ms": {"at_most": 250}}
LETTERS = 20_000
CAUSES = ("MAIL_DOWN", "NO_ADDRESS", "BROKEN")
RATE = 500  # letters a second, beside
LIVE = 200  # tasks a second that are due
TYPE, LIVE_TYPE = "BENCH_NOOP", "BENCH_STAMP"


def run(stack: Stack) -> dict:
    """A beat and a worker with two processes, as small as it gets: whatever the letters take, the live tasks lack."""
    empty_tables()
    prepare()
    stack.start()
    fast = replay(CAUSES[0])
    finish(fast)
    ((released, settled),) = query(
        "SELECT extract(epoch FROM c.finished_at - c.created_at)::float8,"
        "       (SELECT extract(epoch FROM max(updated_at) - c.created_at)::float8 FROM punctual_task"
        "        WHERE task_type = %s AND status = 'SUCCESS')"
        " FROM punctual_campaign c WHERE c.id = %s",
        [TYPE, fast.id],
    )
    alone, _ = live(None)
    beside, slow = live(CAUSES[1])
    finish(slow)
    ((seconds,),) = query(
        "SELECT extract(epoch FROM finished_at - created_at)::float8 FROM punctual_campaign WHERE id = %s", [slow.id]
    )
    stack.stop()
    return {
        "letters_per_s": round(fast.total / settled),
        "released_per_s": round(fast.total / released),
        "paced_per_s": round(slow.total / seconds),
        "live_p99_ms": round(percentile(beside, 0.99), 1),
        "live_p50_ms": round(percentile(beside, 0.50), 1),
        "live_max_ms": round(max(beside), 1),
        "alone_p99_ms": round(percentile(alone, 0.99), 1),
    }


def prepare() -> None:
    """Tasks that gave up an hour ago, as they are after three failed tries, each with its letter. (So many within a
    minute are what a safeguard holds a type back for.)"""
    tasks.schedule(TYPE, [time.time() + 3_600] * LETTERS)
    execute(
        "UPDATE punctual_task SET status = 'DEAD', due_at = NULL, attempt = 3, retry_count = 3,"
        " error_msg = 'it failed', error_code = (%s::text[])[1 + id %% 3]",
        [list(CAUSES)],
    )
    execute(
        "INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg, created_at)"
        " SELECT id, tenant, task_type, error_code, error_msg, now() - interval '1 hour'"
        " FROM punctual_task WHERE status = 'DEAD'"
    )
    execute("VACUUM ANALYZE punctual_task, punctual_dead_letter")


def replay(cause: str, rate: float | None = None):
    from tasks_app.engine.operations.campaigns import Pace, start_for
    from tasks_app.lifecycle.audit import Operator
    from tasks_app.lifecycle.operate import Verb
    from tasks_app.models import DlqEntry

    letters = DlqEntry.objects.filter(error_code=cause, replay_status=DlqEntry.OPEN).order_by("id")
    ids = list(letters.values_list("task_id", flat=True))
    return start_for(Verb.REPLAY, [ids], Operator("bench", "measured"), Pace(LETTERS, rate))


def finish(campaign, timeout: float = 120) -> None:
    """Until all that it released has succeeded, as the campaign itself says."""
    deadline = time.monotonic() + timeout
    while campaign.state != "DONE" or campaign.waiting:
        if time.monotonic() > deadline:
            raise SystemExit(f"{campaign} did not end in {timeout:g} s: {campaign.done} done, {campaign.waiting} wait")
        time.sleep(0.1)
        campaign.refresh_from_db()
    if (campaign.counts, campaign.succeeded) != ({"replayed": campaign.total}, campaign.total):
        raise SystemExit(f"{campaign} replayed {campaign.counts}, and {campaign.succeeded} of them succeeded")


def live(cause: str | None) -> tuple[list[float], object]:
    """How late tasks of the lane `default` start, in ms, for as long as a cause takes at RATE; and its campaign."""
    seconds = LETTERS / len(CAUSES) / RATE
    execute("DELETE FROM punctual_batch WHERE finished_at IS NOT NULL")
    execute("DELETE FROM punctual_task WHERE task_type = %s", [LIVE_TYPE])
    record.clear()
    first = time.time() + 2
    due = [first + number / LIVE for number in range(round(LIVE * seconds))]
    tasks.schedule(LIVE_TYPE, due)
    tasks.wait_until(first)
    campaign = replay(cause, RATE) if cause else None
    tasks.wait_until(due[-1])
    wait_for_records(len(due))
    return [(start.at - due[start.number]) * 1000 for start in record.starts()], campaign


def wait_for_records(expected: int, timeout: float = 60) -> None:
    deadline = time.monotonic() + timeout
    while record.count() < expected:
        if time.monotonic() > deadline:
            raise SystemExit(f"not all of {expected} live tasks were started within {timeout:g} s")
        time.sleep(0.05)
