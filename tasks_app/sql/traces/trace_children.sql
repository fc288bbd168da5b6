-- trace_children: what waits for these tasks, in the transaction that settles them, goes on in the trace of their run; of several
-- parents, in that of the one that was last, since that is what it has waited for.
INSERT INTO punctual_trace (task, traceparent, tracestate)
SELECT DISTINCT ON (child.task) child.task, given.run, given.tracestate
FROM unnest(%(tasks)s::bigint[], %(runs)s::text[], %(states)s::text[]) AS given(task, run, tracestate)
CROSS JOIN LATERAL (SELECT task FROM punctual_wait WHERE parent = given.task ORDER BY task LIMIT 100000) AS child
ORDER BY child.task, given.task
ON CONFLICT (task) DO UPDATE SET traceparent = excluded.traceparent, tracestate = excluded.tracestate
