-- A row of `u`, which says what it was seen as and whether it hands its intent on, gives up `current` to the one that takes over;
-- one whose run is under way is CANCELLED by that. The caller closes the brace, with what it wants back.
retired AS (
    UPDATE punctual_task t
    SET current = FALSE, due_at = NULL, batch_no = NULL, ran_in = coalesce(t.batch_no, t.ran_in),
        idem_key = CASE WHEN u.hand_on THEN NULL ELSE t.idem_key END,
        status = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN 'CANCELLED' ELSE t.status END,
        error_code = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN 'SUPERSEDED' ELSE t.error_code END,
        error_msg = CASE t.status WHEN 'RUNNING' THEN 'rescheduled while this attempt was running'
                                  WHEN 'AWAY' THEN 'rescheduled while this attempt was away' ELSE t.error_msg END,
        cancelled_by = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN %(by)s ELSE t.cancelled_by END,
        start_time = CASE WHEN t.status = 'RUNNING' AND t.claimed_due > clock_timestamp() THEN NULL
                          WHEN t.status = 'RUNNING'
                          THEN (SELECT greatest(r.started_at, t.claimed_due) FROM punctual_batch r
                                WHERE r.batch_no = t.batch_no AND r.started_at IS NOT NULL)
                          ELSE t.start_time END,
        finish_time = CASE WHEN t.status IN ('RUNNING', 'AWAY') THEN clock_timestamp() ELSE t.finish_time END,
        updated_at = clock_timestamp()
    FROM u
    WHERE t.id = u.id AND t.current AND t.status = u.status
      AND (t.status IN ('RUNNING', 'AWAY') OR (t.due_at IS NULL AND t.status IN ('SUCCESS', 'DEAD', 'CANCELLED')))
