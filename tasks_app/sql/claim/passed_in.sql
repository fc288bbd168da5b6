-- The low-water marks of the shards `s` (pass_entries), unless the clock has been set back since.
    LEFT JOIN punctual_timetable p ON p.shard = s.shard AND p.noted_at <= statement_timestamp()
