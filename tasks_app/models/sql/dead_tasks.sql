-- dead_tasks: two failures have one cause if task type, error code, the failing code of the app and the first line of the
-- message are the same, except for quoted values, addresses, ids, numbers and times in that line.
CREATE FUNCTION punctual_fingerprint(task_type text, code text, message text, frame text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    line text := left(split_part(btrim(message, E' \t\r\n'), E'\n', 1), 500);
BEGIN
    line := regexp_replace(line, $re$"[^"]*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)$re$, '#', 'g');
    line := regexp_replace(line, '\S+@\S+', '#', 'g');
    line := regexp_replace(line, '[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}', '#', 'g');
    line := regexp_replace(line, '\m(Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\M', '#', 'g');
    line := regexp_replace(line, '\w*\d\w*|\m[a-fA-F]{8,}\M', '#', 'g');
    line := regexp_replace(line, '(?<!\w)[-+]#', '#', 'g');
    line := regexp_replace(line, '#([-+:.,/ _]*#)+', '#', 'g');
    line := regexp_replace(line, '\s+', ' ', 'g');
    RETURN left(encode(sha256(convert_to(
        task_type || E'\x1f' || code || E'\x1f' || line || E'\x1f' || frame, 'UTF8')), 'hex'), 16);
END $$;

CREATE FUNCTION punctual_dead_letter_cause() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.fingerprint := punctual_fingerprint(NEW.task_type, NEW.error_code, NEW.error_msg, NEW.frame);
    RETURN NEW;
END $$;

CREATE TRIGGER punctual_dead_letter_cause BEFORE INSERT ON punctual_dead_letter
    FOR EACH ROW WHEN (NEW.fingerprint = '') EXECUTE FUNCTION punctual_dead_letter_cause();
