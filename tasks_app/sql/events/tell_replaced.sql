-- What retire and insert_replacements tell of a single task, in that order.
    INSERT INTO punctual_outbox (tenant, event, task_type, count, task_ids, keys, idem_keys, payloads)
    SELECT r.tenant, 'task.cancelled', r.task_type, 1, ARRAY[r.id], ARRAY[r.biz_key], NULL::text[],
           jsonb_build_array(jsonb_build_object('code', r.error_code, 'reason', r.error_msg, 'by', %(by)s::text))
    FROM retired r
    WHERE r.was IN ('RUNNING', 'AWAY') AND 'task.cancelled' = ANY (%(kept)s::text[])
    UNION ALL
    SELECT m.tenant, %(became)s::text, m.task_type, 1, ARRAY[m.id], ARRAY[m.biz_key],
           CASE WHEN m.idem_key IS NOT NULL THEN ARRAY[m.idem_key] END,
           jsonb_build_array(CASE %(became)s::text
               WHEN 'task.created' THEN jsonb_build_object('at', m.due_at, 'replaces', r.id)
               ELSE jsonb_build_object('replaces', r.id, 'new', m.due_at, 'old', r.execute_time) END)
    FROM retired r, moved m
    WHERE %(became)s::text = ANY (%(kept)s::text[])
