"""Rows of the tables in partitions, at moments of a test's choice; and where they lie."""

from datetime import datetime

from django.db import connection

from tasks_app.sql import execute

# One row, by the statement that writes it.
WRITES = {
    "punctual_outbox": """
        INSERT INTO punctual_outbox (tenant, event, task_id, created_at) VALUES ('default', 'test', 1, %s)""",
    "punctual_attempt": """
        INSERT INTO punctual_attempt (finished_at, task_id, attempt, batch_no, worker, error_code, error_msg)
        VALUES (%s, 1, 1, gen_random_uuid(), 'w', 'E', '')""",
    "punctual_log": """
        INSERT INTO punctual_log (started_at, task_id, attempt, batch_no, worker, dropped, lines)
        VALUES (%s, 1, 1, gen_random_uuid(), 'w', 0, '[[0, "", "a line"]]')""",
    "punctual_minute_figures": """
        INSERT INTO punctual_minute_figures (minute, task_type, batches, ok, failed, run_us, lateness)
        VALUES (%s, 'T', 1, 1, 0, 1, '{}') ON CONFLICT DO NOTHING""",
    "punctual_audit_entry": """
        INSERT INTO punctual_audit_entry (created_at, operation, actor, verb, subject, outcome, reason)
        VALUES (%s, gen_random_uuid(), 'a', 'v', 's', 'o', 'r')""",
    "punctual_past_default": """
        WITH told AS (
            INSERT INTO punctual_outbox (tenant, event, task_ids) VALUES ('default', 'task.created', '{1}')
        )
        INSERT INTO punctual_past (
            updated_at, id, tenant, task_type, biz_key, current, token, status, execute_time, lane, shard, solo,
            limited, attempt, retry_count, max_retry, error_code, error_msg, cancelled_by, payload, created_at,
            retention)
        VALUES (%s, 1, 'default', 'T', 'k', FALSE, gen_random_uuid(), 'SUCCESS', now(), 'default', 0, FALSE, FALSE,
            0, 0, 3, '', '', '', '{}', now(), 'default')""",
}
DIRECT = ["punctual_outbox", "punctual_attempt", "punctual_minute_figures", "punctual_audit_entry"]


def write(table: str, moment: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(WRITES[table], [moment])


def places(table: str) -> dict[str, int]:
    """How many rows lie in which partition."""
    rows = execute(f"SELECT tableoid::regclass::text, count(*) FROM {table} GROUP BY 1")
    return {name.removeprefix(f"{table}_"): count for name, count in rows}


def now() -> datetime:
    return execute("SELECT clock_timestamp()")[0][0]
