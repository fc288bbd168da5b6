told AS (
    -- Each event in `news` is told, in one row of the outbox for all that are alike. Nothing is read for a kind that is not
    -- kept. The number of the row is drawn when all of `news` is there, and so after the lock of each unit that it is about.
    INSERT INTO punctual_outbox (tenant, event, task_type, worker, batch_no, count, task_ids, keys, jobs, fire_times,
                                 idem_keys, attempts, states, payloads)
    SELECT n.tenant, n.event, n.task_type, n.worker, n.batch_no, count(*), array_agg(n.id), array_agg(n.key),
           CASE WHEN count(n.job) > 0 THEN array_agg(n.job) END,
           CASE WHEN count(n.fire_time) > 0 THEN array_agg(n.fire_time) END,
           CASE WHEN count(n.idem_key) > 0 THEN array_agg(n.idem_key) END,
           CASE WHEN count(n.attempt) > 0 THEN array_agg(n.attempt) END,
           CASE WHEN count(n.state) > 0 THEN array_agg(n.state) END,
           CASE WHEN count(n.data) > 0 THEN jsonb_agg(n.data) END
    FROM news n
    WHERE n.event = ANY (%(kept)s::text[])
    GROUP BY n.tenant, n.event, n.task_type, n.worker, n.batch_no
)
