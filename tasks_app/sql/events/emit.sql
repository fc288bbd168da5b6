-- emit: events that no statement about tasks tells: an app's own, and those of jobs, lanes and limits. All of one kind and
-- tenant in one row.
INSERT INTO punctual_outbox (tenant, event, task_type, count, keys, task_ids, jobs, payloads)
VALUES (%(tenant)s, %(event)s, %(task_type)s, %(count)s, %(keys)s::text[], %(task_ids)s::bigint[], %(jobs)s::bigint[],
        %(payloads)s::jsonb)
