-- hand_on_traces: what these tasks have deferred, in the transaction that settles them, belongs to the trace of their run.
-- What was there already, and only waits for the same effect, keeps its own.
INSERT INTO punctual_trace (task, traceparent, tracestate)
SELECT child.id, given.run, given.tracestate
FROM unnest(%(tasks)s::bigint[], %(runs)s::text[], %(states)s::text[]) AS given(task, run, tracestate)
CROSS JOIN LATERAL (SELECT id, deferred FROM punctual_task WHERE id = given.task LIMIT 1) AS parent
CROSS JOIN LATERAL unnest(parent.deferred) AS one(id)
CROSS JOIN LATERAL (
    SELECT id FROM punctual_task WHERE id = one.id AND deferred_from = parent.id LIMIT 1
) AS child
ORDER BY child.id
ON CONFLICT (task) DO NOTHING
