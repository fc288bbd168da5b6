-- note_incidents: what was seen opens an incident for its rule and cause, or is counted in the one that is open.
-- The first alert waits a little for others of the same cause, each later one until the rule's time has passed.
-- What is found by looking is as many as were found now; what is told by events is added up.
INSERT INTO punctual_alarm_incident AS i (rule, tenant, condition, cause, task_type, job, count, seconds, sample,
                                          opened_at, seen_at, calm_at, tell_at)
SELECT u.rule, u.tenant, u.condition, u.cause, u.task_type, u.job, u.count, u.seconds, u.sample::jsonb,
       now.at, now.at, now.at + make_interval(secs => u.quiet), now.at + make_interval(secs => u.soon)
FROM (SELECT clock_timestamp() AS at) AS now,
     unnest(%(rules)s::bigint[], %(tenants)s::text[], %(conditions)s::text[], %(causes)s::text[], %(types)s::text[],
            %(jobs)s::bigint[], %(counts)s::bigint[], %(seconds)s::float8[], %(samples)s::text[], %(quiets)s::float8[],
            %(soons)s::float8[])
     AS u(rule, tenant, condition, cause, task_type, job, count, seconds, sample, quiet, soon)
ORDER BY u.rule, u.condition, u.task_type, u.cause
ON CONFLICT (rule, condition, task_type, cause) WHERE closed_at IS NULL DO UPDATE
SET count = CASE WHEN i.condition = ANY (%(levels)s::text[]) THEN excluded.count ELSE i.count + excluded.count END,
    seconds = greatest(i.seconds, excluded.seconds), sample = excluded.sample,
    seen_at = excluded.seen_at, calm_at = greatest(i.calm_at, excluded.calm_at),
    tell_at = coalesce(i.tell_at, CASE WHEN i.told_at IS NULL THEN excluded.tell_at ELSE greatest(
        excluded.seen_at,
        i.told_at + make_interval(secs => (SELECT r.repeat_seconds FROM punctual_alarm_rule r WHERE r.id = i.rule))) END)
RETURNING 1
