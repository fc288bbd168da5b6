-- forget_pulse: minutes that nobody goes by any more.
DELETE FROM punctual_pulse WHERE minute < date_trunc('minute', now()) - interval '75 minutes'
