-- lock_counts: how far was counted, and up to where it can be counted now: what ended `settled` seconds ago is committed.
-- One beat counts at a time: whoever finds it locked leaves it to the other.
-- What is older than `most` seconds is left out: nobody counted for so long, and a batch may have gone to the archive.
SELECT greatest(p.counted_until, now.at - make_interval(secs => %(most)s)),
       greatest(p.counted_until, now.at - make_interval(secs => %(settled)s)),
       p.letters_counted, p.letters_seen, now.at - p.letters_seen_at >= make_interval(secs => %(settled)s),
       extract(epoch FROM now.at - p.sampled_at)::float8, p.names
FROM punctual_count_pass p, (SELECT clock_timestamp() AS at) AS now
WHERE p.id = 1
FOR NO KEY UPDATE OF p SKIP LOCKED
