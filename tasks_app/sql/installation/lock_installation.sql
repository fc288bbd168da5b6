-- lock_installation: the row stays as it is until this transaction ends.
SELECT id FROM punctual_installation WHERE id = 1 FOR UPDATE
