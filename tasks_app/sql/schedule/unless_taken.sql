-- No row for a unit that is taken.
ON CONFLICT (biz_key, task_type, tenant) WHERE current DO NOTHING
