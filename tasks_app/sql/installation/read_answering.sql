-- read_answering: what the server says of itself that answers while nobody takes writes.
-- What its primary had beyond that it can't know. It can say when its last change was committed, and how much it has got
-- and not applied yet; it has received nothing if it reads the log from an archive, or has just been started.
SELECT pg_is_in_recovery(), pg_last_xact_replay_timestamp(),
       EXTRACT(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8,
       greatest(0, pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()))::bigint
