-- forget_traces: of tasks that are over. One that somebody has taken into another trace meanwhile stays: it runs again.
DELETE FROM punctual_trace r
USING unnest(%(tasks)s::bigint[], %(parents)s::text[]) AS given(task, traceparent)
WHERE r.task = given.task AND r.traceparent = given.traceparent
