-- Of each lane, by its number, the place (moment and id) from which on something is left, as far as that was seen: a batch was one
-- too many, or a shard may have had more. What somebody has locked is not counted.
    , (SELECT jsonb_object_agg(lane_no, at) FROM (
        SELECT lane_no, min(at) at FROM (
            SELECT lane_no, ARRAY[date_part('epoch', first_due), ids[1]] at FROM ranked WHERE place > (%(allowed)s::int[])[lane_no]
            UNION ALL
            SELECT lane_no, ARRAY[date_part('epoch', max(due_at)), (array_agg(id))[count(*)]]
            FROM due GROUP BY lane_no, line HAVING count(*) >= (%(rows)s::int[])[lane_no]
        ) one GROUP BY lane_no
    ) seen)::text
