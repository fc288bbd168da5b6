-- campaign_wait: seconds until there is something to do for the campaigns that no other beat works on; empty: nothing.
SELECT least(
    (SELECT extract(epoch FROM min(next_at) - clock_timestamp()) FROM punctual_campaign
     WHERE state = 'RUNNING' AND (most_running IS NULL OR waiting < most_running)
       AND (holder = %(holder)s OR held_until IS NULL OR held_until < (SELECT clock_timestamp()))
       AND NOT (
--include backfill_held
       )),
    (SELECT extract(epoch FROM min(measure_at) - clock_timestamp()) FROM punctual_campaign
     WHERE measure_at IS NOT NULL AND (holder = %(holder)s OR held_until IS NULL OR held_until < (SELECT clock_timestamp())))
)::float8
