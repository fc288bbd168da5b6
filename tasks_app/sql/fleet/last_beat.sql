-- last_beat: for how many seconds no beat has given a sign of life: reported itself, or taken a chore. NULL: there never
-- was one. Those of a site that stands by don't count, and take no chores.
SELECT extract(epoch FROM clock_timestamp() - greatest(
           (SELECT max(seen_at) FROM punctual_node WHERE kind = 'BEAT'
              AND site = coalesce((SELECT coalesce(i.next_site, i.site) FROM punctual_installation i), site)),
           (SELECT max(ran_at) FROM punctual_chore)))::float8
