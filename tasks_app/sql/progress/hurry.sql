-- hurry: what this transaction writes is a hint. It waits neither for a lock nor for the disk: the lease of a batch
-- depends on the thread that writes it.
SELECT set_config('lock_timeout', %(lock_ms)s, TRUE), set_config('statement_timeout', %(ms)s, TRUE),
       set_config('synchronous_commit', 'off', TRUE)
