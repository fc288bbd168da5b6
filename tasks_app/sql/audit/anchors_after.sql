-- anchors_after: what a place has not got yet, or the next ones to verify.
SELECT no, body FROM punctual_audit_anchor WHERE no > %(after)s ORDER BY no LIMIT %(step)s
