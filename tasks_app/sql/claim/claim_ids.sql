-- claim_ids: rows that were read ahead -> RUNNING, if they are due now, or within `ahead` (see claim). One that was moved, cancelled or paused since it
-- was read is left alone, whatever was read, and so is one of a shard whose fencing number has grown, and one that is held
-- back (see claim).
WITH due AS MATERIALIZED (
--include due_of_ids
--include claim.batches
--include claim.inserted
