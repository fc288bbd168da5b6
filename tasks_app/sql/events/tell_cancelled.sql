-- What `tell` writes of a single task that was cancelled, without what it takes to sort many. Its number is drawn when `moved` is
-- there, and so under the lock of the unit.
    INSERT INTO punctual_outbox (tenant, event, task_type, count, task_ids, keys, jobs, fire_times, idem_keys, payloads)
    SELECT m.tenant, 'task.cancelled'::text, m.task_type, 1, ARRAY[m.id], ARRAY[m.biz_key],
           CASE WHEN m.job IS NOT NULL THEN ARRAY[m.job] END, CASE WHEN m.job IS NOT NULL THEN ARRAY[m.fire_time] END,
           CASE WHEN m.idem_key IS NOT NULL THEN ARRAY[m.idem_key] END,
           jsonb_build_array(jsonb_build_object(
               'code', 'CANCELLED', 'reason', left(%(reason)s::text, 500), 'by', %(by)s::text))
    FROM moved m
    WHERE %(told)s::bool
