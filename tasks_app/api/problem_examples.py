"""Examples of what the API answers when something is wrong, by their codes."""

from .problems import Problem

_TASK_THERE = {"task": {"id": 1001, "status": "INIT", "live": True}}
_JOB_THERE = {"job": {"id": 12, "status": "ACTIVE", "revision": 4}}
PROBLEMS = {
    code: Problem(code, detail, there=there).as_dict()
    for code, detail, there in (
        ("SCH_400_MALFORMED", "The body is not JSON: Expecting value: line 1 column 1 (char 0).", None),
        ("SCH_400_IDEMPOTENCY_KEY_MISSING", "Send a header Idempotency-Key; a repeat then does nothing.", None),
        ("SCH_401_UNAUTHENTICATED", "Send a valid token: Authorization: Bearer pnc_…", None),
        ("SCH_403_FORBIDDEN", "You may read but not write. Ask for a token, or the permissions, to write.", None),
        (
            "SCH_403_TYPE_CLOSED",
            "task type 'CELERY_TASK' is not open to this token. It may use INVOICE_SEND, STOCK_SYNC.",
            None,
        ),
        (
            "SCH_403_LANE_CLOSED",
            "lane 'critical' is not open to this token. It may use high, default, low, deferred, backfill: "
            "name one of them.",
            None,
        ),
        (
            "SCH_403_TENANT_SUSPENDED",
            "Tenant 'acme' is suspended: the invoice is open. You may read, but change nothing.",
            None,
        ),
        ("SCH_404_NOT_FOUND", "There is no task 1001.", None),
        ("SCH_405_METHOD_NOT_ALLOWED", "PUT is not allowed here; use GET, HEAD, POST.", None),
        ("SCH_409_DUPLICATE", "INVOICE_SEND 'order 4711/a' is already scheduled: task 1001, INIT.", _TASK_THERE),
        (
            "SCH_409_CLAIMED",
            "the firing of Mon 1 Mar 2027 09:00 CET of job 12 was claimed already: its task 1001 is RUNNING. Nothing "
            "was changed; only a firing that nobody has claimed yet can be moved, skipped or restored.",
            {"task": {"id": 1001, "status": "RUNNING", "live": True}},
        ),
        ("SCH_409_IN_PROGRESS", "The first request with Idempotency-Key 'a1' is still running.", None),
        (
            "SCH_409_NOT_AWAY",
            "Task 998 was cancelled by olga: the order was withdrawn. Nothing was changed.",
            {"task": {"id": 998, "status": "CANCELLED", "live": False}},
        ),
        ("SCH_409_CONFLICT", "job 12 was changed by others 10 times in the meantime. Try again.", _JOB_THERE),
        (
            "SCH_409_HAS_CHILDREN",
            "job 'extract' can't be deleted while 'report' comes after it. Delete those first, or take it out of their "
            "parents.",
            _JOB_THERE,
        ),
        ("SCH_412_STALE", "job 12 is at revision 4, not 3: somebody changed it. Read it again.", _JOB_THERE),
        ("SCH_413_TOO_LARGE", "The body has more than 212,992 bytes. Send ids instead of data.", None),
        (
            "SCH_422_INVALID",
            "body.at: Value error, 5 is not a time; write it like 2027-03-01T09:00:00Z",
            {"errors": [{"field": "at", "detail": "Value error, 5 is not a time; write it like 2027-03-01T09:00:00Z"}]},
        ),
        ("SCH_422_KEY_REUSED", "Idempotency-Key 'a1' was used for another request. Make up a new one.", None),
        ("SCH_428_IF_MATCH_MISSING", "Send a header If-Match with the revision that you have read.", None),
        (
            "SCH_429_RETRY_LIMITED",
            "Task 1001 was retried 5 times within a minute. Look at why it fails, or wait.",
            None,
        ),
        (
            "SCH_429_TOO_MANY",
            "Too many calls by you, or from your address, in this minute. Wait for Retry-After seconds.",
            None,
        ),
        (
            "SCH_429_QUOTA",
            "tenant 'acme' has 10,004 live tasks, and may have 10,000; nothing was scheduled. Try again when some of "
            "them are done, cancel what nobody needs, or have the quota max_tasks raised.",
            {"quota": {"name": "max_tasks", "limit": 10_000, "used": 10_004}},
        ),
        ("SCH_500_INTERNAL", "The server's log says what happened.", None),
        (
            "SCH_503_DEGRADED",
            "Too many tasks give up: only work in lane 'critical' fires until that is over, and this would run in "
            "'default'. Nothing was triggered; try again later.",
            None,
        ),
        (
            "SCH_503_OVERLOADED",
            "The database has too much to do: it answers slowly. Reads have to wait, so that tasks go on. Try again "
            "later.",
            None,
        ),
        (
            "SCH_503_DISPATCHER_DOWN",
            "No beat is dispatching, so nothing would run now. Try again in a moment.",
            None,
        ),
        ("SCH_503_DATABASE_DOWN", "The database does not answer, or takes too long. Try again.", None),
        ("SCH_503_ARCHIVE_DOWN", "The archive can't be reached, or read: connection refused", None),
    )
}
