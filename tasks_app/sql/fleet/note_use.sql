-- note_use: a token was used just now. Whoever finds it locked leaves the note to the other: no call waits for it.
UPDATE punctual_api_token SET last_used_at = clock_timestamp()
WHERE id = (SELECT id FROM punctual_api_token WHERE id = %(token)s FOR NO KEY UPDATE SKIP LOCKED)
