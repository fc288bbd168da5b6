-- first_work_after: when a batch was first claimed after this moment: then the database took commits again. NULL: none is known.
SELECT min(claimed_at) FROM punctual_batch WHERE claimed_at > %(since)s
