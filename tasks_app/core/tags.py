"""The tags that the scheduler itself puts on dead letters; handlers and people add their own."""

TRANSIENT_ERROR = "transient_error"  # the error said that trying again may help, and every try failed
TIMEOUT = "timeout"  # the handler ran over its time
LEASE_EXPIRED = "lease_expired"  # its worker died, or was cut off
BAD_PAYLOAD = "bad_payload"  # the payload does not fit the handler
UNKNOWN_HANDLER = "unknown_handler"  # nobody has the code that it asks for
OURS = (TRANSIENT_ERROR, TIMEOUT, LEASE_EXPIRED, BAD_PAYLOAD, UNKNOWN_HANDLER)
