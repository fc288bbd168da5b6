"""What makes the hot path cheap: heap-only settles, and plans that touch only what is due."""

import pytest
from django.db import connection

from django_punctual import schedule_many
from tasks_app.core.jobs import again_key, manual_key
from tasks_app.sql import _text
from tests.support.engine import claim_due, run_due
from tests.support.jobs import make

pytestmark = pytest.mark.django_db(transaction=True)


def query(statement: str, params=None) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def heap_only_updates() -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
    ((updates, heap_only),) = query(
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'punctual_task'"
    )
    return updates, heap_only


def test_claim_is_a_heap_only_update():
    schedule_many("T_QUIET", [{"key": n} for n in range(500)])
    make(every=10)  # with its instances, which are in more indexes
    before = heap_only_updates()

    claim_due()

    after = heap_only_updates()
    claimed, heap_only = after[0] - before[0], after[1] - before[1]
    assert claimed >= 500
    assert heap_only == claimed


@pytest.mark.parametrize("payload", [{}, {"return": {"pages": 3}}], ids=["nothing returned", "a result"])
def test_settle_is_a_heap_only_update(payload):
    schedule_many("T_QUIET", [{"key": n, "payload": payload} for n in range(500)])
    batches = claim_due()
    before = heap_only_updates()

    from uuid import UUID

    from tasks_app.engine.worker.executor import run_batch

    for batch in batches:
        run_batch(UUID(batch.batch_no), guarded=False)

    after = heap_only_updates()
    settled, heap_only = after[0] - before[0], after[1] - before[1]
    assert settled == 500
    assert heap_only == settled


def test_no_index_has_a_column_that_claim_or_settle_writes():
    """But for error_code: a success leaves it as empty as it was, unless the try before had failed. And for wait_at,
    which is empty as long as a task waits at its entry in the timetable."""
    written = {"due_at", "claimed_due", "status", "batch_no", "solo", "attempt", "retry_count", "error_msg"}
    written |= {"start_time", "finish_time", "updated_at", "result", "ran_in"}
    for name, definition in query("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'punctual_task'"):
        words = set(definition.replace("(", " ").replace(")", " ").replace(",", " ").split())
        assert not words & written, name


def test_a_task_without_a_job_costs_the_index_of_jobs_nothing():
    schedule_many("T_QUIET", [{"key": n} for n in range(500)])
    run_due()

    assert query("SELECT pg_relation_size('punctual_task_job')") == [(8192,)]  # its first page, and nothing in it


def test_a_change_of_a_job_looks_at_its_own_instances_alone():
    job, other = make(every=10), make(every=10, name="other")
    copies_of_instances(other)

    plan = explained_change("take_back", job)

    assert _rows_touched(plan) < 100, plan


def test_the_latest_firing_of_a_job_is_found_without_a_look_at_its_history():
    job = make(every=10)
    copies_of_instances(job)

    plan = explained_change("last_claimed", job)

    assert _rows_touched(plan) < 100, plan


def copies_of_instances(job) -> None:
    copies(
        "punctual_task",
        4_000,
        status="'SUCCESS'",
        due_at="NULL",
        claimed_due="fire_time",
        biz_key="'old:' || n",
        idem_key="'old:' || n",
        job=str(job.id),
        fire_time="fire_time - n * interval '10 s'",
    )


def explained_change(statement: str, job) -> dict:
    asked = {"job": job.id, "manual": manual_key(job.id), "again": again_key(job.id), "by": "me"}
    return explained(statement, asked | {"kept": "{task.cancelled}"})


def test_what_has_ended_is_found_without_a_look_at_what_has_not():
    job = make(every=10)
    copies("punctual_job", 4_000, name="'copy ' || n")

    moved = {"cursors": [job.cursor], "nexts": ["2090-01-01"], "afters": [0], "downs": [None], "empty": []}
    plan = explained("advance_cursors", moved)

    assert _rows_touched(plan) < 100, plan


def copies(table: str, count: int, **values: str) -> None:
    """Many rows like one of those that are there, but for these columns."""
    names = [
        name
        for (name,) in query(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
            [table],
        )
    ]
    names = [name for name in names if name not in ("id", "token")]
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values.get(name, name) for name in names)}"
            f" FROM (SELECT * FROM {table} ORDER BY id LIMIT 1) AS one, generate_series(1, {count}) AS n"
        )
        cursor.execute(f"ANALYZE {table}")


def explained(statement: str, params: dict) -> dict:
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + _text(statement), params)
        return cursor.fetchone()[0][0]["Plan"]


def test_a_claim_reads_what_is_due_and_not_what_is_planned():
    schedule_many("T_QUIET", [{"key": f"later-{n}"} for n in range(20_000)], delay=86_400)
    schedule_many("T_QUIET", [{"key": f"due-{n}"} for n in range(10)])
    query("SELECT 1 FROM punctual_task LIMIT 1")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE punctual_task")
        cursor.execute(
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + _text("claim"),
            {
                "lanes": ["default"],
                "site": "main",
                "rows": [50],
                "since": [float("-inf")],
                "ids": [0],
                "allowed": [10],
                "shards": list(range(16)),
                "fences": [1] * 16,
                "types": ["T_QUIET"],
                "sizes": [100],
                "unseen": 8,
                "dispatcher": "x",
                "lease": 5.0,
                "limits": "{}",
                "ahead": 0.02,
            },
        )
        plan = cursor.fetchone()[0][0]["Plan"]

    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 600, plan


@pytest.mark.parametrize("results", [None, True], ids=["nothing returned", "results"])
def test_settling_a_full_batch_is_not_quadratic(results):
    """A thousand rows once cost a thousand scans of a thousand values; now a few buffers a row."""
    schedule_many("T_QUIET", [{"key": f"later-{n}"} for n in range(5_000)], delay=86_400)
    schedule_many("T_QUIET", [{"key": n} for n in range(1000)])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE punctual_task")
    (batch,) = claim_due()
    ids = sorted(query("SELECT ids FROM punctual_batch")[0][0])
    array = "{" + ",".join(map(str, ids)) + "}"
    zeros = "{" + ",".join("0" for _ in ids) + "}"
    with connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN (ANALYZE, FORMAT JSON) " + _text("mark_success"),
            {
                "batch_no": batch.batch_no,
                "ids": array,
                "begun": zeros,
                "ended": zeros,
                "moments": None,
                "finish": True,
                "run_us": 0,
                "counts_as": "ok",
                "lateness": None,
                "attempts": None,
                "kept": "{task.succeeded}",
                "results": results and "[" + ",".join('{"pages": 3}' for _ in ids) + "]",
            },
        )
        plan = cursor.fetchone()[0][0]["Plan"]

    assert _rows_touched(plan) < 20 * len(ids)


def _rows_touched(plan: dict) -> float:
    own = (
        plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Join Filter", 0)
    ) * plan["Actual Loops"]
    return own + sum(_rows_touched(child) for child in plan.get("Plans", ()))


def test_a_good_batch_is_settled_in_one_statement_whether_or_not_some_return_something(django_assert_num_queries):
    schedule_many("T_QUIET", [{"key": n, "payload": {"return": n} if n % 2 else {}} for n in range(50)])

    with django_assert_num_queries(4):  # the types of the claim, the claim, the start, the settle
        run_due()


def test_what_is_planned_of_a_limited_or_rolling_type_is_counted_in_indexes_alone():
    """A million rows are half a gigabyte, and their index a tenth of that."""
    schedule_many("T_QUIET", [{"key": n} for n in range(5_000)], delay=86_400, repeat_after=86_400)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE punctual_task SET limited = id %% 2 = 0", [])
        cursor.execute("VACUUM ANALYZE punctual_task")
        given = {"task_type": "T_QUIET", "tenant": "default", "step": 3600.0, "steps": 24, "lanes": ["default"]}
        cursor.execute("EXPLAIN " + _text("outlook"), given)
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "Index Only Scan using punctual_task_wait_limited" in plan
    assert "Index Only Scan using punctual_task_wait_rolling" in plan
    assert "Seq Scan on punctual_task" not in plan
