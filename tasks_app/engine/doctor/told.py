"""What must have been told, each rule with the kinds of events that it is about: `told` has one row for each task.

They compare everything with everything, so they are for an installation of which nothing was dropped or forgotten yet:
tests, chaos, drills.
"""

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
EVENTS = """
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
