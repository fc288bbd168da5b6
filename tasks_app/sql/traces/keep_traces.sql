-- keep_traces: the trace that each of these tasks belongs to. Whoever schedules a task, or gives it another time, takes it into
-- its own. Run after the tasks were locked or inserted, in the same transaction, and by id: so nobody waits for it here.
INSERT INTO punctual_trace (task, traceparent, tracestate, last_run)
SELECT given.task, given.traceparent, given.tracestate, given.last_run
FROM unnest(%(tasks)s::bigint[], %(parents)s::text[], %(states)s::text[], %(lasts)s::text[])
     AS given(task, traceparent, tracestate, last_run)
ORDER BY given.task
ON CONFLICT (task) DO UPDATE
SET traceparent = excluded.traceparent, tracestate = excluded.tracestate, last_run = excluded.last_run
