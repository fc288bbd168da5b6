-- declare_shards: each shard has a row, free the first time. None is ever removed: fewer shards in the settings are
-- fewer for new tasks, and those that lie in the others are dispatched as before.
-- NOT EXISTS, since ON CONFLICT alone would wait for whoever is just taking the shard.
INSERT INTO punctual_shard_lease (shard)
SELECT n FROM generate_series(0, %(shards)s - 1) AS n
WHERE NOT EXISTS (SELECT FROM punctual_shard_lease l WHERE l.shard = n)
ON CONFLICT (shard) DO NOTHING
