-- New rows, those of units that are taken left out, are in `created`. The brace that closes what stands last is left to the caller.
WITH created AS (
--include new_rows
ON CONFLICT (biz_key, task_type, tenant) WHERE current DO NOTHING
RETURNING tenant, task_type, biz_key, id, due_at, replaces, job, fire_time, idem_key
--include count_scheduled
