-- claim_chosen: rows of a crowded lane that were read a moment ago, chosen by whose they are -> RUNNING, as claim_ids does it. Returns
-- which of them, too: whoever chose keeps account.
WITH due AS MATERIALIZED (
--include due_of_ids
--include claim.batches
--include claim.inserted
    , ids
