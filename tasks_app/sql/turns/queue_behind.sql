-- queue_behind: instances that a backfill has made due again wait for their turn behind all others, as those that it makes do.
UPDATE punctual_turn SET policy = 'backfill' WHERE task = ANY (%(ids)s::bigint[]) AND state = 'new'
