-- next_job: the number of a job that is yet to be written: what it is given is encrypted for that job and no other.
SELECT nextval(pg_get_serial_sequence('punctual_job', 'id'))
