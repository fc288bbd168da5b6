"""A database of its own with much history in it, beside the one that other tests empty."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from django.db import connection

from tasks_app.core.lanes import LANES
from tasks_app.storage.partitions import coming, make
from tests.support.jobs import make as make_job

NAME = "history"
DAYS = 13  # of the past that the rows are spread over
TYPE, LIMITED = "T_QUIET", "T_THREE"
# Those that grow with what was ever scheduled, done or asked for. A partition counts as its table.
GROWING = (
    "punctual_task",
    "punctual_past",
    "punctual_batch",
    "punctual_past_batch",
    "punctual_away_outcome",
    "punctual_attempt",
    "punctual_log",
    "punctual_outbox",
    "punctual_minute_figures",
    "punctual_audit_entry",
    "punctual_audit_link",
    "punctual_dead_letter",
    "punctual_unit_revision",
    "punctual_idempotency_record",
    "punctual_job",
    "punctual_job_cursor",
    "punctual_campaign",
    "punctual_campaign_chunk",
    "punctual_run",
    "punctual_wait",
    "punctual_job_parent",
    "punctual_backfill",
    "punctual_alarm_incident",
    "punctual_alarm_alert",
    "punctual_turn",
)
_TABLES = """
WITH RECURSIVE one AS (
    SELECT oid FROM pg_class WHERE relname = ANY (%(growing)s)
    UNION ALL
    SELECT inhrelid FROM one JOIN pg_inherits ON inhparent = one.oid
)
SELECT oid::regclass::text, relkind::text, pg_relation_size(oid) > 0 FROM one JOIN pg_class USING (oid)
"""
_COUNTED = """
WITH ours AS (SELECT oid FROM pg_class WHERE relkind = 'r' AND relname LIKE 'punctual%')
SELECT array_agg(oid) FROM (SELECT oid FROM ours UNION ALL SELECT indexrelid FROM pg_index JOIN ours ON oid = indrelid)
"""
LANE_OF = f"(ARRAY{list(LANES)!r})[1 + n % {len(LANES)}]"
SOME_DAY = f"now() - interval '1 day' - (n % 1000) * interval '{DAYS - 1} days' / 1000"
_UNIT = {"biz_key": "'key-' || n", "shard": "n % 16", "lane": LANE_OF}


@contextmanager
def another_database() -> Iterator[None]:
    """A copy of the tests' own, in which everything is then done; gone afterwards."""
    creation, own = connection.creation, dict(connection.settings_dict)
    with (
        connection.cursor() as cursor
    ):  # nobody may be in it while it is copied; what threads of other tests forgot ends
        cursor.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connection.close()
    creation.clone_test_db(suffix=NAME, verbosity=0, autoclobber=True)
    connection.settings_dict.update(creation.get_test_db_clone_settings(NAME))
    try:
        with connection.cursor() as cursor:  # the jobs of other tests have used up the first numbers
            for table in ("punctual_job", "punctual_job_cursor"):
                cursor.execute(f"ALTER SEQUENCE {table}_id_seq RESTART")
        yield
    finally:
        connection.close()
        connection.settings_dict.update(own)
        creation.destroy_test_db(suffix=NAME, verbosity=0)


class History:
    """Rows in every table that grows: as many tasks that are over as it is large, and a part of that in the others."""

    def __init__(self) -> None:
        self.size = 0
        self.untidy = False  # whether what was taken back has left dead rows
        with connection.cursor() as cursor:
            cursor.execute("SET plan_cache_mode = force_generic_plan")
            # A column has few different values, or each once: a third of the usual sample tells that as well.
            cursor.execute("SET default_statistics_target = 30")
            # What a vacuum reads would be counted as if a statement had.
            cursor.execute(
                "SELECT format('ALTER TABLE %I SET (autovacuum_enabled = off)', relname) FROM pg_class"
                " WHERE relkind = 'r' AND relname LIKE 'punctual%'"
            )
            for (statement,) in cursor.fetchall():
                cursor.execute(statement)
        self._begun = now = datetime.now(UTC)
        day = timedelta(days=1)
        for family in ("punctual_past_default", "punctual_past_batch"):
            make(family, coming(now - DAYS * day, day, DAYS + 3), day)
        make_job(every=3_600)

    def grow(self, size: int) -> None:
        """To this size; PostgreSQL's planner knows of it."""
        part = Part(self.size, size)
        over = _UNIT | {
            "tenant": "'default'",
            "task_type": f"'{TYPE}'",
            "current": "TRUE",
            "token": "gen_random_uuid()",
            "status": "'SUCCESS'",
            "execute_time": SOME_DAY,
            "claimed_due": SOME_DAY,
            "solo": "FALSE",
            "limited": "FALSE",
            "attempt": "0",
            "retry_count": "0",
            "max_retry": "3",
            "start_time": SOME_DAY,
            "finish_time": SOME_DAY,
            "error_code": "''",
            "error_msg": "''",
            "cancelled_by": "''",
            "payload": "'{}'",
            "created_at": SOME_DAY,
            "updated_at": SOME_DAY,
        }
        rare = {
            "job": "CASE WHEN n % 10 = 0 THEN n / 500 END",
            "fire_time": f"CASE WHEN n % 10 = 0 THEN {SOME_DAY} END",
        }
        part.insert("punctual_past", 1, over | rare | {"id": "n", "retention": "'default'", "idem_key": "'idem-' || n"})
        live = over | {
            "id": "1000000000 + n",
            "biz_key": "'live-' || n",
            "task_type": f"CASE n % 4 WHEN 0 THEN '{LIMITED}' ELSE '{TYPE}' END",
            "limited": "n % 4 = 0",
            # Scheduled for later, failed and to be tried again, rolling; dead; and over since a moment.
            "status": "CASE n % 100 WHEN 1 THEN 'DEAD' WHEN 2 THEN 'SUCCESS' WHEN 3 THEN 'FAIL' ELSE 'INIT' END",
            "due_at": "CASE WHEN n % 100 NOT IN (1, 2) THEN now() + interval '1 day' + n * interval '1 s' END",
            "updated_at": "now()",
        }
        part.insert("punctual_task", 2, live)
        planned = {
            "biz_key": "'instance-' || n",
            "job": "n / 10",
            "fire_time": "now() - n * interval '1 min'",
            "due_at": "NULL",
            "status": "'SUCCESS'",
            "id": "2000000000 + n",
        }
        part.insert("punctual_task", 50, live | planned)
        batch = {
            "batch_no": "gen_random_uuid()",
            "task_type": f"'{TYPE}'",
            "lane": LANE_OF,
            "ids": "ARRAY(SELECT n * 10 + i FROM generate_series(1, 10) AS i)",
            "dispatcher": "'beat'",
            "claimed_at": SOME_DAY,
            "lease_until": SOME_DAY,
            "worker": "'worker'",
            "started_at": SOME_DAY,
            "finished_at": SOME_DAY,
            "ok": "10",
            "failed": "0",
            "run_us": "1000",
            "lateness": "ARRAY[1, 2, 3]",
            "reaped": "FALSE",
        }
        part.insert("punctual_past_batch", 10, batch)
        lately = "now() - interval '2 min' - (n % 400) * interval '1 s'"
        part.insert("punctual_batch", 20, batch | {"finished_at": lately})
        outcome = {"at": SOME_DAY, "lane": LANE_OF, "task_type": f"'{TYPE}'", "ok": "1", "failed": "0"}
        part.insert("punctual_away_outcome", 10, outcome)
        failure = {
            "task_id": "n",
            "attempt": "1",
            "batch_no": "gen_random_uuid()",
            "worker": "'worker'",
            "finished_at": SOME_DAY,
            "error_code": "'ERROR'",
            "error_msg": "'it failed'",
        }
        part.insert("punctual_attempt", 5, failure)
        part.insert("punctual_attempt", 200, failure | {"task_id": "1000000000 + 100 * (n - 1) + 3"})
        logged = {"dropped": "0", "lines": """'[[1.5, "", "a line"]]'""", "started_at": SOME_DAY}
        logged |= {name: failure[name] for name in ("task_id", "attempt", "batch_no", "worker")}
        part.insert("punctual_log", 5, logged)
        part.insert(
            "punctual_outbox",
            1,
            {"tenant": "'default'", "event": "'task.succeeded'", "task_ids": "ARRAY[n]", "created_at": SOME_DAY},
        )
        part.insert(
            "punctual_minute_figures",
            5,
            {
                "minute": f"date_trunc('minute', '{self._begun}'::timestamptz) - (n % 18000) * interval '1 min'",
                "task_type": "'type-' || n / 18000",
                "batches": "1",
                "ok": "1",
                "failed": "0",
                "run_us": "1",
                "lateness": "ARRAY[1]",
            },
        )
        part.insert(
            "punctual_audit_entry",
            5,
            {
                "operation": "gen_random_uuid()",
                "actor": "'someone'",
                "verb": "'cancel'",
                "subject": "'task ' || n",
                "task_id": "n",
                "tenant": "'tenant-' || n % 100",
                "outcome": "'done'",
                "reason": "'because'",
                "created_at": SOME_DAY,
            },
        )
        link = {"tenant": "'tenant-' || n % 100", "place": "n", "entry_id": "n", "at": SOME_DAY, "chained_at": SOME_DAY}
        part.insert("punctual_audit_link", 5, link | {"digest": "sha256('x')", "hash": "sha256('x')"})
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE punctual_audit_unchained")
        letter = {
            "task_id": "n",
            "tenant": "'default'",
            "task_type": f"'{TYPE}'",
            "error_code": "'ERROR'",
            "error_msg": "'it failed'",
            "created_at": SOME_DAY,
            "replay_status": "'CLOSED'",
            "closed_at": SOME_DAY,
        }
        part.insert("punctual_dead_letter", 10, letter)
        part.insert(
            "punctual_dead_letter",
            200,
            letter
            | {
                "task_id": "1000000000 + 100 * (n - 1) + 1",
                "replay_status": "'OPEN'",
                "error_code": "'ERROR' || n % 7",
                "closed_at": "NULL",
            },
        )
        part.insert(
            "punctual_unit_revision",
            2,
            {
                "tenant": "'default'",
                "task_type": f"'{TYPE}'",
                "biz_key": "'key-' || n",
                "revision": "1",
                "changed_at": SOME_DAY,
            },
        )
        part.insert(
            "punctual_idempotency_record",
            5,
            {
                "tenant": "'default'",
                "key": "'key-' || n",
                "fingerprint": "'x'",
                "status": "200",
                "created_at": SOME_DAY,
            },
        )
        part.insert(
            "punctual_campaign",
            50,
            {
                "operation": "gen_random_uuid()",
                "tenant": "'default'",
                "kind": "'retry'",
                "state": "'DONE'",
                "actor": "'someone'",
                "reason": "'because'",
                "cap": "1000",
                "total": "1000",
                "done": "1000",
                "created_at": SOME_DAY,
                "finished_at": SOME_DAY,
                "measure_at": "CASE WHEN n % 100 = 0 THEN now() + interval '1 h' END",
            },
        )
        part.insert(
            "punctual_campaign_chunk",
            10,
            {
                "campaign_id": "n / 5",
                "number": "n % 5",
                "ids": "ARRAY(SELECT n * 10 + i FROM generate_series(1, 10) AS i)",
                "waiting": "CASE WHEN n % 50 = 0 THEN 1 ELSE 0 END",
            },
        )
        run = {"tenant": "'default'", "job": "n % 1000", "label": "'label-' || n", "fire_time": SOME_DAY}
        part.insert("punctual_run", 10, run | {"nodes": "'[]'", "created_at": SOME_DAY})
        part.insert("punctual_job_parent", 10, {"job": "100000000 + n", "parent": "200000000 + n / 10"})
        part.insert("punctual_wait", 10, {"task": "4000000000 + n", "parent": "5000000000 + n / 10"})
        part.insert(
            "punctual_backfill",
            50,
            {"campaign_id": "n", "job": "n / 5", "since": SOME_DAY, "until": SOME_DAY, "created_at": SOME_DAY},
        )
        incident = {
            "rule": "n % 100",
            "tenant": "'default'",
            "condition": "'dead'",
            "cause": "'cause ' || n",
            "task_type": f"'{TYPE}'",
            "count": "1",
            "sample": "'{}'",
            "opened_at": SOME_DAY,
            "seen_at": SOME_DAY,
            "calm_at": SOME_DAY,
            "closed_at": SOME_DAY,
        }
        part.insert("punctual_alarm_incident", 10, incident)
        alert = {"id": "gen_random_uuid()", "channel": "n % 50", "incident": "n", "kind": "'opened'", "body": "'{}'"}
        part.insert("punctual_alarm_alert", 5, alert | {"created_at": SOME_DAY, "done_at": SOME_DAY})
        part.insert(
            "punctual_turn",
            20,
            {
                "task": "1000000000 + n",
                "job": "n",
                "shard": "n % 16",
                "at": "now() + interval '1 day' + n * interval '1 s'",
                "policy": "'skip'",
                "state": "CASE n % 2 WHEN 0 THEN 'taken' ELSE 'new' END",
            },
        )
        part.copy(
            "punctual_job_cursor",
            10,
            {"phase": "1000000 + n", "next_fire": "now() + interval '1 h' + n * interval '1 s'"},
        )
        part.copy("punctual_job", 10, {"name": "'job-' || n", "cursor": "n"})
        with connection.cursor() as cursor:
            cursor.execute("SELECT setval('punctual_task_id_seq', 3000000000, FALSE)")
        self.size = size
        self.tidy()

    def tidy(self) -> None:
        """As autovacuum and the chore `tend` would: nobody ever looks at a partition that is still empty."""
        with connection.cursor() as cursor:
            cursor.execute(_TABLES, {"growing": list(GROWING)})
            tables = cursor.fetchall()
            filled = [name for name, kind, pages in tables if kind == "r" and pages]
            cursor.execute(f"VACUUM ANALYZE {', '.join(filled)}")
            for name in (name for name, kind, _ in tables if kind == "p"):
                cursor.execute(f"ANALYZE {'ONLY ' if connection.pg_version >= 180_000 else ''}{name}")
            cursor.execute(_COUNTED)
            (self._counted,) = cursor.fetchone()

    def pages_read(self) -> int:
        """Of our tables and their indexes, by everybody, since the beginning."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_force_next_flush()")
            # As pg_statio_user_tables adds them up, which looks for the indexes of every table each time.
            cursor.execute(
                "SELECT sum(pg_stat_get_blocks_fetched(oid))::bigint FROM unnest(%s::oid[]) AS oid", [self._counted]
            )
            return cursor.fetchone()[0]

    def vacuum_live(self) -> None:
        if self.untidy:
            with connection.cursor() as cursor:
                cursor.execute("VACUUM punctual_task, punctual_batch")
            self.untidy = False


class Part:
    """The rows from one size up to another."""

    def __init__(self, since: int, until: int) -> None:
        self._since, self._until = since, until

    def insert(self, table: str, one_in: int, values: dict[str, str]) -> None:
        numbers = f"generate_series({self._since // one_in + 1}, {self._until // one_in}) AS n"
        with connection.cursor() as cursor:
            columns, given = ", ".join(values), ", ".join(values.values())
            cursor.execute(f"INSERT INTO {table} ({columns}) SELECT {given} FROM {numbers}")

    def copy(self, table: str, one_in: int, values: dict[str, str]) -> None:
        """Rows like the first that is there, but for these columns."""
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
                [table],
            )
            names = [name for (name,) in cursor.fetchall() if name != "id"]
            numbers = f"generate_series({self._since // one_in + 1}, {self._until // one_in}) AS n"
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values.get(name, name) for name in names)}"
                f" FROM (SELECT * FROM {table} ORDER BY id LIMIT 1) AS one, {numbers}"
            )
