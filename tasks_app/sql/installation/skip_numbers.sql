-- skip_numbers: a standby that lagged may not know all numbers that the primary had given out, to tasks and to events. None
-- of them is given out again: whoever has seen one would take another task, or another event, for it.
-- (A role that may insert rows need not be allowed to draw numbers by hand; then none are skipped.)
SELECT count(nextval(s.name))
FROM unnest(ARRAY[pg_get_serial_sequence('punctual_task', 'id'), pg_get_serial_sequence('punctual_outbox', 'id')]) AS s(name),
     generate_series(1, %(numbers)s::int)
WHERE has_sequence_privilege(s.name, 'USAGE')
