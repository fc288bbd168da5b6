-- move_turns: instances that wait for their turn and got another time; it is decided about them then.
UPDATE punctual_turn w SET at = t.execute_time, state = 'new'
FROM punctual_task t
WHERE t.id = ANY (%(ids)s::bigint[]) AND t.status = 'BLOCKED' AND w.task = t.id AND w.state <> 'taken' AND w.at < 'infinity'
