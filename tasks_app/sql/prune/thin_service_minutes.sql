-- thin_service_minutes: of what is older than `fine`, one row an hour is enough, since each has the sums up to it; and
-- those that were down, so that people can see when that was. Past `keep` all of it goes.
-- What lies further back than a day before `fine` has been thinned out before.
DELETE FROM punctual_service_minute
WHERE minute < now() - make_interval(secs => %(keep)s)
   OR (minute >= now() - make_interval(secs => %(fine)s) - interval '1 day'
       AND minute < now() - make_interval(secs => %(fine)s)
       AND state <> 'DOWN' AND date_part('epoch', minute)::bigint %% 3600 <> 0)
RETURNING 1
