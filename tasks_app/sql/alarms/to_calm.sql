-- to_calm: open incidents of which nothing has been seen for long enough to ask whether all is well again; locked.
-- `well` is the answer: what is looked at is no longer there; of what events tell, a run has succeeded since: of the job,
-- among its latest, or of the type, in a minute that came later. What belongs to neither is well when it has stopped.
-- Nobody needs to look further back than an hour: it is asked every minute.
-- now() and not clock_timestamp() for these minutes, since no index can be searched with that.
WITH lately AS MATERIALIZED (
    SELECT task_type, max(minute) AS minute FROM punctual_minute_figures
    WHERE minute >= now() - interval '1 hour' AND ok > 0
    GROUP BY task_type
)
SELECT i.id, i.rule, i.tenant, i.condition, i.cause, i.task_type, i.job, i.count, i.told_count, i.seconds, i.sample,
       i.opened_at, i.seen_at, i.told_at,
       i.seen_at < clock_timestamp() - make_interval(secs => %(forget)s) AS forgotten,
       CASE WHEN i.condition = ANY (%(untold)s::text[]) THEN FALSE
            WHEN i.condition <> ALL (%(runs)s::text[]) THEN TRUE
            WHEN i.job IS NOT NULL THEN EXISTS (
                SELECT FROM (
                    SELECT t.status, t.finish_time FROM punctual_any_task t
                    WHERE t.job = i.job AND t.fire_time <= (SELECT clock_timestamp())
                    ORDER BY t.fire_time DESC
                    LIMIT 20
                ) AS last WHERE last.status = 'SUCCESS' AND last.finish_time > i.seen_at)
            WHEN i.task_type = '' THEN TRUE
            ELSE EXISTS (SELECT FROM lately l WHERE l.task_type = i.task_type AND l.minute > i.seen_at)
       END AS well
FROM punctual_alarm_incident i
WHERE i.calm_at <= (SELECT clock_timestamp()) AND i.closed_at IS NULL
ORDER BY i.calm_at
LIMIT %(most)s
FOR UPDATE OF i SKIP LOCKED
