-- free_canaries: canaries that are overdue are due now: they ask whether a lane is served, and are not what anybody is asked
-- about. One that is being run or moved is left alone.
UPDATE punctual_task t
SET due_at = %(now)s::timestamptz, allowed_at = %(now)s::timestamptz, updated_at = clock_timestamp()
WHERE t.biz_key = ANY (%(lanes)s::text[]) AND t.task_type = %(canary)s AND t.tenant = %(tenant)s AND t.current
  AND t.due_at < %(now)s::timestamptz AND t.status IN ('INIT', 'FAIL', 'SUCCESS')
