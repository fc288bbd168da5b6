-- read_traces: what is kept of a batch that was started, and when it was claimed. Once a batch, and only by a worker that traces.
-- One row at least, since most batches have no task that is traced.
SELECT date_part('epoch', b.claimed_at), r.task, r.traceparent, r.tracestate, r.last_run
FROM punctual_batch b
LEFT JOIN punctual_trace r ON r.task = ANY (b.ids)
WHERE b.batch_no = %(batch_no)s
