-- planned_by_calendar: the next jobs of a calendar, each with its schedule and the firings of it that are planned and not
-- claimed: those that a change of the calendar may take back. What somebody has moved stays.
-- A job that counts its runs, whose instances wait for their turn, or that others wait for, is dealt with by itself, under
-- its lock (`alone`).
-- A job may have left its schedule since the calendar had no firing before its end (`left_early`); now it may have one.
WITH page AS MATERIALIZED (
    SELECT * FROM punctual_job
    WHERE calendar = %(calendar)s AND calendar IS NOT NULL AND id > %(after)s AND status = 'ACTIVE'
    ORDER BY id
    LIMIT %(page)s
)
SELECT j.id, j.tenant, j.cron, j.every, j.phase, j.timezone, j.dst_gap, j.dst_repeat, j.on_day_off, p.times,
       j.max_runs IS NOT NULL OR j.overlap <> 'allow' OR j.has_children AS alone,
       j.cursor IS NULL AND j.end_at > clock_timestamp() AND (j.max_runs IS NULL OR j.runs < j.max_runs) AS left_early
FROM page j
CROSS JOIN LATERAL (
    SELECT array_agg(t.fire_time ORDER BY t.fire_time) AS times FROM (
        SELECT t.* FROM punctual_task t WHERE t.job = j.id AND t.due_at IS NOT NULL AND t.status = 'INIT'
        UNION ALL
        SELECT t.* FROM punctual_turn w JOIN punctual_task t ON t.id = w.task
        WHERE j.overlap <> 'allow' AND w.job = j.id AND w.state <> 'taken' AND t.status = 'BLOCKED'
    ) AS t
    WHERE NOT t.solo
      AND (t.claimed_due IS NULL OR t.execute_time = t.fire_time)
      AND CASE WHEN j.overridden
               THEN NOT EXISTS (SELECT FROM punctual_firing_override o WHERE o.job = t.job AND o.fire_time = t.fire_time) ELSE TRUE END
      AND NOT starts_with(t.biz_key, j.id || ':m:')
) AS p
ORDER BY j.id
