-- The columns of a row of the outbox, as core/events.py's OutboxRow takes them.
o.id, o.created_at, o.tenant, o.event, o.task_type, o.worker, o.batch_no, o.count, o.task_ids, o.keys, o.jobs, o.fire_times,
o.idem_keys, o.attempts, o.states, o.payloads, o.task_id, o.payload
