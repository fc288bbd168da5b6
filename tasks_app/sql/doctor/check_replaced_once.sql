-- check_replaced_once: a row is taken over once. Compared as a whole: no index knows who took over from whom.
SELECT max(id), replaces::text FROM
--rows
WHERE replaces IS NOT NULL GROUP BY replaces HAVING count(*) > 1
