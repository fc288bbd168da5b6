-- last_beat: for how many seconds no beat has given a sign of life: reported itself, or taken a chore. NULL: there never
-- was one.
SELECT extract(epoch FROM clock_timestamp() - greatest(
           (SELECT max(seen_at) FROM punctual_node WHERE kind = 'BEAT'),
           (SELECT max(ran_at) FROM punctual_chore)))::float8
