"""floor: what raw psycopg does on a bare table, two clients claiming 500 rows and marking them done."""

import multiprocessing
import os
import time

import psycopg

GOALS: dict = {}
ROWS = 100_000
BATCH = 500

SETUP = """
DROP TABLE IF EXISTS floor_task;
CREATE TABLE floor_task (id bigint PRIMARY KEY, status smallint NOT NULL, due_at timestamptz NOT NULL);
CREATE INDEX floor_task_due ON floor_task (due_at) WHERE status = 0;
"""
CLAIM = """
WITH c AS (
    SELECT id FROM floor_task WHERE status = 0 AND due_at <= now() ORDER BY due_at LIMIT %s FOR UPDATE SKIP LOCKED
)
UPDATE floor_task t SET status = 1 FROM c WHERE t.id = c.id RETURNING t.id
"""
DONE = "UPDATE floor_task SET status = 2 WHERE id = ANY (%s)"


def run(stack) -> dict:
    return {"rows_per_s": round(measure())}


def measure() -> float:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(SETUP)
        connection.execute(
            "INSERT INTO floor_task SELECT n, 0, now() - interval '1 s' FROM generate_series(1, %s) n", [ROWS]
        )
        connection.execute("VACUUM ANALYZE floor_task")
    ready, go = multiprocessing.Semaphore(0), multiprocessing.Event()
    clients = [multiprocessing.Process(target=_client, args=(ready, go)) for _ in range(2)]
    for client in clients:
        client.start()
    for _ in clients:
        ready.acquire()
    started = time.monotonic()
    go.set()
    for client in clients:
        client.join()
    return ROWS / (time.monotonic() - started)


def _client(ready, go) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute("SELECT 1")
        connection.commit()
        ready.release()
        go.wait()
        while True:
            ids = [row[0] for row in connection.execute(CLAIM, [BATCH])]
            connection.commit()
            if not ids:
                return
            connection.execute(DONE, [ids])
            connection.commit()
