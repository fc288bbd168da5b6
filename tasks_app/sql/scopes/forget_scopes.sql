-- forget_scopes: minutes of scopes that no rule reads any more.
DELETE FROM punctual_scope_minute WHERE minute < date_trunc('minute', now()) - interval '15 minutes'
