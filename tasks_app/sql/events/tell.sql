-- Each event in `news` is told, in one row of the outbox for all that are alike. Nothing is read for a kind that is not
-- kept. The number of the row is drawn when all of `news` is there, and so after the lock of each unit that it is about.
-- Jobs and idem_keys are rare: they are collected only if one of the tasks has one. Attempt, state and data all events of a
-- statement have, or none.
rare AS (
    SELECT bool_or(job IS NOT NULL) AS job, bool_or(idem_key IS NOT NULL) AS idem_key FROM news
), emitted AS (
    INSERT INTO punctual_outbox (tenant, event, task_type, worker, batch_no, count, task_ids, keys, jobs, fire_times,
                                 idem_keys, attempts, states, payloads)
    SELECT n.tenant, n.event, n.task_type, n.worker, n.batch_no, count(*), array_agg(n.id), array_agg(n.key),
           array_agg(n.job) FILTER (WHERE (SELECT job FROM rare)),
           array_agg(n.fire_time) FILTER (WHERE (SELECT job FROM rare)),
           array_agg(n.idem_key) FILTER (WHERE (SELECT idem_key FROM rare)),
           array_agg(n.attempt) FILTER (WHERE n.attempt IS NOT NULL),
           array_agg(n.state) FILTER (WHERE n.state IS NOT NULL),
           jsonb_agg(n.data) FILTER (WHERE n.with_data)
    FROM news n
    WHERE n.event = ANY (%(kept)s::text[])
    GROUP BY n.tenant, n.event, n.task_type, n.worker, n.batch_no
)
