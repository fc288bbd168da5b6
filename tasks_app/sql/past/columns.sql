-- The columns of punctual_task, as both it and the past have them.
           id, tenant, task_type, biz_key, current, replaces, idem_key, token, job, fire_time, status, execute_time, due_at,
           claimed_due, allowed_at, lane, shard, solo, batch_no, limited, attempt, retry_count, max_retry, repeat_after,
           expires_after, start_time, finish_time, error_code, error_msg, cancelled_by, cancelled_from, payload,
           created_at, updated_at, result, ran_in, deferred_from, deferred, retry_for, payload_bytes, asked_by
