-- write_anchor: the next one, as it was signed.
INSERT INTO punctual_audit_anchor (no, at, key, body, hash)
VALUES (%(no)s, %(at)s::timestamptz, %(key)s, %(body)s, %(hash)s)
