"""backfill: two weeks of a job that fires every five minutes, 4,032 instances at 100/s, beside live tasks."""

import time
from datetime import UTC, datetime, timedelta

from . import tasks
from .peers.programs import record
from .replay import LIVE, LIVE_TYPE, TYPE, wait_for_records
from .stack import Stack, empty_tables, execute, percentile, query

GOALS = {"live_p99_ms": {"at_most": 250}, "rate_error": {"at_most": 0.10}}
EVERY = 300  # seconds
DAYS = 14
INSTANCES = DAYS * 86_400 // EVERY
RATE = 100  # instances a second


def run(stack: Stack) -> dict:
    """A beat and a worker with two processes, as small as it gets: whatever the backfill takes, the live tasks lack."""
    empty_tables()
    stack.start()
    alone, _ = live(None)
    beside, campaign = live(job_of_two_weeks())
    finish(campaign)
    ((released, ran, ahead),) = query(
        "SELECT extract(epoch FROM c.finished_at - c.created_at)::float8,"
        "       (SELECT extract(epoch FROM max(t.updated_at) - c.created_at)::float8 FROM punctual_task t"
        "        WHERE t.task_type = %s AND t.status = 'SUCCESS'),"
        "       (SELECT count(*) FROM punctual_task t WHERE t.task_type = %s AND t.status = 'SUCCESS')"
        " FROM punctual_campaign c WHERE c.id = %s",
        [TYPE, TYPE, campaign.id],
    )
    stack.stop()
    if ahead != INSTANCES:
        raise SystemExit(f"{ahead} instances have run, of {INSTANCES}")
    return {
        "instances": campaign.total,
        "asked_per_s": RATE,
        "released_per_s": round(campaign.total / released, 1),
        "ran_per_s": round(campaign.total / ran, 1),
        "rate_error": round(max(abs(campaign.total / one / RATE - 1) for one in (released, ran)), 3),
        "live_p99_ms": round(percentile(beside, 0.99), 1),
        "live_p50_ms": round(percentile(beside, 0.50), 1),
        "live_max_ms": round(max(beside), 1),
        "alone_p99_ms": round(percentile(alone, 0.99), 1),
    }


def job_of_two_weeks():
    from django_punctual import Operator
    from django_punctual.jobs import JobRequest, create_job

    return create_job(JobRequest(name="backfilled", task_type=TYPE, every=EVERY), Operator("bench", "measured"))


def backfill(job):
    from django_punctual import Operator
    from django_punctual.campaigns import BackfillRequest, Pace, start_backfill

    until = datetime.now(UTC) - timedelta(minutes=10)
    request = BackfillRequest([job.id], until - timedelta(days=DAYS) + timedelta(microseconds=1), until)
    return start_backfill(request, Operator("bench", "measured"), Pace(rate=RATE))


def finish(campaign, timeout: float = 120) -> None:
    """Until all of it has succeeded, as the campaign itself says."""
    deadline = time.monotonic() + timeout
    while campaign.state != "DONE" or campaign.waiting:
        if time.monotonic() > deadline:
            raise SystemExit(f"{campaign} did not end in {timeout:g} s: {campaign.done} done, {campaign.waiting} wait")
        time.sleep(0.1)
        campaign.refresh_from_db()
    if (campaign.counts, campaign.succeeded) != ({"created": INSTANCES}, INSTANCES):
        raise SystemExit(f"{campaign} made {campaign.counts}, and {campaign.succeeded} of them succeeded")


def live(job) -> tuple[list[float], object]:
    """How late tasks of the lane `default` start, in ms, for as long as the backfill takes; and its campaign."""
    seconds = INSTANCES / RATE
    execute("DELETE FROM punctual_batch WHERE finished_at IS NOT NULL")
    execute("DELETE FROM punctual_task WHERE task_type = %s", [LIVE_TYPE])
    record.clear()
    first = time.time() + 2
    due = [first + number / LIVE for number in range(round(LIVE * seconds))]
    tasks.schedule(LIVE_TYPE, due)
    tasks.wait_until(first)
    campaign = backfill(job) if job else None
    tasks.wait_until(due[-1])
    wait_for_records(len(due))
    return [(start.at - due[start.number]) * 1000 for start in record.starts()], campaign
