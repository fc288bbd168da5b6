-- act_as: what this transaction schedules from now on was asked for by them (the default of asked_by).
SELECT set_config('punctual.actor', %(name)s, TRUE)
