-- unsettled_tasks: which of these tasks, which a worker has settled in a batch that goes on, still run in it by this server.
SELECT id FROM punctual_task WHERE id = ANY (%(ids)s::bigint[]) AND batch_no = %(number)s AND status = 'RUNNING'
