-- know_types: types that are claimed by type from now on have a row for it, as if they once had a limit; that of a limit stays as it is.
INSERT INTO punctual_type_limit (task_type)
SELECT unnest(%(types)s::text[])
ON CONFLICT DO NOTHING
