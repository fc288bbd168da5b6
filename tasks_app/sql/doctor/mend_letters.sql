-- mend_letters: a current DEAD row without an open letter gets one; an open letter of anything else is closed.
WITH closed AS (
    UPDATE punctual_dead_letter d
    SET replay_status = 'CLOSED', closed_at = clock_timestamp(), closed_by = %(by)s
    WHERE d.task_id = ANY (%(ids)s::bigint[]) AND d.replay_status = 'OPEN'
      AND NOT EXISTS (SELECT FROM punctual_task t WHERE t.id = d.task_id AND t.status = 'DEAD' AND t.current)
    RETURNING d.task_id
), opened AS (
    INSERT INTO punctual_dead_letter (task_id, tenant, task_type, error_code, error_msg, fingerprint, job)
    SELECT t.id, t.tenant, t.task_type, t.error_code, t.error_msg,
           punctual_fingerprint(t.task_type, t.error_code, t.error_msg, ''), t.job
    FROM punctual_task t
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.status = 'DEAD' AND t.current
      AND NOT EXISTS (SELECT FROM punctual_dead_letter d WHERE d.task_id = t.id AND d.replay_status = 'OPEN')
    RETURNING task_id
)
SELECT task_id FROM closed UNION SELECT task_id FROM opened
