-- note_counts: how far is counted now, and the gauges. The estimates stay as they are unless there are new ones, and so
-- does the row they are kept in.
UPDATE punctual_count_pass
SET counted_until = %(until)s, letters_counted = %(letters_counted)s, letters_seen = %(letters_seen)s,
    letters_seen_at = CASE WHEN %(letters_looked)s THEN clock_timestamp() ELSE letters_seen_at END,
    at = clock_timestamp(), seconds = extract(epoch FROM clock_timestamp() - now())::float8, gauges = %(gauges)s::jsonb,
    sampled_at = CASE WHEN %(sample)s::jsonb IS NULL THEN sampled_at ELSE clock_timestamp() END,
    sample = coalesce(%(sample)s::jsonb, sample), names = coalesce(%(names)s::jsonb, names)
WHERE id = 1
