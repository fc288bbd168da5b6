-- Up to where the timetables of the shards `s` lie behind us (pass_entries). Not if the clock has been set back since.
    LEFT JOIN punctual_timetable p ON p.shard = s.shard AND p.noted_at <= statement_timestamp()
