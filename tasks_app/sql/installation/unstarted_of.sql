-- unstarted_of: the dispatchers whose batches nobody has started.
SELECT DISTINCT dispatcher FROM punctual_batch WHERE finished_at IS NULL AND started_at IS NULL
