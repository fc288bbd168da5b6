"""Document 001: the audit of articles.

That an outcome needs `status = 'RUNNING'` and the batch's number is asked where the rows are locked, in each statement
that writes them, and by the table's constraints. No single change removes it, so there is no mutant for it.
"""

from tests.requirements.mutants import Mutant

SETTLE = "tasks_app/sql/settle"
CLAIM = "tasks_app/sql/claim"

MUTANTS = [
    Mutant("001 §1 task type", "articles_app/units.py", '"ARTICLE_AUDIT"', '"AUDIT_ARTICLE"'),
    Mutant(
        "001 §1 the audit runs at once",
        "articles_app/conf.py",
        "AUDIT_LEAD_SECONDS: float | None = None",
        "AUDIT_LEAD_SECONDS: float | None = 0.0",
    ),
    Mutant(
        "001 §1 or at the publish time",
        "articles_app/lifecycle/audit.py",
        'else {"at": publish_time - timedelta(seconds=lead)}',
        'else {"at": publish_time - timedelta(seconds=lead + 1)}',
    ),
    Mutant(
        "001 §1 the publish time is the execute time",
        "articles_app/lifecycle/audit.py",
        "ensure(PUBLISH, article_id, at=moved.publish_time, by=actor)",
        "ensure(PUBLISH, article_id, delay=0, by=actor)",
    ),
    Mutant(
        "001 §1 the scan finds what lacks an audit",
        "articles_app/compensation.py",
        "_TO_AUDIT = Article.objects.filter(status=ArticleStatus.PENDING_AUDIT)",
        "_TO_AUDIT = Article.objects.filter(status=ArticleStatus.DRAFT)",
    ),
    Mutant(
        "001 §1 the scan runs once a minute",
        "tasks_app/conf/knobs.py",
        "COMPENSATE_SECONDS: float = 60.0",
        "COMPENSATE_SECONDS: float = 90.0",
    ),
    Mutant(
        "001 §2.1 FAIL can run",
        f"{CLAIM}/claim.sql",
        "status IN ('INIT', 'FAIL', 'SUCCESS')",
        "status IN ('INIT', 'SUCCESS')",
    ),
    Mutant(
        "001 §2.1 INIT can run",
        f"{CLAIM}/claim.sql",
        "status IN ('INIT', 'FAIL', 'SUCCESS')",
        "status IN ('FAIL', 'SUCCESS')",
    ),
    Mutant(
        "001 §2.1 retry_count < max_retry",
        f"{SETTLE}/mark_fail.sql",
        "t.attempt >= t.max_retry",
        "t.attempt > t.max_retry",
    ),
    Mutant(
        "001 §2.2 SKIP LOCKED, of what is in the due-time index",
        f"{CLAIM}/claim.sql",
        "ORDER BY entry_at, id\n            LIMIT w.rows\n            FOR NO KEY UPDATE SKIP LOCKED",
        "ORDER BY entry_at, id\n            LIMIT w.rows\n            FOR NO KEY UPDATE",
    ),
    Mutant(
        "001 §2.2 SKIP LOCKED, of what waits apart",
        f"{CLAIM}/claim.sql",
        "ORDER BY wait_at\n            LIMIT w.rows\n            FOR NO KEY UPDATE SKIP LOCKED",
        "ORDER BY wait_at\n            LIMIT w.rows\n            FOR NO KEY UPDATE",
    ),
    Mutant("001 §2.2 RUNNING", f"{CLAIM}/claim.sql", "SET status = 'RUNNING',", "SET"),
    Mutant("001 §2.3 threads", "articles_app/handlers.py", "concurrency=8,", "concurrency=1,"),
    Mutant("001 §2.3 5 s", "articles_app/conf.py", "READ_SECONDS: float = 5.0", "READ_SECONDS: float = 7.0"),
    Mutant(
        "001 §2.3 5 s reach the client",
        "articles_app/moderation.py",
        "httpx.Timeout(settings.READ_SECONDS, connect",
        "httpx.Timeout(None, connect",
    ),
    Mutant("001 §2.4 markSuccess", f"{SETTLE}/mark_success.sql", "SET status = 'SUCCESS',", "SET status = 'FAIL',"),
    Mutant("001 §2.4 error_msg", f"{SETTLE}/mark_success.sql", "error_code = '', error_msg = '',", "error_code = '',"),
    Mutant(
        "001 §2.4 retry_count is kept",
        f"{SETTLE}/mark_success.sql",
        "solo = FALSE, attempt = 0, error_code",
        "solo = FALSE, attempt = 0, retry_count = 0, error_code",
    ),
    Mutant(
        "001 §2.4 retry_count is counted",
        f"{SETTLE}/mark_fail.sql",
        "retry_count = t.retry_count + 1",
        "retry_count = 0",
    ),
    Mutant(
        "001 §2.4 unrecoverable",
        f"{SETTLE}/mark_fail.sql",
        "g.final OR CASE WHEN",
        "CASE WHEN",
    ),
    Mutant("001 §3.1 verdict", "articles_app/handlers.py", "if judged.verdict.approved:", "if True:"),
    Mutant(
        "001 §3.2 no audit of what waits for none",
        "articles_app/handlers.py",
        "    _skip_unless_pending(task, article)\n    verdict = ask(",
        "    verdict = ask(",
    ),
    Mutant(
        "001 §3.3 state machine",
        "articles_app/lifecycle/write.py",
        "AND locked.status = ANY (%(sources)s)\n",
        "\n",
    ),
    Mutant(
        "001 §3.3 what is published was approved",
        "articles_app/states.py",
        'Move("publish_now", ArticleStatus.AUDIT_SUCCESS,',
        'Move("publish_now", ArticleStatus.PENDING_AUDIT,',
    ),
    Mutant(
        "001 §4 stale RUNNING",
        f"{SETTLE}/reap.sql",
        "WHERE finished_at IS NULL AND lease_until <",
        "WHERE finished_at IS NULL AND lease_until >",
    ),
    Mutant("001 §4 retry cap", "articles_app/handlers.py", "max_retry=12,", "max_retry=13,"),
]
