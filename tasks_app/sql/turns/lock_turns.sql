-- lock_turns: of these jobs, those whose turns nobody else is giving; edits, pauses and deletions wait until we are done.
-- A statement of its own: the decision reads in a later snapshot, and so sees what the decision before it wrote.
-- SKIP LOCKED: somebody else decides, or changes the job; it is looked at again in a moment.
SELECT id FROM punctual_job WHERE id = ANY (%(jobs)s::bigint[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
