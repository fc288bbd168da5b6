"""size: drain with a million tasks a day ahead and a million finished ones in the same table."""

import statistics

from . import drain
from .stack import Stack, execute

GOALS = {"ratio_to_drain": {"at_least": 0.95}}
MORE = 1_000_000
ROUNDS = 3

# Written by SQL, since a million schedule() calls are not what is measured here.
FILL = """
INSERT INTO punctual_task (tenant, task_type, biz_key, current, status, execute_time, due_at, entry_at,
                           lane, shard, max_retry)
SELECT 'default', 'BENCH_NOOP', %(prefix)s || n, TRUE, %(status)s, now() + interval '1 day',
       CASE WHEN %(status)s = 'INIT' THEN one.at END, CASE WHEN %(status)s = 'INIT' THEN one.at ELSE now() END,
       'default', n %% 16, 5
FROM generate_series(1, %(more)s) n
CROSS JOIN LATERAL (SELECT now() + interval '1 day' + n * interval '50 milliseconds') AS one(at)
"""


def run(stack: Stack) -> dict:
    from tasks_app.conf import conf
    from tasks_app.lifecycle.claim import pass_entries

    small, large = [], []
    for _ in range(ROUNDS):
        small.append(drain.measure(stack))
        execute(FILL, {"prefix": "future-", "status": "INIT", "more": MORE})
        execute(FILL, {"prefix": "done-", "status": "SUCCESS", "more": MORE})
        for _ in range(2):  # what is done lies behind, as on any day
            pass_entries(range(conf().SHARDS))
        execute("TRUNCATE punctual_outbox")
        execute("DELETE FROM punctual_task WHERE biz_key NOT LIKE 'future-%%' AND biz_key NOT LIKE 'done-%%'")
        execute("VACUUM ANALYZE punctual_task")
        large.append(drain.measure_on_top(stack))
    without, beside = statistics.median(small), statistics.median(large)
    return {
        "tasks_per_s": round(beside),
        "drain_per_s": round(without),
        "ratio_to_drain": round(beside / without, 3),
    }
