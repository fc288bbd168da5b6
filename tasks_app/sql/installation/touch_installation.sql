-- touch_installation: whoever sees to what beats do otherwise is there, and says so; they do with hold_shards.
WITH
--include sign_of_life
SELECT count(*) FROM given
