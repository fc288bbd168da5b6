-- status_shards: who dispatches each shard, under which fencing number, and since when and from whom.
SELECT shard, CASE WHEN holder IS NOT NULL AND lease_until > clock_timestamp() THEN holder_name END, fence,
       extract(epoch FROM lease_until - clock_timestamp())::float8,
       extract(epoch FROM clock_timestamp() - taken_at)::float8, taken_how, taken_from
FROM punctual_shard_lease
ORDER BY shard
