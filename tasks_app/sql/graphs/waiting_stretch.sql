-- waiting_stretch: the next tasks that wait for others, in order of id; the walk that finds every case goes on from there.
SELECT DISTINCT w.task FROM punctual_wait w WHERE w.task > %(after)s ORDER BY w.task LIMIT %(step)s
