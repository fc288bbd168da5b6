-- declare_chores: each chore has a row, due at once the first time.
INSERT INTO punctual_chore (name, next_at)
SELECT name, clock_timestamp() FROM unnest(%(names)s::text[]) AS c(name)
ON CONFLICT (name) DO NOTHING
