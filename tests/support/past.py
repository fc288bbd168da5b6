"""A past to search beside: many tasks that are over, in several partitions, written at once."""

from datetime import UTC, datetime, timedelta

from django.db import connection
from django.utils import timezone

from tasks_app.storage.partitions import drop, make, partitions

DAY = timedelta(days=1)
TENANTS, TYPES = 4, 5
BATCH = 1_000  # tasks


def noon(days_ago: int) -> datetime:
    return timezone.now().astimezone(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - days_ago * DAY


def drop_past() -> None:
    """All of its partitions."""
    for family in ("punctual_past_default", "punctual_past_batch"):
        for one in partitions(family):
            drop(one)


def fill_past(rows: int, days: int) -> None:
    """`rows` tasks, as many each day, the last of them yesterday; one of ten is cancelled.

    The N-th has the id N, tenant `t<N mod 4>` and type `T_<N mod 5>`, or T_QUIET instead of `T_0`; batches are of a
    thousand neighbours. Of ten, three have the key `often` and the job 1, the others `k-N` and a job from 2 to 1001.
    """
    with connection.cursor() as cursor:
        for family in ("punctual_past_default", "punctual_past_batch"):
            make(family, [noon(day) for day in range(-2, days + 1)], DAY)
        given = {"rows": rows, "days": days, "first": noon(days), "batch": BATCH}
        cursor.execute(_TASKS, given)
        cursor.execute(_BATCHES, given)
        cursor.execute("SELECT setval(pg_get_serial_sequence('punctual_task', 'id'), %s)", [rows + 1])
        cursor.execute("ANALYZE punctual_past; ANALYZE punctual_past_batch")


# Spread over eleven hours of each day, in order of their ids.
_AT = (
    "%(first)s + ((n - 1) * %(days)s / %(rows)s) * interval '1 day'"
    " + ((n - 1) %% (%(rows)s / %(days)s)) * interval '11 h' / (%(rows)s / %(days)s)"
)
_TASKS = f"""
INSERT INTO punctual_past (id, tenant, task_type, biz_key, current, token, job, fire_time, status, execute_time, lane,
    shard, solo, limited, attempt, retry_count, max_retry, ran_in, start_time, finish_time, error_code, error_msg,
    cancelled_by, payload, created_at, updated_at, retention, worker)
SELECT n, 't' || n %% {TENANTS}, CASE n %% {TYPES} WHEN 0 THEN 'T_QUIET' ELSE 'T_' || n %% {TYPES} END,
    CASE WHEN often THEN 'often' ELSE 'k-' || n END, TRUE, gen_random_uuid(),
    CASE WHEN often THEN 1 ELSE n %% 1000 + 2 END, at,
    CASE WHEN n %% 10 = 7 THEN 'CANCELLED' ELSE 'SUCCESS' END, at, 'default',
    0, FALSE, FALSE, 0, 0, 3, md5((n / %(batch)s)::text)::uuid, at, at, '', '',
    '', '{{}}', at - interval '1 h', at, 'default', 'worker'
FROM (SELECT n, n %% 10 < 3 AS often, {_AT} AS at FROM generate_series(1, %(rows)s) AS n) AS one
"""
_BATCHES = f"""
INSERT INTO punctual_past_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, worker,
    started_at, finished_at, reaped, ok, failed, run_us)
SELECT md5((n / %(batch)s)::text)::uuid, 'T_0', 'default', array_agg(n), '', min(at), max(at), 'worker', min(at),
    max(at), FALSE, 0, 0, 0
FROM (SELECT n, {_AT} AS at FROM generate_series(1, %(rows)s) AS n) AS one
GROUP BY n / %(batch)s
"""
