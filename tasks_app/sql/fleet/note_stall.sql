-- note_stall: a beat hung on this item. After so many times the beats skip it, except for parts of the beat itself (`never`).
INSERT INTO punctual_stall AS s (kind, place, item, beat, stack)
VALUES (%(kind)s, %(place)s, %(item)s, %(beat)s, %(stack)s)
ON CONFLICT (kind, place, item) DO UPDATE
SET ends = CASE WHEN s.last_at < clock_timestamp() - make_interval(hours => %(forget)s) THEN 1 ELSE s.ends + 1 END,
    first_at = CASE WHEN s.last_at < clock_timestamp() - make_interval(hours => %(forget)s) THEN clock_timestamp() ELSE s.first_at END,
    last_at = clock_timestamp(),
    skipped_at = CASE WHEN NOT %(never)s AND s.ends + 1 >= %(most)s
                           AND s.last_at >= clock_timestamp() - make_interval(hours => %(forget)s)
                      THEN coalesce(s.skipped_at, clock_timestamp()) ELSE s.skipped_at END,
    beat = excluded.beat, stack = excluded.stack
RETURNING s.ends
