"""What must hold in the database at any moment between two transactions, each as a query for those who break it."""

from tasks_app.conf import conf
from tasks_app.database import our_connection

RULES = {
    "a unit has exactly one current row, or its last one is over": """
        SELECT min(id), biz_key FROM punctual_task t GROUP BY tenant, task_type, biz_key
        HAVING count(*) FILTER (WHERE current) <> 1 AND NOT EXISTS (
            SELECT FROM punctual_past p
            WHERE p.biz_key = t.biz_key AND p.task_type = t.task_type AND p.tenant = t.tenant AND p.current
              AND p.id > min(t.id))""",
    "a task is in one place": """
        SELECT id, min(biz_key) FROM punctual_any_task GROUP BY id HAVING count(*) > 1""",
    "only what is over is in the past": """
        SELECT id, status FROM punctual_past
        WHERE due_at IS NOT NULL OR batch_no IS NOT NULL OR status NOT IN ('SUCCESS', 'CANCELLED', 'DEAD')
           OR (status = 'DEAD' AND current)""",
    "only a current row is live": """
        SELECT id, status FROM punctual_task
        WHERE NOT current AND (due_at IS NOT NULL OR status IN ('RUNNING', 'AWAY', 'BLOCKED', 'INIT', 'FAIL'))""",
    "RUNNING means held by an unfinished batch that lists it": """
        SELECT t.id, t.status FROM punctual_task t
        LEFT JOIN punctual_batch b ON b.batch_no = t.batch_no AND b.finished_at IS NULL AND t.id = ANY (b.ids)
        WHERE (t.status = 'RUNNING') <> (b.batch_no IS NOT NULL)
           OR (t.status = 'RUNNING') <> (t.batch_no IS NOT NULL)""",
    "AWAY means that somebody has it, in its last run and until a time, and nobody has any other": """
        SELECT coalesce(t.id, a.task), t.status
        FROM punctual_away a FULL JOIN punctual_task t ON t.id = a.task
        WHERE (t.status IS NOT DISTINCT FROM 'AWAY') <> (a.task IS NOT NULL)
           OR (t.status = 'AWAY' AND t.ran_in IS DISTINCT FROM a.run)""",
    "what is to be tried has a due moment": """
        SELECT id, status FROM punctual_task
        WHERE due_at IS NULL AND (status IN ('INIT', 'FAIL') OR (status = 'SUCCESS' AND repeat_after IS NOT NULL))""",
    "what is finished has none": """
        SELECT id, status FROM punctual_task
        WHERE due_at IS NOT NULL AND status NOT IN ('INIT', 'FAIL')
          AND (status <> 'SUCCESS' OR repeat_after IS NULL)""",
    "a current DEAD row has one open dead letter, and no other row has any": """
        SELECT t.id, t.status FROM punctual_task t
        LEFT JOIN punctual_dead_letter d ON d.task_id = t.id AND d.replay_status = 'OPEN'
        GROUP BY t.id HAVING count(d.id) <> (t.status = 'DEAD' AND t.current)::int""",
    "every failure left an attempt": """
        SELECT t.id, t.retry_count::text FROM punctual_any_task t
        WHERE t.retry_count <> (SELECT count(*) FROM punctual_attempt a WHERE a.task_id = t.id)""",
    "attempts stay within the budget": """
        SELECT id, attempt::text FROM punctual_any_task
        WHERE attempt > retry_count OR (attempt > max_retry + 1 AND retry_for IS NULL)""",
    "a deferred effect is known to whoever deferred it, and only a success defers": """
        SELECT n.id, n.biz_key FROM punctual_any_task n JOIN punctual_any_task p ON p.id = n.deferred_from
        WHERE n.replaces IS NULL AND p.repeat_after IS NULL
          AND (p.status <> 'SUCCESS' OR n.token <> p.token OR n.id = ANY (p.deferred) IS NOT TRUE)""",
    "an instance that is BLOCKED waits for its turn, or for another": """
        SELECT t.id, t.biz_key FROM punctual_task t
        WHERE t.status = 'BLOCKED' AND t.job IS NOT NULL
          AND NOT EXISTS (SELECT FROM punctual_turn u WHERE u.task = t.id AND u.state <> 'taken')
          AND NOT EXISTS (SELECT FROM punctual_wait w WHERE w.task = t.id)""",
    "no two instances of a job have its turn": """
        SELECT min(t.id), w.job::text FROM punctual_turn w JOIN punctual_task t ON t.id = w.task
        WHERE w.state = 'taken' AND (t.due_at IS NOT NULL OR t.status NOT IN ('SUCCESS', 'DEAD', 'CANCELLED'))
        GROUP BY w.job HAVING count(*) > 1""",
    "a row is taken over once, and by its own unit": """
        SELECT n.id, n.biz_key FROM punctual_any_task n JOIN punctual_any_task o ON o.id = n.replaces
        WHERE o.current OR (o.tenant, o.task_type, o.biz_key) <> (n.tenant, n.task_type, n.biz_key)
           OR EXISTS (SELECT FROM punctual_any_task m WHERE m.replaces = n.replaces AND m.id <> n.id)""",
}

# And what must have been told, each with the kinds of events that it is about: `told` has one row for each task.
TOLD = {
    "every failure was told": (
        ["task.failed", "task.dead"],
        """
        SELECT t.id, t.retry_count::text FROM punctual_any_task t LEFT JOIN told o ON o.task_id = t.id
        WHERE t.retry_count <> coalesce(o.failed, 0)""",
    ),
    "every death was told and has its letter": (
        ["task.dead"],
        """
        SELECT t.id, t.status FROM punctual_any_task t LEFT JOIN told o ON o.task_id = t.id
        WHERE (SELECT count(*) FROM punctual_dead_letter d WHERE d.task_id = t.id) <> coalesce(o.dead, 0)""",
    ),
    "every replay was told, and has closed a letter": (
        ["task.replayed"],
        """
        SELECT t.id, t.status FROM punctual_any_task t LEFT JOIN told o ON o.task_id = t.id
        WHERE (SELECT count(*) FROM punctual_dead_letter d WHERE d.task_id = t.id AND d.replay_status = 'REPLAYED')
           <> coalesce(o.replayed, 0)""",
    ),
    "a cancelled row was told once": (
        ["task.cancelled"],
        """
        SELECT t.id, t.status FROM punctual_any_task t LEFT JOIN told o ON o.task_id = t.id
        WHERE (t.status = 'CANCELLED')::int <> coalesce(o.cancelled, 0)""",
    ),
    "the beginning of every task was told once, and first": (
        ["task.created", "task.replaced"],
        """
        SELECT t.id, o.first FROM punctual_any_task t LEFT JOIN told o ON o.task_id = t.id
        WHERE coalesce(o.begun, 0) <> 1 OR o.first NOT IN ('task.created', 'task.replaced')""",
    ),
    "batches count what the outbox tells": (
        ["task.succeeded"],
        """
        SELECT 0::bigint, n.ok::text FROM (SELECT coalesce(sum(ok), 0) AS ok FROM punctual_any_batch) AS n
        WHERE n.ok <> (SELECT coalesce(sum(count), 0) FROM punctual_outbox
                       WHERE event = 'task.succeeded' AND batch_no IS NOT NULL)""",
    ),
    "a row of the outbox is about as many events as it says": (
        [],
        """
        SELECT id, event FROM punctual_outbox
        WHERE xid IS NOT NULL AND NOT (count = ALL (ARRAY[
            coalesce(cardinality(task_ids), count), coalesce(cardinality(keys), count),
            coalesce(cardinality(jobs), count), coalesce(cardinality(fire_times), count),
            coalesce(cardinality(idem_keys), count), coalesce(cardinality(attempts), count),
            coalesce(cardinality(states), count), coalesce(jsonb_array_length(payloads), count)]))""",
    ),
}
_EVENTS = """
WITH told AS MATERIALIZED (
    SELECT coalesce(one.task_id, o.task_id) AS task_id,
           count(*) FILTER (WHERE o.event IN ('task.failed', 'task.dead')) AS failed,
           count(*) FILTER (WHERE o.event = 'task.dead') AS dead,
           count(*) FILTER (WHERE o.event = 'task.replayed') AS replayed,
           count(*) FILTER (WHERE o.event = 'task.cancelled') AS cancelled,
           count(*) FILTER (WHERE o.event IN ('task.created', 'task.replaced')) AS begun,
           (array_agg(o.event ORDER BY o.id))[1] AS first
    FROM punctual_outbox o LEFT JOIN LATERAL unnest(o.task_ids) AS one(task_id) ON TRUE
    WHERE starts_with(o.event, 'task.')
    GROUP BY 1
)
"""


def broken_rules() -> list[tuple[str, str, str]]:
    """(rule, id, detail) of every row that breaks one. What is not kept can't be missed."""
    kept = conf().kept_events
    rules = RULES | {rule: query for rule, (kinds, query) in TOLD.items() if all(kind in kept for kind in kinds)}
    parts = [
        f"SELECT '{rule}' AS rule, id::text, detail FROM ({query}) AS broken(id, detail)"
        for rule, query in rules.items()
    ]
    ours = our_connection()
    ours.ensure_connection()
    # Prepared: planning so long a statement costs more than running it, and some tests ask after every step.
    return ours.connection.execute(_EVENTS + " UNION ALL ".join(parts), prepare=True).fetchall()
