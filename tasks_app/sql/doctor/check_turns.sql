-- check_turns: no two instances of a job have its turn; all but the oldest of them are named. Those that were under way when the job
-- still allowed overlap (`alongside`) don't count.
SELECT t.id, w.job::text
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
CROSS JOIN LATERAL (SELECT u.job FROM punctual_turn u WHERE u.task = t.id AND u.state = 'taken' AND NOT u.alongside LIMIT 1) AS w
CROSS JOIN LATERAL (
    SELECT count(*) AS older
    FROM punctual_turn o
    CROSS JOIN LATERAL (
        SELECT FROM punctual_task p
        WHERE p.id = o.task AND (p.due_at IS NOT NULL OR p.status NOT IN ('SUCCESS', 'DEAD', 'CANCELLED')) LIMIT 1
    ) AS p
    WHERE o.job = w.job AND o.state = 'taken' AND NOT o.alongside AND o.task < t.id
) AS o
WHERE t.job IS NOT NULL AND (t.due_at IS NOT NULL OR t.status NOT IN ('SUCCESS', 'DEAD', 'CANCELLED')) AND o.older > 0
