-- due_index: a row without an entry in the due-time index waits by wait_at. Triggers keep it: a statement that writes due_at
-- needs to know of neither. Claim, settle and an insert with an entry write a wait_at that fits, and call no trigger.
CREATE FUNCTION punctual_wait_apart() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.wait_at := NEW.due_at;
    RETURN NEW;
END $$;

CREATE TRIGGER punctual_new_waits_apart BEFORE INSERT ON punctual_task FOR EACH ROW
WHEN (NEW.wait_at IS DISTINCT FROM NEW.due_at AND NEW.entry_at IS DISTINCT FROM NEW.due_at)
EXECUTE FUNCTION punctual_wait_apart();
CREATE TRIGGER punctual_waits_apart BEFORE UPDATE ON punctual_task FOR EACH ROW
WHEN (NEW.wait_at IS DISTINCT FROM NEW.due_at
      AND (NEW.due_at IS DISTINCT FROM OLD.due_at OR NEW.wait_at IS NOT NULL OR NEW.entry_at IS DISTINCT FROM OLD.entry_at
           OR NEW.lane <> OLD.lane OR NEW.shard <> OLD.shard OR NEW.limited <> OLD.limited
           OR NEW.repeat_after IS NOT NULL))
EXECUTE FUNCTION punctual_wait_apart();
