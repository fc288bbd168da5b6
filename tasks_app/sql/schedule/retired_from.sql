-- What a row in `retired` leaves behind: the lease of a run that was away, and a dead letter that nobody has answered.
home AS (
    DELETE FROM punctual_away a USING retired r WHERE r.was = 'AWAY' AND a.task = r.id
), closed AS (
    UPDATE punctual_dead_letter d
    SET replay_status = 'CLOSED', closed_at = clock_timestamp(), closed_by = %(by)s
    FROM retired
    WHERE d.task_id = retired.id AND d.replay_status = 'OPEN'
)
